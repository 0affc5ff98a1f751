#!/usr/bin/env bash
# tensorflow 2.21.0 and numpy 2.4.6, Python 3.11.
#
# `tf.data.Dataset.from_generator` casts each value to the type of its signature without a look at what
# is lost: an id above 2**31 becomes another id in an int32 feature, a float loses its fraction in an
# integer one, 300 becomes 44 and -1.5 becomes 255 in uint8. `tf.constant` does the same to Python's
# integers and to NumPy's numbers, and raises TypeError for a Python float. `tf.numpy_function` in a
# graph compares the types and raises an error. NumPy 2 raises OverflowError for `np.uint8(300)`.
#
# Output seen:
#   np.int64(1099511627783) as int32: from_generator 7, constant 7, numpy_function InvalidArgumentError
#   300 as uint8: from_generator 44, constant 44, numpy_function InvalidArgumentError
#   np.float64(-1.5) as uint8: from_generator 255, constant 255, numpy_function InvalidArgumentError
#   np.float64(0.9) as int64: from_generator 0, constant 0, numpy_function InvalidArgumentError
#   0.9 as int64: from_generator 0, constant TypeError, numpy_function InvalidArgumentError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import numpy as np
import tensorflow as tf


def attempt(convert):
    try:
        return convert()
    except Exception as error:
        return type(error).__name__


def generate(value, dtype):
    rows = tf.data.Dataset.from_generator(
        lambda: iter([value]), output_signature=tf.TensorSpec([], dtype)
    )
    return int(next(iter(rows)))


def call(value, dtype):
    return int(tf.function(lambda: tf.numpy_function(lambda: value, [], dtype))())


for value, dtype in (
    (np.int64(2**40 + 7), tf.int32),
    (300, tf.uint8),
    (np.float64(-1.5), tf.uint8),
    (np.float64(0.9), tf.int64),
    (0.9, tf.int64),
):
    print(
        f"{value!r} as {dtype.name}:",
        f"from_generator {attempt(lambda: generate(value, dtype))},",
        f"constant {attempt(lambda: int(tf.constant(value, dtype)))},",
        f"numpy_function {attempt(lambda: call(value, dtype))}",
    )
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorflow==2.21.0 numpy==2.4.6
TF_CPP_MIN_LOG_LEVEL=3 "$folder/venv/bin/python" "$folder/program.py" 2> /dev/null \
  | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
