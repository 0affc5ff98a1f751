#!/usr/bin/env bash
# keras.layers.TFSMLayer cannot call a signature with two inputs, although the signatures of a
# SavedModel take keyword arguments alone: a dict is passed on as one positional argument, keyword
# arguments miss "inputs", and the second of two positional arguments is taken for "training". Keras 3
# names TFSMLayer as the way to load a SavedModel. A subclass of two lines works:
#
#       def call(self, inputs, training=False, **kwargs):
#           return self.call_endpoint_fn(**inputs)
#
# Seen with keras 3.15.1 on tensorflow 2.21.0, Python 3.11, Linux, x86-64:
#
#   dict: TypeError
#   keywords: TypeError
#   positional: TypeError
#   subclass: [4.0, 6.0]
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check tensorflow==2.21.0 keras==3.15.1

cat > "$folder/program.py" << 'PYTHON'
import sys

import keras
import tensorflow as tf


class Subclass(keras.layers.TFSMLayer):
    def call(self, inputs, training=False, **kwargs):
        return self.call_endpoint_fn(**inputs)


path = sys.argv[1]
module = tf.Module()
spec = tf.TensorSpec([None], tf.float32)
function = tf.function(lambda a, b: {"sum": a + b})
tf.saved_model.save(module, path, signatures=function.get_concrete_function(a=spec, b=spec))
a, b = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
layer = keras.layers.TFSMLayer(path, call_endpoint="serving_default")
calls = {
    "dict": lambda: layer({"a": a, "b": b}),
    "keywords": lambda: layer(a=a, b=b),
    "positional": lambda: layer(a, b),
    "subclass": lambda: Subclass(path, call_endpoint="serving_default")({"a": a, "b": b}),
}
for name, call in calls.items():
    try:
        print(f"{name}:", call()["sum"].numpy().tolist())
    except Exception as error:
        print(f"{name}:", type(error).__name__)
PYTHON

export TF_CPP_MIN_LOG_LEVEL=3
diff <(sed -n 's/^#   \(dict\|keywords\|positional\|subclass\):/\1:/p' "$0") \
  <("$folder/venv/bin/python" "$folder/program.py" "$folder/model" 2> /dev/null)
echo "as described"
