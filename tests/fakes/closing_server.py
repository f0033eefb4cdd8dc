"""A server that closes every connection at once, and counts them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class ClosingServer:
    """Where it listens, and how often it was connected to."""

    url: str
    connections: int = 0


@contextmanager
def closing_server() -> Iterator[ClosingServer]:
    """Listens on a free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = ClosingServer(f"http://127.0.0.1:{listener.getsockname()[1]}")

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                server.connections += 1
                connection.close()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown(socket.SHUT_RDWR)
    thread.join()
