#!/usr/bin/env bash
# TensorFlow computes `logical_not(x < 1)` of NaN as True eagerly, and as False in a tf.function: its
# graph optimizer replaces the two operations by `x >= 1`, which differs for NaN. The converter of
# TensorFlow Lite does the same. Both also turn `logical_not(x > 1)` into `x <= 1`. A model that puts
# missing values into the last bucket by "not below a boundary" puts them into the first one in a
# graph and after its conversion, without an error or a warning. Use `is_nan` before the comparison.
#
# Seen with TensorFlow 2.21.0, ai-edge-litert 2.3.0, NumPy 2.1.3 and Python 3.11 on Linux, x86-64:
#
#   eager: not NaN < 1: True, not NaN > 1: True
#   tf.function: not NaN < 1: False, not NaN > 1: False
#   LiteRT: not NaN < 1: False, not NaN > 1: False
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    tensorflow-cpu==2.21.0 ai-edge-litert==2.3.0 numpy==2.1.3
export TF_CPP_MIN_LOG_LEVEL=3
"$folder/venv/bin/python" - > "$folder/found" 2> "$folder/log" <<'PYTHON' || { cat "$folder/log"; exit 1; }
import numpy as np
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter


def negate(x):
    return {"<": tf.logical_not(x < 1.0), ">": tf.logical_not(x > 1.0)}


nan = tf.constant([np.nan])
module = tf.Module()
module.negate = tf.function(negate, input_signature=[tf.TensorSpec([1], tf.float32, name="x")])
functions = [module.negate.get_concrete_function()]
model = tf.lite.TFLiteConverter.from_concrete_functions(functions, module).convert()
runner = Interpreter(model_content=model).get_signature_runner()
answers = {"eager": negate(nan), "tf.function": module.negate(nan), "LiteRT": runner(x=nan.numpy())}
for name, found in answers.items():
    shown = (f"not NaN {sign} 1: {bool(np.asarray(found[sign])[0])}" for sign in "<>")
    print(f"{name}:", ", ".join(shown))
PYTHON
diff <(sed -n 's/^#   \(eager\|tf.function\|LiteRT\):/\1:/p' "$0") "$folder/found"
echo "as described"
