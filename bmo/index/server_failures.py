"""What a Qdrant server's failures mean, as sentences that name the setting or the fix."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

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
