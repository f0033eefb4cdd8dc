"""How long a service asks to be left alone."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def seconds_of(header: str | None) -> float | None:
    """Reads a Retry-After header: seconds, or an HTTP date (RFC 9110, 10.2.3).

    Returns:
        Seconds from now, at least 0; None for no header or one that cannot be read.
    """
    if not header:
        return None
    said = header.strip()
    if said.isascii() and said.isdigit():  # "²" is a digit to str.isdigit, and no number
        return float(said)
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
