"""What a command cannot do, said in one sentence."""

from __future__ import annotations

from pathlib import Path


class CommandError(Exception):
    """A command cannot be carried out; the message is one sentence that names the fix.

    Attributes:
        code: Exit code: 2 for wrong input, 1 for a fault.
    """

    def __init__(self, sentence: str, code: int = 2) -> None:
        """Says what is wrong.

        Args:
            sentence: Names the value and the fix.
            code: Exit code of the process.
        """
        super().__init__(sentence)
        self.code = code


def check_writable(option: str, path: Path | None) -> None:
    """Refuses a file that could not be written, before minutes of work are spent on it.

    Args:
        option: Which option named it.
        path: The file; None is fine.

    Raises:
        CommandError: Its folder is not there, or it is a folder itself.
    """
    if path is None:
        return
    if path.is_dir():
        raise CommandError(f"{option} {str(path)!r} is a folder; name a file.")
    if not path.parent.is_dir():
        raise CommandError(f"{option} {str(path)!r}: there is no folder {str(path.parent)!r}.")
