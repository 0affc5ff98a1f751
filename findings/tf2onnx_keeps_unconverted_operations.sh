#!/usr/bin/env bash
# tf2onnx converts a graph with an operation that ONNX does not have without an error: from_graph_def
# returns a model in which the operation has its name of TensorFlow and no domain of its own. The
# only sign is a line in the log. onnx.checker refuses the model, and onnxruntime cannot load
# it, so a program that converts on one machine and serves on another learns of it there.
#
# Seen with tf2onnx 1.17.0, onnx 1.23.2 and tensorflow 2.21.0, Python 3.11, Linux, x86-64. The graph
# is tf.math.zeta of floats:
#
#   converted: ['Zeta']
#   checker: No Op registered for Zeta with domain_version of 18
#
# Check each converted model with onnx.checker.check_model before you deliver it.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  tf2onnx==1.17.0 onnx==1.23.2 tensorflow==2.21.0

cat > "$folder/program.py" << 'PYTHON'
import onnx
import tensorflow as tf
import tf2onnx

with tf.Graph().as_default() as graph:
    x = tf.compat.v1.placeholder(tf.float32, [None], "x")
    tf.identity(tf.math.zeta(x, x), name="y")
model, _ = tf2onnx.convert.from_graph_def(
    graph.as_graph_def(), input_names=["x:0"], output_names=["y:0"], opset=18
)
print("converted:", [node.op_type for node in model.graph.node])
try:
    onnx.checker.check_model(model)
except onnx.checker.ValidationError as error:
    print("checker:", str(error).splitlines()[0])
PYTHON

export TF_CPP_MIN_LOG_LEVEL=3
diff <(sed -n 's/^#   \(converted\|checker\)/\1/p' "$0") \
  <("$folder/venv/bin/python" "$folder/program.py" 2> "$folder/log")
grep -q "Tensorflow op .Zeta: Zeta. is not supported" "$folder/log"
echo "as described"
