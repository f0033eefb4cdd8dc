"""What a command cannot do, said in one sentence."""

from __future__ import annotations


class CommandError(Exception):
    """A command cannot be carried out; the message is one sentence that names the fix.

    Attributes:
        code: Exit code: 2 for wrong input, 1 for a fault.
    """

    def __init__(self, sentence: str, code: int = 2) -> None:
        """Says what is wrong."""
        super().__init__(sentence)
        self.code = code

    @classmethod
    def of(cls, error: Exception, code: int = 2) -> CommandError:
        """The same said by another error, on one line."""
        return cls(" ".join(str(error).split()).rstrip(".") + ".", code)
