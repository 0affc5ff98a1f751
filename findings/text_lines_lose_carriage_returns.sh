#!/usr/bin/env bash
# tensorflow 2.21.0 and numpy 2.4.6, Python 3.11, x86-64 Linux.
#
# TensorFlow's two readers of CSV lines differ: TextLineDataset, whose lines pipelines pass to
# decode_csv, removes every carriage return, also within a quoted field, without an error.
# CsvDataset keeps it. With the first, two fields that differ only by it become equal.
#
# Output seen:
#   TextLineDataset: [b'id,note', b'1,"ab"', b'2,ab']
#   CsvDataset: [(1, b'a\rb'), (2, b'ab')]
#   Python: [b'id,note\n', b'1,"a\rb"\n', b'2,ab\n']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf 'id,note\n1,"a\rb"\n2,ab\n' > "$folder/rows.csv"
cat > "$folder/lines.py" <<'PYTHON'
import sys

import tensorflow as tf

path = sys.argv[1]
lines = list(tf.data.TextLineDataset(path).as_numpy_iterator())
print("TextLineDataset:", lines)
rows = tf.data.experimental.CsvDataset(path, [tf.int64, tf.string], header=True)
print("CsvDataset:", [(int(number), note) for number, note in rows.as_numpy_iterator()])
print("Python:", open(path, "rb").readlines())
PYTHON
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorflow==2.21.0 numpy==2.4.6
TF_CPP_MIN_LOG_LEVEL=3 "$folder/venv/bin/python" "$folder/lines.py" "$folder/rows.csv" 2> /dev/null |
    tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen:/,/^set/s/^#   //p' "$0")
