#!/usr/bin/env bash
# safetensors 0.8.0, numpy 2.4.6 and ml_dtypes 0.6.0, Python 3.11.
#
# `safetensors.numpy` reads bfloat16 from a file (`load_file`), but not from the same bytes in memory:
# `load` ends with KeyError: 'BF16', also for what `save` of the same module has just returned. One
# such tensor closes the bytes to `load`, with their float32 tensors. Programs that fetch a checkpoint
# from a store hold it as bytes. `load` of `safetensors.tensorflow` does the same.
#
# Output seen:
#   saved: bfloat16 and float32
#   load_file: bfloat16 [1.5] and float32 [1.5]
#   load: KeyError 'BF16'
#   load, without the bfloat16: float32 [1.5]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import sys

import ml_dtypes
import numpy as np
from safetensors.numpy import load, load_file, save


def show(title, read):
    try:
        arrays = read()
        types = [f"{a.dtype.name} {a.astype(float).tolist()}" for _, a in sorted(arrays.items())]
        print(f"{title}: {' and '.join(types)}")
    except KeyError as error:
        print(f"{title}: KeyError {error}")


path = f"{sys.argv[1]}/file.safetensors"
arrays = {"b": np.array([1.5], ml_dtypes.bfloat16), "f": np.array([1.5], np.float32)}
saved = save(arrays)
print("saved:", " and ".join(array.dtype.name for array in arrays.values()))
with open(path, "wb") as file:
    file.write(saved)
show("load_file", lambda: load_file(path))
show("load", lambda: load(saved))
show("load, without the bfloat16", lambda: load(save({"f": arrays["f"]})))
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet safetensors==0.8.0 numpy==2.4.6 ml_dtypes==0.6.0
"$folder/venv/bin/python" "$folder/program.py" "$folder" | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
