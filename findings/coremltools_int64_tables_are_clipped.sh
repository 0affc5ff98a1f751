#!/usr/bin/env bash
# coremltools 9.0, tensorflow 2.12.0 (the newest that coremltools names as tested), Python 3.11.
#
# ct.convert turns int64 into int32. A constant vector of int64 loses its values without a message:
# what is too large becomes 2**31 - 1, and what is too small becomes 0. A model that looks up the id
# of a product for a class returns another id. A constant scalar becomes 2**31 - 1 too, but with the
# warning "Saving value type of int64 into a builtin type of int32".
#
# Output seen:
#   TensorFlow: [2147483653, 1099511627783, -8589934592, 7]
#   the converted table: [2147483647, 2147483647, 0, 7]
#   warnings about int64: 0
#
# Let the model return the index, and look up the id outside of it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import logging

import coremltools as ct
import tensorflow as tf

IDS = [2**31 + 5, 2**40 + 7, -(2**33), 7]
messages = []


class Keep(logging.Handler):
    def emit(self, record):
        messages.append(record.getMessage())


logging.getLogger().addHandler(Keep())
logging.getLogger("coremltools").addHandler(Keep())


@tf.function(input_signature=[tf.TensorSpec([4], tf.int32, name="index")])
def look_up(index):
    return tf.gather(tf.constant(IDS, tf.int64), index)


print("TensorFlow:", look_up([0, 1, 2, 3]).numpy().tolist())
signature = look_up.get_concrete_function()
model = ct.convert([signature], source="tensorflow", convert_to="mlprogram")
(block,) = model.get_spec().mlProgram.functions["main"].block_specializations.values()
tables = [
    list(operation.attributes["val"].immediateValue.tensor.ints.values)
    for operation in block.operations
    if operation.type == "const"
]
print("the converted table:", max(tables, key=len))
print("warnings about int64:", sum("int64" in message for message in messages))
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet coremltools==9.0 tensorflow==2.12.0 'setuptools<81'
TF_CPP_MIN_LOG_LEVEL=3 "$folder/venv/bin/python" "$folder/program.py" 2> "$folder/errors" |
  tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
