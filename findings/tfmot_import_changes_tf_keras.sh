#!/usr/bin/env bash
# tensorflow-model-optimization 0.8.1 and tf_keras 2.21.0 with tensorflow 2.21.0, Python 3.11.
#
# The import of tensorflow_model_optimization sets TF_USE_LEGACY_KERAS and so decides what `tf.keras`
# is for the complete process: tf-keras, if nothing has used `tf.keras` before; otherwise `tf.keras`
# stays Keras 3, and the package refuses a Sequential with a message that says that it takes
# `keras.models.Sequential` and got a `Sequential`. The order of two imports decides.
#
# Output seen:
#   imported before tf.keras is used: tf_keras, PruneLowMagnitude
#   imported after: keras 3, ValueError: `prune_low_magnitude` can only prune an object of the following types: keras.models.Sequential, keras functional model, keras.layers.Layer, list of keras.layers.Layer. You passed an object of type: Sequential.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import sys

import tensorflow as tf

if sys.argv[1] == "before":
    import tensorflow_model_optimization as tfmot
layers = [tf.keras.layers.Input((2,)), tf.keras.layers.Dense(1)]
model = tf.keras.Sequential(layers)
import tensorflow_model_optimization as tfmot

name = "tf_keras" if type(model).__module__.startswith("tf_keras") else "keras 3"
try:
    result = type(tfmot.sparsity.keras.prune_low_magnitude(model).layers[0]).__name__
except ValueError as error:
    result = f"ValueError: {error}"
title = "imported before tf.keras is used" if sys.argv[1] == "before" else "imported after"
print(f"{title}: {name}, {result}")
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet \
  tensorflow==2.21.0 tf_keras==2.21.0 tensorflow-model-optimization==0.8.1
for order in before after; do
  TF_CPP_MIN_LOG_LEVEL=3 "$folder/venv/bin/python" "$folder/program.py" "$order" 2> /dev/null \
    | tee -a "$folder/output"
done
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
