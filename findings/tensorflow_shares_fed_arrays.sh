#!/usr/bin/env bash
# tensorflow 2.21.0 and numpy 2.4.6, Python 3.11, x86-64 Linux.
#
# A session does not copy an array that is fed, nor one that tf.numpy_function returns, if its
# address is a multiple of 64. A dataset iterator, a queue or a variable keeps that memory, so that a
# later change of the array changes rows that come next; for other addresses it does not. NumPy's
# arrays and columns of pandas frames have either kind of address, by chance. TensorFlow 2.15 does
# the same. In eager mode `tf.constant` copies.
#
# Output seen:
#   address modulo 64 is 0: iterator [-1.0], queue [-1.0], variable [-1.0], function [-1.0]
#   address modulo 64 is 8: iterator [0.0], queue [0.0], variable [0.0], function [0.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/arrays.py" <<'PYTHON'
import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
v1.disable_eager_execution()
COUNT = 1000


def allocate(offset):
    buffer = np.empty(COUNT * 8 + 128, np.uint8)
    start = -buffer.ctypes.data % 64 + offset
    values = buffer[start : start + COUNT * 8].view(np.float64)
    values[:] = 0.0
    return values


fed = v1.placeholder(tf.float64, [COUNT])
iterator = v1.data.make_initializable_iterator(tf.data.Dataset.from_tensor_slices(fed))
row = iterator.get_next()
queue = tf.queue.FIFOQueue(1, [tf.float64], shapes=[[COUNT]])
enqueue, dequeued = queue.enqueue(fed), queue.dequeue()
variable = v1.get_variable("v", [COUNT], tf.float64, use_resource=True)
assigned = v1.assign(variable, fed).op
returned = {}
from_function = v1.get_variable("f", [COUNT], tf.float64, use_resource=True)
function = tf.numpy_function(lambda: returned["array"], [], tf.float64)
assigned_from_function = v1.assign(from_function, tf.ensure_shape(function, [COUNT])).op

with v1.Session() as session:
    for offset in (0, 8):
        seen = []
        for name, start, read in (
            ("iterator", iterator.initializer, row),
            ("queue", enqueue, dequeued[0]),
            ("variable", assigned, variable[0]),
            ("function", assigned_from_function, from_function[0]),
        ):
            array = returned["array"] = allocate(offset)
            session.run(start, {} if name == "function" else {fed: array})
            array[:] = -1.0
            seen.append(f"{name} [{float(session.run(read))}]")
        print(f"address modulo 64 is {offset}: {', '.join(seen)}")
PYTHON
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorflow==2.21.0 numpy==2.4.6
TF_CPP_MIN_LOG_LEVEL=3 "$folder/venv/bin/python" "$folder/arrays.py" 2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen:/,/^set/s/^#   //p' "$0")
