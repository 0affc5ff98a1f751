#!/usr/bin/env bash
# A dense or convolution layer with a bias and relu computes NaN from NaN eagerly and with XLA, and 0
# in a tf.function or a session: TensorFlow's graph optimizer fuses the three operations, and the
# fused one of oneDNN takes the maximum of NaN and 0 for 0. Without oneDNN (TF_ENABLE_ONEDNN_OPTS=0)
# the fused operations keep NaN. So a training whose input or weights are NaN may have a finite loss,
# which no check for NaN notices, and an exported model answers with numbers. oneDNN is on by default
# on newer x86-64 processors. Use `tf.debugging.check_numerics` before the layer.
#
# Seen with TensorFlow 2.21.0, NumPy 2.1.3 and Python 3.11 on Linux, x86-64:
#
#   oneDNN dense: eager nan, tf.function 0.0, XLA nan
#   oneDNN convolution: eager nan, tf.function 0.0, XLA nan
#   without dense: eager nan, tf.function nan, XLA nan
#   without convolution: eager nan, tf.function nan, XLA nan
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    tensorflow-cpu==2.21.0 numpy==2.1.3
export TF_CPP_MIN_LOG_LEVEL=3
cat > "$folder/layers.py" <<'PYTHON'
import sys

import numpy as np
import tensorflow as tf

weights, kernel = tf.ones([4, 3]), tf.ones([3, 3, 1, 3])


def dense(x):
    return tf.nn.relu(tf.nn.bias_add(tf.matmul(x, weights), tf.ones([3])))


def convolution(x):
    return tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, kernel, 1, "SAME"), tf.ones([3])))


for layer, shape in ((dense, [2, 4]), (convolution, [2, 5, 5, 1])):
    x = tf.fill(shape, np.nan)
    ways = {"eager": layer, "tf.function": tf.function(layer)}
    ways["XLA"] = tf.function(layer, jit_compile=True)
    answers = {way: np.unique(call(x)) for way, call in ways.items()}
    assert all(len(found) == 1 for found in answers.values())
    shown = ", ".join(f"{way} {found[0]}" for way, found in answers.items())
    print(sys.argv[1], f"{layer.__name__}: {shown}")
PYTHON
{
    TF_ENABLE_ONEDNN_OPTS=1 "$folder/venv/bin/python" "$folder/layers.py" oneDNN
    TF_ENABLE_ONEDNN_OPTS=0 "$folder/venv/bin/python" "$folder/layers.py" without
} > "$folder/found" 2> "$folder/log" || { cat "$folder/log"; exit 1; }
diff <(sed -n 's/^#   \(oneDNN\|without\) /\1 /p' "$0") "$folder/found"
echo "as described"
