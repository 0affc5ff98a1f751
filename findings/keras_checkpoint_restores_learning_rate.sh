#!/usr/bin/env bash
# tf_keras 2.21.0 and keras 3.15.1 on tensorflow 2.21.0, Python 3.11.
#
# The learning rate of a Keras optimizer is one of its variables, and a tf.train.Checkpoint restores
# it over the argument of the program: a job that is continued with a smaller rate goes on with the
# old one, without a message, and its own argument has no effect. Weight decay, momentum and clipping,
# and a learning rate schedule, are those of the program.
#
# Output seen (saved with 0.1, continued with 0.001; gradient 1, so that the step shows the rate):
#   tf_keras.SGD: rate 0.1, step 0.1
#   tf_keras.legacy.SGD: rate 0.1, step 0.1
#   keras.SGD: rate 0.1, step 0.1
#
# Assign the rate after the restoration: `optimizer.learning_rate = 0.001`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import sys

import keras
import tensorflow as tf
import tf_keras

for name, library, make in (
    ("tf_keras", tf_keras.optimizers, tf.Variable),
    ("tf_keras.legacy", tf_keras.optimizers.legacy, tf.Variable),
    ("keras", keras.optimizers, keras.Variable),
):
    paths = []
    for rate in (0.1, 0.001):
        weight, optimizer = make(0.0), library.SGD(rate)
        checkpoint = tf.train.Checkpoint(weight=weight, optimizer=optimizer)
        if paths:
            checkpoint.restore(paths[0])
        before = float(weight)
        optimizer.apply_gradients([(tf.constant(1.0), weight)])
        paths.append(checkpoint.save(f"{sys.argv[1]}/{name}"))
    step = round(before - float(weight), 4)
    print(f"{name}.SGD: rate {round(float(optimizer.learning_rate), 4)}, step {step}")
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorflow==2.21.0 tf_keras==2.21.0 keras==3.15.1
TF_CPP_MIN_LOG_LEVEL=3 KERAS_BACKEND=tensorflow "$folder/venv/bin/python" "$folder/program.py" \
  "$folder" 2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
