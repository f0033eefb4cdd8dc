"""``python -m bmo.cli``."""

from bmo.cli.application import main

if __name__ == "__main__":
    main()
