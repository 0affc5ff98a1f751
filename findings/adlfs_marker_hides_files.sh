#!/usr/bin/env bash
# adlfs 2026.8.0, fsspec 2026.9.0, azure-storage-blob 12.31.1 and Azurite 3.35.0, Python 3.11, Node 20.
#
# An empty blob "dir/" marks a directory for several programs, as on S3. With it, adlfs's `ls` of the
# directory returns only the marker, without its slash and as a file: the files of the directory
# disappear. `glob` and `find` still have them, and `rm(recursive=True)` leaves the marker. There is
# no warning: a program that lists its records finds none.
#
# Output seen:
#   without the marker: ls ['data/a', 'data/b'], glob ['data/a', 'data/b'], find ['data/a', 'data/b']
#   with the marker: ls ['data'], glob ['data/a', 'data/b'], find ['data/a', 'data/b']
#   blobs after rm(recursive=True): ['data/']
set -euo pipefail
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import sys
import time

import fsspec
from azure.storage.blob import BlobServiceClient

KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
text = (
    f"DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey={KEY};"
    f"BlobEndpoint=http://127.0.0.1:{sys.argv[1]}/devstoreaccount1;"
)
client = BlobServiceClient.from_connection_string(text, retry_total=0)
for attempt in range(300):
    try:
        box = client.create_container("box")
        break
    except Exception:
        time.sleep(0.2)
system = fsspec.filesystem("az", connection_string=text, use_listings_cache=False)


def strip(paths):
    return [path.removeprefix("box/") for path in sorted(paths)]


def show(name):
    found = strip(system.ls("box/data", detail=False)), strip(system.glob("box/data/*"))
    print(f"{name}: ls {found[0]}, glob {found[1]}, find {strip(system.find('box/data'))}")


for name in ("data/a", "data/b"):
    box.upload_blob(name, b"1")
show("without the marker")
box.upload_blob("data/", b"")
show("with the marker")
system.rm("box/data", recursive=True)
print("blobs after rm(recursive=True):", [blob.name for blob in box.list_blobs()])
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet \
  adlfs==2026.8.0 fsspec==2026.9.0 azure-storage-blob==12.31.1 aiohttp==3.14.5
npm install --silent --no-audit --no-fund --prefix "$folder/npm" azurite@3.35.0 > /dev/null
port=$("$folder/venv/bin/python" -c \
  'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
node "$folder/npm/node_modules/azurite/dist/src/blob/main.js" --silent --skipApiVersionCheck \
  --disableTelemetry --blobPort "$port" --location "$folder/blobs" > /dev/null &
server=$!
"$folder/venv/bin/python" "$folder/program.py" "$port" 2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
