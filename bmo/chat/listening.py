"""The person's lines: a prompt with history and editing on a terminal, plain lines from a pipe.

History stays in memory: what is typed may hold a secret, and secrets are written nowhere.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
import threading
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, BinaryIO, TextIO

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

_TERMINAL_CODE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
"""Colours and cursor moves (ECMA-48 control sequences): what a pipe carries, not what is said."""

CHUNK = 65536
"""Bytes read from a pipe at a time."""


def lines_of(stdin: TextIO) -> AsyncIterator[str]:
    """Lines of a terminal or a pipe, without line ends.

    Args:
        stdin: Where they come from.
    """
    return _prompted() if stdin.isatty() else _piped(stdin)


async def _prompted() -> AsyncIterator[str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.formatted_text import HTML
    from prompt_toolkit.history import InMemoryHistory

    prompt: PromptSession[str] = PromptSession(history=InMemoryHistory())
    while True:
        try:
            yield await prompt.prompt_async(HTML("<ansicyan><b>you&gt; </b></ansicyan>"))
        except (EOFError, KeyboardInterrupt):
            return


async def _piped(stdin: TextIO) -> AsyncIterator[str]:
    """Reads in a daemon thread, so that a pipe that stays open never holds up leaving."""
    queue: asyncio.Queue[bytes | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    threading.Thread(target=_pump, args=(stdin, queue, loop), daemon=True).start()
    rest = b""
    while (chunk := await queue.get()) is not None:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield _decoded(line)
    if rest:
        yield _decoded(rest)


def _pump(
    stdin: TextIO, queue: asyncio.Queue[bytes | None], loop: asyncio.AbstractEventLoop
) -> None:
    chunk: bytes | None = b""
    while chunk is not None:
        chunk = _read(stdin) or None
        try:
            loop.call_soon_threadsafe(queue.put_nowait, chunk)
        except RuntimeError:
            # The loop is closed: the conversation has ended.
            return


def _read(stdin: TextIO) -> bytes:
    """The next bytes; straight from the descriptor, whose buffer has no lock to hang on."""
    try:
        return os.read(stdin.fileno(), CHUNK)
    except (io.UnsupportedOperation, OSError, ValueError):
        pass
    buffer: BinaryIO | None = getattr(stdin, "buffer", None)
    if buffer is not None:
        return buffer.read(CHUNK)
    return stdin.read(CHUNK).encode("utf-8", "surrogatepass")


def _decoded(line: bytes) -> str:
    return _TERMINAL_CODE.sub("", line.rstrip(b"\r").decode("utf-8", "replace"))
