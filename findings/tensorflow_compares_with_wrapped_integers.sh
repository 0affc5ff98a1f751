#!/usr/bin/env bash
# tensorflow 2.21.0 and numpy 2.4.6, Python 3.11.
#
# A comparison of an int32 tensor with a Python integer of more than 32 bits gives a wrong answer,
# without a message: TensorFlow first makes the integer an int32, and 2**32 becomes 0. This is so in
# eager code, in graphs and in functions of tf.data, where a filter then loses all rows. NumPy compares
# the numbers.
#
# Output seen:
#   3 < 2**32: eager False, graph False, NumPy True
#   3 == 2**32 + 3: eager True, graph True, NumPy False
#   3 + 2**32: eager 3, graph 3, NumPy OverflowError
#   rows of 0, 1, 2 that are < 2**32: tf.data [], NumPy [0, 1, 2]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import numpy as np
import tensorflow as tf


def run_in_graph(function):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        return session.run(function(tf.compat.v1.placeholder_with_default(np.int32(3), [])))


def run_in_numpy(function):
    try:
        return function(np.int32(3))
    except OverflowError as error:
        return type(error).__name__


questions = {
    "3 < 2**32": lambda number: number < 2**32,
    "3 == 2**32 + 3": lambda number: tf.equal(number, 2**32 + 3)
    if tf.is_tensor(number)
    else number == 2**32 + 3,
    "3 + 2**32": lambda number: number + 2**32,
}
for name, ask in questions.items():
    eager = ask(tf.constant(3)).numpy()
    print(f"{name}: eager {eager}, graph {run_in_graph(ask)}, NumPy {run_in_numpy(ask)}")
rows = np.arange(3, dtype=np.int32)
data = tf.data.Dataset.from_tensor_slices(rows).filter(lambda row: row < 2**32)
kept = [int(row) for row in data]
print(f"rows of 0, 1, 2 that are < 2**32: tf.data {kept}, NumPy {rows[rows < 2**32].tolist()}")
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorflow==2.21.0 numpy==2.4.6
TF_CPP_MIN_LOG_LEVEL=3 "$folder/venv/bin/python" "$folder/program.py" 2> /dev/null \
    | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
