"""``python -m bmo``: the same as the ``bmo`` command."""

from bmo.cli import main

if __name__ == "__main__":
    main()
