"""Serves a SavedModel over HTTP with TensorFlow alone: nothing here imports estimator_train.

    python examples/serve.py runs/mine/export/best/1795377610 8501
    curl -d '{"inputs": [[0.1, 0.2]]}' http://127.0.0.1:8501/

The body of a request names the inputs of the signature, or is the value of its only one; the answer
names its outputs.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import tensorflow as tf

signature = tf.saved_model.load(sys.argv[1]).signatures["serving_default"]
inputs = signature.structured_input_signature[1]


class Handler(BaseHTTPRequestHandler):
    """Answers each POST with the model's outputs."""

    def do_POST(self) -> None:
        """Answers one request; what the model refuses is 400 and the reason."""
        try:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            values = body if isinstance(body, dict) else dict.fromkeys(inputs, body)
            tensors = {name: tf.constant(values[name], spec.dtype) for name, spec in inputs.items()}
            answer = {name: _plain(value) for name, value in signature(**tensors).items()}
            self._send(200, answer)
        except (KeyError, TypeError, ValueError, tf.errors.OpError) as error:
            self._send(400, {"error": f"{type(error).__name__}: {error}"})

    def _send(self, status: int, answer: dict[str, object]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())


def _plain(value: tf.Tensor) -> list[object]:
    """A tensor as JSON can hold it."""
    array = value.numpy()
    return (array.astype(str) if array.dtype == object else array).tolist()


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler)
print(f"serving at http://127.0.0.1:{server.server_port}/", flush=True)
server.serve_forever()
