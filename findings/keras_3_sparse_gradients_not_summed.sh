#!/usr/bin/env bash
# keras 3.15.1 and tf_keras 2.21.0 on tensorflow 2.21.0, Python 3.11.
#
# If an id occurs several times in a batch, the gradient of an embedding is an IndexedSlices that has
# its row several times; the rows' sum is the gradient. tf-keras and TensorFlow's own optimizers add
# the rows up first. The optimizers of Keras 3 square the rows one by one instead of their sum, so that
# the states of Adam, Adagrad and RMSprop are too small for frequent ids, and their steps too long: the
# weights differ from those of the same model that looks its rows up with a matrix product. SGD, which
# squares nothing, gives the same result.
#
# Output seen (one step with learning rate 0.1 from weights 1.0 with ids [1, 1, 2]; rows 1 and 2):
#   keras Adam: Embedding 0.8586 0.9000, matrix product 0.9000 0.9000
#   keras Adagrad: Embedding 0.8620 0.9047, matrix product 0.9012 0.9047
#   keras RMSprop: Embedding 0.5528 0.6838, matrix product 0.6838 0.6838
#   keras SGD: Embedding 0.8000 0.9000, matrix product 0.8000 0.9000
#   tf_keras Adam: Embedding 0.9000 0.9000, matrix product 0.9000 0.9000
#   tf_keras Adagrad: Embedding 0.9012 0.9047, matrix product 0.9012 0.9047
#   tf_keras RMSprop: Embedding 0.6838 0.6838, matrix product 0.6838 0.6838
#   tf_keras SGD: Embedding 0.8000 0.9000, matrix product 0.8000 0.9000
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import importlib

import numpy as np
import tensorflow as tf

IDS = np.array([[1, 1, 2]])


def train(keras, optimizer, as_matrix):
    if as_matrix:
        rows = np.eye(4, dtype="float32")[IDS]
        first = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
        inputs = keras.Input((3, 4))
    else:
        rows, inputs = IDS, keras.Input((3,), dtype="int32")
        first = keras.layers.Embedding(4, 1, embeddings_initializer="ones")
    model = keras.Model(inputs, first(inputs))
    # The derivative of the loss by each of the three looked-up values is 1.
    model.compile(
        getattr(keras.optimizers, optimizer)(0.1), lambda y, x: tf.reduce_sum(x[..., 0], axis=1)
    )
    model.fit(rows, np.zeros((1, 3, 1), "float32"), verbose=0)
    return " ".join(f"{weight:.4f}" for weight in np.array(model.weights[0])[1:3, 0])


for name in ("keras", "tf_keras"):
    keras = importlib.import_module(name)
    for optimizer in ("Adam", "Adagrad", "RMSprop", "SGD"):
        seen = [train(keras, optimizer, as_matrix) for as_matrix in (False, True)]
        print(f"{name} {optimizer}: Embedding {seen[0]}, matrix product {seen[1]}")
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet \
  tensorflow==2.21.0 tf_keras==2.21.0 keras==3.15.1 numpy==2.4.6
TF_CPP_MIN_LOG_LEVEL=3 KERAS_BACKEND=tensorflow "$folder/venv/bin/python" "$folder/program.py" \
  2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
