"""What Qdrant Edge raises, as what the rest of the index understands.

It raises bare ``Exception`` for everything that goes wrong in it, and where it panics (files that
are damaged inside) a ``PanicException``, which is no ``Exception`` and would end a thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class EdgeFailed(OSError):
    """Qdrant Edge could not do it; the message is its first line."""


@contextmanager
def edge_failures() -> Iterator[None]:
    """Raises ``EdgeFailed`` for what Qdrant Edge raises; our own mistakes pass as they are."""
    try:
        yield
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        raise
    except Exception as error:  # see above
        if type(error) is not Exception:
            raise
        raise EdgeFailed(first_line(error)) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise EdgeFailed(f"Qdrant Edge panicked: {first_line(error)}") from error


def first_line(error: BaseException) -> str:
    """The first line of an error, or its name."""
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else repr(error)
