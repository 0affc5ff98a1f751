"""A proxy before a server of HTTP, which drops, delays or refuses requests as a test says."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import threading
import time
from collections.abc import Callable, Iterator

# Returns None for a request that passes, or the fault: "drop", "cut", "lose" (only the request
# passes), a status, S3's code with a status, or seconds to wait.
Fault = str | int | float | tuple[str, int] | None
Rule = Callable[[str, str], Fault]
_CODES = {403: "AccessDenied", 503: "ServiceUnavailable"}
_HOP = ("connection", "transfer-encoding", "keep-alive", "content-length")


class FaultyProxy:
    """A running proxy.

    Attributes:
      endpoint: Its address, host and port.
      rule: The fault of each request, by its method and path; a test may change it.
      requests: Method, path and time of each request, the oldest first.
    """

    def __init__(self, target: str) -> None:
        self.rule: Rule = lambda method, path: None
        self.requests: list[tuple[str, str, float]] = []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._make_handler(target))
        self.endpoint = f"127.0.0.1:{self.server.server_address[1]}"

    def _make_handler(self, target: str) -> type[http.server.BaseHTTPRequestHandler]:
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments: object) -> None:
                pass

            def do_any(self) -> None:
                body = self._read_body()
                proxy.requests.append((self.command, self.path, time.time()))
                fault = proxy.rule(self.command, self.path)
                if fault == "drop":
                    self.close_connection = True
                    return
                if isinstance(fault, int):
                    fault = _CODES.get(fault, "InternalError"), fault
                if isinstance(fault, tuple):
                    self._refuse(*fault)
                    return
                if isinstance(fault, float):
                    time.sleep(fault)
                connection = http.client.HTTPConnection(target, timeout=60)
                connection.request(self.command, self.path, body, dict(self.headers))
                answer = connection.getresponse()
                content = answer.read()
                connection.close()
                if fault == "lose":
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in _HOP:
                        self.send_header(name, value)
                length = answer.getheader("Content-Length") if self.command == "HEAD" else None
                self.send_header("Content-Length", length or str(len(content)))
                self.end_headers()
                if fault == "cut":
                    self.wfile.write(content[: len(content) // 2])
                    self.close_connection = True
                elif self.command != "HEAD":
                    self.wfile.write(content)

            def _read_body(self) -> bytes:
                if self.headers.get("Expect", "").lower() == "100-continue":
                    pass  # BaseHTTPRequestHandler has answered it.
                if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                    parts = []
                    while size := int(self.rfile.readline().split(b";")[0], 16):
                        parts.append(self.rfile.read(size))
                        self.rfile.readline()
                    self.rfile.readline()
                    return b"".join(parts)
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))

            def _refuse(self, code: str, status: int) -> None:
                content = f"<Error><Code>{code}</Code><Message>refused</Message></Error>".encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/xml")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do_any

        return Handler


@contextlib.contextmanager
def serve_with_faults(target: str) -> Iterator[FaultyProxy]:
    """Starts a proxy on loopback, yields it, and ends it.

    Args:
      target: Host and port of the server.
    """
    proxy = FaultyProxy(target)
    proxy.server.daemon_threads = True
    thread = threading.Thread(target=proxy.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.server.shutdown()
        proxy.server.server_close()
        thread.join()
