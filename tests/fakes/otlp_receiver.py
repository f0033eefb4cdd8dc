"""An OTLP receiver for tests: takes traces over HTTP as Langfuse or a collector does."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

PATH = "/api/public/otel/v1/traces"
"""Where Langfuse takes them."""


class OtlpReceiver:
    """Keeps what it was sent."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.authorization: set[str | None] = set()
        self.url = ""

    def names(self) -> set[str]:
        """Names of all spans."""
        return {span.name for span in self.spans}


@contextmanager
def otlp_receiver() -> Iterator[OtlpReceiver]:
    """Listens on a free port of this machine; ``url`` is what OTEL_EXPORTER_OTLP_ENDPOINT gets."""
    receiver = OtlpReceiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            status = 404
            if self.path == PATH:
                status = 200
                receiver.authorization.add(self.headers.get("Authorization"))
                for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                    for scope in resource.scope_spans:
                        receiver.spans.extend(scope.spans)
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(status)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            """Tests read ``spans`` instead."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}/api/public/otel"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
