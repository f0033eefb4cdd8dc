"""What can be wrong with the index or its server; each message is one sentence with the fix."""

from __future__ import annotations

import re
from http import HTTPStatus
from pathlib import Path
from typing import Final


class IndexUnavailable(RuntimeError):
    """The index cannot be reached or opened now; the ledger keeps what it has to learn."""


class IndexLost(IndexUnavailable):
    """The server answers and has no such collection any more: its storage is another one."""


class IndexDamaged(IndexUnavailable):
    """The embedded store's files cannot be read; the ledger can make them anew.

    Attributes:
        directory: Where they are.
    """

    def __init__(self, sentence: str, directory: Path) -> None:
        """Says what is wrong.

        Args:
            sentence: Names the directory and the fix.
            directory: The store's own directory.
        """
        super().__init__(sentence)
        self.directory = directory


class InferenceFailed(RuntimeError):
    """Mem0's extraction gave no usable answer for a turn; the turn waits in the outbox."""


class IndexOfAnother(IndexUnavailable):
    """The index is the copy of another ledger; it is neither read nor changed."""


class StoreInUse(IndexUnavailable):
    """Another process owns the embedded store."""


START = "start it, correct QDRANT_URL, or unset it to use the store in BMO_HOME."

_MEANT: Final = (
    (r"401|403|nauthorized|orbidden", "refuses the key", "set QDRANT_API_KEY to the server's key."),
    (
        r"CERTIFICATE_VERIFY_FAILED",
        "has a certificate that this machine does not trust",
        "set QDRANT_CA_FILE to the file of the authority that signed it (of a self-signed one: "
        "to the certificate itself).",
    ),
    (
        r"WRONG_VERSION_NUMBER|RECORD_LAYER_FAILURE|UNEXPECTED_EOF|wrong version number",
        "does not speak https",
        "write http:// in QDRANT_URL, or give the server a certificate.",
    ),
)
"""What a failure's words say, what that means, and what to do about it."""


def has_lost(error: Exception) -> bool:
    """Whether a server says that it has no such collection."""
    return getattr(error, "status_code", None) == HTTPStatus.NOT_FOUND


def meaning_of(error: Exception, unknown: str = START) -> tuple[str, str]:
    """What is wrong with a server ("refuses the key (...)"), and the fix.

    Args:
        error: What qdrant-client raised.
        unknown: The fix when it does not answer at all.
    """
    said = str(error).strip() or repr(error)
    reason = said.splitlines()[0][:120]
    for words, wrong, fix in _MEANT:
        if re.search(words, said):
            return f"{wrong} ({reason})", fix
    return f"does not answer ({reason})", unknown


def first_line(error: BaseException) -> str:
    """The first line of an error, or its name."""
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else repr(error)
