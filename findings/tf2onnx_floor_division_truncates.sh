#!/usr/bin/env bash
# tf2onnx converts `FloorDiv` and `FloorMod` of integers to ONNX's `Div`, which rounds towards zero:
# quotients of negative numbers are one too large, and remainders are negative. A model that puts
# ids or times into buckets by `x // n` or `x % n` answers other buckets for negative numbers, without
# an error. Of floats, a `Floor` follows the `Div`, and the answers are right.
#
# Seen with tf2onnx 1.17.0, onnx 1.23.2, onnxruntime 1.32.0 and tensorflow 2.21.0, Python 3.11, Linux,
# x86-64, for [-7, -4, 7] of int64:
#
#   TensorFlow:  x // 2 = [-4, -2, 3], x % 5 = [3, 1, 2]
#   onnxruntime: x // 2 = [-3, -2, 3], x % 5 = [-2, -4, 2]
#
# Add a multiple of n that makes x positive, or divide floats.
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

NUMBERS = np.array([-7, -4, 7], np.int64)


def answer(compute):
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.int64, [None], "x")
        tf.identity(compute(x), name="y")
    model, _ = tf2onnx.convert.from_graph_def(
        graph.as_graph_def(), input_names=["x:0"], output_names=["y:0"], opset=18
    )
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (found,) = session.run(None, {"x:0": NUMBERS})
    return compute(tf.constant(NUMBERS)).numpy().tolist(), found.tolist()


quotients, remainders = answer(lambda x: x // 2), answer(lambda x: x % 5)
for place, name in enumerate(("TensorFlow: ", "onnxruntime:")):
    print(name, f"x // 2 = {quotients[place]}, x % 5 = {remainders[place]}")
PYTHON

export TF_CPP_MIN_LOG_LEVEL=3
"$folder/venv/bin/python" "$folder/program.py" > "$folder/found" 2> "$folder/log" ||
  { cat "$folder/log"; exit 1; }
diff <(sed -n 's/^#   \(TensorFlow\|onnxruntime\):/\1:/p' "$0") "$folder/found"
echo "as described"
