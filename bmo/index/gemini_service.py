"""What a request to Gemini may raise, for every room that makes one."""

from __future__ import annotations

import importlib


def gemini_service_errors() -> tuple[type[Exception], ...]:
    """Errors of the service and of the way there.

    google-genai runs on httpx or on its fork httpx2, whichever is installed.
    """
    from google.genai import errors

    found: list[type[Exception]] = [errors.APIError, OSError]
    for transport in ("httpx", "httpx2"):
        try:
            found.append(importlib.import_module(transport).HTTPError)
        except ImportError:
            continue
    return tuple(found)
