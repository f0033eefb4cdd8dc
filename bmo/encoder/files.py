"""Model files on disk: where they are, and that they are what their manifest says."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

MODEL = Path(__file__).parent / "model"
"""Folder of the encoder that is shipped in the package."""


class ModelFileError(RuntimeError):
    """A model's file is missing, damaged or cannot be run; the message names file and fix."""


def read_manifest(folder: Path) -> dict[str, Any]:
    """Reads ``model.json``, which says what a model's folder holds.

    Args:
        folder: The model's folder.

    Returns:
        The manifest; at least ``name``, ``file`` and ``sha256``.

    Raises:
        ModelFileError: It is missing or is not such a manifest.
    """
    path = folder / "model.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelFileError(
            f"{str(path)!r} is missing: reinstall the package, or make the model again "
            "(see training/README.md)."
        ) from None
    except (OSError, ValueError) as error:
        raise ModelFileError(f"{str(path)!r} cannot be read ({error}): reinstall it.") from error
    if not isinstance(manifest, dict) or not {"name", "file", "sha256"} <= manifest.keys():
        raise ModelFileError(
            f"{str(path)!r} is no model manifest (name, file, sha256): reinstall the package."
        )
    return manifest


def checked_bytes(path: Path, sha256: str) -> bytes:
    """Reads a file and compares its SHA-256.

    Args:
        path: The file.
        sha256: Expected digest, hexadecimal.

    Returns:
        The file's content.

    Raises:
        ModelFileError: It is missing, unreadable or another file than expected.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ModelFileError(
            f"{str(path)!r} is missing: reinstall the package, or make the model again "
            "(see training/README.md)."
        ) from None
    except OSError as error:
        raise ModelFileError(f"{str(path)!r} cannot be read ({error}).") from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ModelFileError(
            f"{str(path)!r} is damaged or another version (sha256 {found[:12]}..., expected "
            f"{sha256[:12]}...): reinstall the package, or make the model again "
            "(see training/README.md)."
        )
    return content
