#!/usr/bin/env bash
# botocore 1.43.117, boto3 1.43.117: a bucket whose region the answer does not name is reported as a
# failure of the HTTP client.
#
# A store may answer status 301 (PermanentRedirect) without the header x-amz-bucket-region. botocore
# then asks for the region by HeadBucket; if that is answered in the same way, its handler of
# redirections calls itself until Python's stack is full. About 80 requests later the caller gets
# RecursionError, or HTTPClientError("... maximum recursion depth exceeded ..."), a class that programs
# retry, instead of ClientError with the code PermanentRedirect and the status 301.
#
# Output:
#   maximum recursion depth exceeded: True
#   more than 40 requests of one call: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check boto3==1.43.117 botocore==1.43.117
cat > "$folder/program.py" <<'PROGRAM'
import http.server
import threading

import boto3
import botocore.exceptions

BODY = b"<Error><Code>PermanentRedirect</Code><Message>another endpoint</Message></Error>"
requests = []


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_GET(self):
        requests.append(self.command)
        self.send_response(301)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(BODY)

    do_HEAD = do_GET


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = boto3.client(
    "s3",
    endpoint_url=f"http://127.0.0.1:{server.server_port}",
    region_name="us-east-1",
    aws_access_key_id="key",
    aws_secret_access_key="secret",
)
try:
    client.list_objects_v2(Bucket="bucket")
except (RecursionError, botocore.exceptions.HTTPClientError) as error:
    print("maximum recursion depth exceeded:", "maximum recursion depth" in str(error))
print("more than 40 requests of one call:", len(requests) > 40)
PROGRAM
result=$("$folder/env/bin/python" "$folder/program.py")
echo "$result"
[ "$result" = "maximum recursion depth exceeded: True
more than 40 requests of one call: True" ]
