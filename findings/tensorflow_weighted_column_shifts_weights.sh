#!/usr/bin/env bash
# tensorflow 2.21.0, tf-keras 2.21.0: weights of a weighted_categorical_column move to other values.
#
# The column drops the missing values of dense features ("" and -1), and the weights that are 0, each
# without a look at the other. The lookup of an embedding pairs what is left in its order. If one
# example has a weight for a missing value, and another a weight of 0, both lists have one length,
# and weights go to values of other places and other examples, without an error. Only lists of
# different lengths are an error ("Incompatible shapes").
#
# Below, an "a" counts 1 and a "b" counts 10, times the weight. Row 2 gets the weight 7 of the missing
# value of row 1 for its "a", which has the weight 0: 7*1 + 3*10. In the second case, it has a weight of
# 1e-9, and the missing value has none.
#
# Output:
#   weight of "" 7, of "a" 0:    [[1.0], [37.0]]
#   weight of "" 0, of "a" 1e-9: [[1.0], [30.0]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check tensorflow-cpu==2.21.0 tf-keras==2.21.0
cat > "$folder/program.py" <<'PROGRAM'
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

column = tf.feature_column
WORD = column.categorical_column_with_vocabulary_list("word", ["a", "b"])


def compute(missing, first):
    weighted = column.weighted_categorical_column(WORD, "weight")
    initializer = tf.keras.initializers.Constant([[1.0], [10.0]])
    embedding = column.embedding_column(weighted, 1, combiner="sum", initializer=initializer)
    words = tf.constant([["a", ""], ["a", "b"]])
    weights = tf.constant([[1.0, missing], [first, 3.0]])
    return tf.keras.layers.DenseFeatures([embedding])({"word": words, "weight": weights})


print('weight of "" 7, of "a" 0:   ', compute(7.0, 0.0).numpy().tolist())
print('weight of "" 0, of "a" 1e-9:', compute(0.0, 1e-9).numpy().tolist())
PROGRAM
result=$("$folder/env/bin/python" "$folder/program.py" 2>"$folder/log")
echo "$result"
[ "$result" = 'weight of "" 7, of "a" 0:    [[1.0], [37.0]]
weight of "" 0, of "a" 1e-9: [[1.0], [30.0]]' ]
