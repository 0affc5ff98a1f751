#!/usr/bin/env bash
# datasets 5.2.0 and numpy 2.4.6, Python 3.11.
#
# A binary column of a Hugging Face dataset loses the zero bytes at the end of each value with
# `with_format("numpy")`: the values pass through an array of NumPy's type S, which pads with zeros and
# cannot tell them from the value's own. `with_format("tf")` uses the same arrays. Serialized protocol
# buffers, raw tensors and images may end with zeros: a tf.train.Example whose last integer is 0 can no
# longer be parsed, and raw floats lose the last ones. The formats arrow and pandas keep the bytes.
# There is no warning.
#
# Output seen (the values are b"ab\0\0" and b"abcdef"):
#   no format: [b'ab\x00\x00', b'abcdef']
#   arrow: [b'ab\x00\x00', b'abcdef']
#   pandas: [b'ab\x00\x00', b'abcdef']
#   numpy: |S6 [b'ab', b'abcdef']
#   numpy, the bytes of the float32 values [1.5, 0.0]: [1.5]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/values.py" <<'PYTHON'
import datasets
import numpy as np

rows = datasets.Dataset.from_dict({"value": [b"ab\0\0", b"abcdef"]})
print("no format:", rows["value"][:])
print("arrow:", rows.with_format("arrow")[:]["value"].to_pylist())
print("pandas:", rows.with_format("pandas")[:]["value"].tolist())
values = rows.with_format("numpy")[:]["value"]
print("numpy:", values.dtype.str, values.tolist())

raw = np.array([1.5, 0.0], np.float32).tobytes()
rows = datasets.Dataset.from_dict({"value": [raw, raw]}).with_format("numpy")
floats = np.frombuffer(rows[:]["value"][0], np.float32).tolist()
print("numpy, the bytes of the float32 values [1.5, 0.0]:", floats)
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet datasets==5.2.0 numpy==2.4.6
HF_HOME="$folder/home" "$folder/venv/bin/python" "$folder/values.py" | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
