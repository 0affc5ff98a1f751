#!/usr/bin/env bash
# tensorflow 2.21.0, tf_keras 2.21.0 and keras 3.15.1, Python 3.11. TensorFlow 1.15 and 2.15 have the
# same functions.
#
# The gradient of an embedding whose batch has an id twice is an IndexedSlices that has the row twice.
# `tf.linalg.global_norm`, `tf.clip_by_norm` and `tf.clip_by_value` take the rows for rows of different
# ids: the norm is too small (or too large, if the rows have different signs), and the gradient that
# was clipped is above the limit. The arguments `clipnorm`, `global_clipnorm` and `clipvalue` of
# tf-keras and Keras 3 do the same.
#
# Output seen (two rows of 3.0 for one id, so that the gradient is 6.0; limit 1.0):
#   global_norm: IndexedSlices 4.2426, dense 6.0
#   clip_by_global_norm: IndexedSlices 1.4142, dense 1.0
#   clip_by_norm: IndexedSlices 1.4142, dense 1.0
#   clip_by_value: IndexedSlices 2.0, dense 1.0
#   tf_keras clipnorm: IndexedSlices 1.4142, dense 1.0
#   tf_keras global_clipnorm: IndexedSlices 1.4142, dense 1.0
#   tf_keras clipvalue: IndexedSlices 2.0, dense 1.0
#   keras clipnorm: IndexedSlices 1.4142, dense 1.0
#   keras global_clipnorm: IndexedSlices 1.4142, dense 1.0
#   keras clipvalue: IndexedSlices 2.0, dense 1.0
#
# Sum the rows before: tf.math.unsorted_segment_sum over the indices of tf.unique(slices.indices).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import keras
import numpy as np
import tensorflow as tf
import tf_keras

slices = tf.IndexedSlices(tf.constant([[3.0], [3.0]]), tf.constant([1, 1]), tf.constant([4, 1]))
gradients = {"IndexedSlices": slices, "dense": tf.convert_to_tensor(slices)}


def show(name, measure):
    print(f"{name}:", ", ".join(f"{k} {round(float(measure(g)), 4)}" for k, g in gradients.items()))


def add_up(gradient):
    return tf.reduce_sum(tf.convert_to_tensor(gradient))


def train(optimizer, variable, gradient):
    optimizer.apply_gradients([(gradient, variable)])
    return -np.array(variable).sum()


show("global_norm", lambda g: tf.linalg.global_norm([g]))
show("clip_by_global_norm", lambda g: add_up(tf.clip_by_global_norm([g], 1.0)[0][0]))
show("clip_by_norm", lambda g: add_up(tf.clip_by_norm(g, 1.0)))
show("clip_by_value", lambda g: add_up(tf.clip_by_value(g, -1.0, 1.0)))
zeros = np.zeros((4, 1), "float32")
for name, library, make in (("tf_keras", tf_keras, tf.Variable), ("keras", keras, keras.Variable)):
    for option in ("clipnorm", "global_clipnorm", "clipvalue"):
        show(
            f"{name} {option}",
            lambda g: train(library.optimizers.SGD(1.0, **{option: 1.0}), make(zeros), g),
        )
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet \
  tensorflow==2.21.0 tf_keras==2.21.0 keras==3.15.1 numpy==2.4.6
TF_CPP_MIN_LOG_LEVEL=3 KERAS_BACKEND=tensorflow "$folder/venv/bin/python" "$folder/program.py" \
  2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
