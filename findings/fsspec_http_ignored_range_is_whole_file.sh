#!/usr/bin/env bash
# fsspec 2026.9.0 and aiohttp 3.14.5, Python 3.11.
#
# An HTTP server may ignore a Range header and send the whole file with status 200, as Python's own
# http.server does. fsspec's `cat_file(url, start, end)` returns that answer as if it were the range:
# the bytes of another place, and more than were asked for. There is no warning. A file that fsspec
# opens raises an error for the same range. A reader of blocks, such as one below TensorFlow's
# records, gets wrong data.
#
# Output seen (the file has the bytes 0123456789):
#   cat_file(4, 7): b'0123456789'
#   cat_ranges of (4, 7): b'0123456789'
#   open, seek(4), read(3): ValueError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import functools
import http.server
import os
import sys
import tempfile
import threading

import fsspec


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


folder = tempfile.mkdtemp(dir=sys.argv[1])
with open(os.path.join(folder, "digits"), "w") as file:
    file.write("0123456789")
server = http.server.ThreadingHTTPServer(
    ("127.0.0.1", 0), functools.partial(Quiet, directory=folder)
)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_address[1]}/digits"
system = fsspec.filesystem("http")
print("cat_file(4, 7):", system.cat_file(url, start=4, end=7))
print("cat_ranges of (4, 7):", system.cat_ranges([url], [4], [7])[0])
try:
    with system.open(url, "rb", block_size=3, cache_type="none") as file:
        file.seek(4)
        print("open, seek(4), read(3):", file.read(3))
except Exception as error:
    print("open, seek(4), read(3):", type(error).__name__)
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet fsspec==2026.9.0 aiohttp==3.14.5
"$folder/venv/bin/python" "$folder/program.py" "$folder" 2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
