#!/usr/bin/env bash
# safetensors 0.8.0 and numpy 2.4.6, Python 3.11.
#
# `safetensors.numpy.save` writes the memory of an array that is not C-contiguous as it lies there,
# with the shape of the view. A Fortran-ordered or transposed array comes back with its values in
# other places, and a strided slice comes back with values that were never in it. There is no error
# and no warning; `np.save` writes the values of the view. Kernels are transposed on the way between
# TensorFlow and PyTorch, so that such arrays are common in programs that convert checkpoints.
#
# Output seen (the array is [[0, 1, 2], [3, 4, 5]]):
#   contiguous: saved [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], loaded [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
#   fortran order: saved [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], loaded [[0.0, 3.0, 1.0], [4.0, 2.0, 5.0]]
#   transposed: saved [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]], loaded [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
#   every second column: saved [[0.0, 2.0], [3.0, 5.0]], loaded [[0.0, 1.0], [2.0, 3.0]]
#   np.save, transposed: saved [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]], loaded [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
#
# Give safetensors `np.ascontiguousarray(array)`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/arrays.py" <<'PYTHON'
import io

import numpy as np
from safetensors.numpy import load, save

rows = np.arange(6, dtype=np.float32).reshape(2, 3)
arrays = {
    "contiguous": rows,
    "fortran order": np.asfortranarray(rows),
    "transposed": rows.T,
    "every second column": rows[:, ::2],
}
for name, array in arrays.items():
    loaded = load(save({"kernel": array}))["kernel"]
    print(f"{name}: saved {array.tolist()}, loaded {loaded.tolist()}")
file = io.BytesIO()
np.save(file, rows.T)
file.seek(0)
print(f"np.save, transposed: saved {rows.T.tolist()}, loaded {np.load(file).tolist()}")
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet safetensors==0.8.0 numpy==2.4.6
"$folder/venv/bin/python" "$folder/arrays.py" | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
