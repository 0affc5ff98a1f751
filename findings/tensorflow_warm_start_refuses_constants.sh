#!/usr/bin/env bash
# tensorflow 2.21.0, Python 3.11 (2.15.1 does the same).
#
# `VocabInfo(backup_initializer=...)` names the initial values of words that the old vocabulary does
# not have. TensorFlow calls the initializer with a shape that is known only in the session. A
# constant_initializer, of tf or of tf.compat.v1, cannot take such a shape: the warm start raises
# NotImplementedError about a symbolic tensor, which names neither the initializer nor the variable.
# zeros_initializer, ones_initializer and random initializers work.
#
# Output seen (old words a, b with the values 1 and 2; new words b, x; the backup value is 7):
#   zeros_initializer: [2.0, 0.0]
#   ones_initializer: [2.0, 1.0]
#   constant_initializer: NotImplementedError: Cannot convert a symbolic tf.Tensor
#   a function with tf.fill: [2.0, 7.0]
#
# Give a function instead: `lambda shape: tf.fill(shape, value)`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import os
import sys

import tensorflow as tf

v1 = tf.compat.v1
os.chdir(sys.argv[1])
with open("old", "w") as file:
    file.write("a\nb\n")
with open("new", "w") as file:
    file.write("b\nx\n")
with tf.Graph().as_default(), v1.Session() as session:
    v1.get_variable("w", initializer=[[1.0], [2.0]])
    session.run(v1.global_variables_initializer())
    path = v1.train.Saver().save(session, "./model.ckpt")


def fill(shape):
    return tf.fill(shape, 7.0)


for name, initializer in (
    ("zeros_initializer", v1.zeros_initializer()),
    ("ones_initializer", v1.ones_initializer()),
    ("constant_initializer", v1.constant_initializer(7.0)),
    ("a function with tf.fill", fill),
):
    info = v1.train.VocabInfo("new", 2, 0, "old", 2, initializer)
    with tf.Graph().as_default(), v1.Session() as session:
        weight = v1.get_variable("w", [2, 1])
        try:
            v1.train.warm_start(path, "w", var_name_to_vocab_info={"w": info})
            session.run(v1.global_variables_initializer())
            print(f"{name}: {session.run(weight)[:, 0].tolist()}")
        except NotImplementedError as error:
            print(f"{name}: NotImplementedError: {str(error).split(' (')[0]}")
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorflow==2.21.0
TF_CPP_MIN_LOG_LEVEL=3 "$folder/venv/bin/python" "$folder/program.py" "$folder" 2> /dev/null |
  tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
