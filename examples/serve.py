"""Serves a SavedModel over HTTP. It needs only TensorFlow, not estimator_train.

    python examples/serve.py runs/mine/export/best/1795377610 8501
    curl -d '{"inputs": [[0.1, 0.2]]}' http://127.0.0.1:8501/

The body of a request maps the names of the signature's inputs to values; for a single input it may
be only the value. The response maps the names of the outputs to values.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import tensorflow as tf

signature = tf.saved_model.load(sys.argv[1]).signatures["serving_default"]
inputs = signature.structured_input_signature[1]


class Handler(BaseHTTPRequestHandler):
    """Request handler that answers each POST with the outputs of the model."""

    def do_POST(self) -> None:
        """Answers a request; a request that the model rejects gets 400 and the reason."""
        try:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            values = body if isinstance(body, dict) else dict.fromkeys(inputs, body)
            tensors = {name: tf.constant(values[name], spec.dtype) for name, spec in inputs.items()}
            answer = {name: _to_list(value) for name, value in signature(**tensors).items()}
            self._send(200, answer)
        except (KeyError, TypeError, ValueError, tf.errors.OpError) as error:
            self._send(400, {"error": f"{type(error).__name__}: {error}"})

    def _send(self, status: int, answer: dict[str, object]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())


def _to_list(value: tf.Tensor) -> list[object]:
    """Converts a tensor to lists for JSON."""
    array = value.numpy()
    return (array.astype(str) if array.dtype == object else array).tolist()


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler)
print(f"serving at http://127.0.0.1:{server.server_port}/", flush=True)
server.serve_forever()
