#!/usr/bin/env bash
# tf2onnx casts the inputs of `Greater`, `Less` and `TopKV2` of int64 to float32, which has 24 bits:
# above 16,777,216 neighbouring numbers become equal. A model that compares ids or times in seconds
# answers wrongly, without an error. ONNX has these operations for int64, and tf2onnx uses them for
# `GreaterEqual` and `Equal`.
#
# Seen with tf2onnx 1.17.0, onnx 1.23.2, onnxruntime 1.32.0 and tensorflow 2.21.0, Python 3.11, Linux,
# x86-64, for the numbers 16,777,216 and 16,777,217 of int64:
#
#   x > 16777216: [False, True] in TensorFlow, [False, False] in onnxruntime
#   x < 16777217: [True, False] in TensorFlow, [False, False] in onnxruntime
#   x >= 16777217: [False, True] in TensorFlow, [False, True] in onnxruntime
#   top_k(x, 1): [16777217] in TensorFlow, [16777216] in onnxruntime
#
# Compare with `>=` and `<=`, or compare the difference with zero.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  tf2onnx==1.17.0 onnx==1.23.2 onnxruntime==1.32.0 tensorflow==2.21.0

cat > "$folder/program.py" << 'PYTHON'
import numpy as np
import onnxruntime
import tensorflow as tf
import tf2onnx

NUMBERS = np.array([16_777_216, 16_777_217], np.int64)
FUNCTIONS = {
    "x > 16777216": lambda x: x > 16_777_216,
    "x < 16777217": lambda x: x < 16_777_217,
    "x >= 16777217": lambda x: x >= 16_777_217,
    "top_k(x, 1)": lambda x: tf.math.top_k(x, 1).values,
}


def compute(function):
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.int64, [None], "x")
        tf.identity(function(x), name="y")
    model, _ = tf2onnx.convert.from_graph_def(
        graph.as_graph_def(), input_names=["x:0"], output_names=["y:0"], opset=18
    )
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, {"x:0": NUMBERS})[0].tolist()


for name, function in FUNCTIONS.items():
    wanted = function(tf.constant(NUMBERS)).numpy().tolist()
    print(f"{name}: {wanted} in TensorFlow, {compute(function)} in onnxruntime")
PYTHON

export TF_CPP_MIN_LOG_LEVEL=3
"$folder/venv/bin/python" "$folder/program.py" > "$folder/found" 2> "$folder/log" ||
  { cat "$folder/log"; exit 1; }
diff <(sed -n 's/^#   \(x \|top_k\)/\1/p' "$0") "$folder/found"
echo "as described"
