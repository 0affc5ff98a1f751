"""A server of the reading half of S3's protocol: `python -m benchmarks.range_server FOLDER DELAY`.

It answers HEAD, and GET with and without a range, for paths /BUCKET/NAME of the files of a folder,
and sends by `sendfile`: it costs less processor time than its clients. It prints its port.
"""

import email.utils
import http.server
import os
import re
import socket
import sys
import time
from pathlib import Path


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder = Path()
    delay_secs = 0.0

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, *arguments: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(has_body=False)

    def do_GET(self) -> None:
        self._answer(has_body=True)

    def _answer(self, has_body: bool) -> None:
        time.sleep(self.delay_secs)
        path = self.folder / self.path.partition("?")[0].rpartition("/")[2]
        if not path.is_file():
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        size = path.stat().st_size
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        first, last = (int(match[1]), int(match[2] or size - 1)) if match else (0, size - 1)
        count = min(last, size - 1) - first + 1
        self.send_response(206 if match else 200)
        if match:
            self.send_header("Content-Range", f"bytes {first}-{first + count - 1}/{size}")
        self.send_header("Content-Length", str(count))
        self.send_header("ETag", f'"{path.name}"')
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Last-Modified", email.utils.formatdate(0, usegmt=True))
        self.end_headers()
        self.wfile.flush()
        if has_body:
            self._send_file(path, first, count)

    def _send_file(self, path: Path, offset: int, count: int) -> None:
        with path.open("rb") as file:
            while count > 0:
                sent = os.sendfile(self.connection.fileno(), file.fileno(), offset, count)
                offset, count = offset + sent, count - sent


def main() -> None:
    """Serves until the process ends."""
    _Handler.folder, _Handler.delay_secs = Path(sys.argv[1]), float(sys.argv[2])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
