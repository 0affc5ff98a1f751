#!/usr/bin/env bash
# tf_keras 2.21.0 and keras 3.15.1 on tensorflow 2.21.0, with h5py 3.14.0 and numpy 2.4.6, Python 3.11.
#
# HDF5 and `np.save` have no bfloat16: h5py and NumPy store its bytes with the type V2, without a
# warning, and read them as such. tf-keras therefore saves a model of dtype "bfloat16" in each of its
# formats and cannot load it; the error of h5py names neither the type nor the variable. float16
# works. Keras 3 keeps the name of the type for `.weights.h5` and `.keras`, but not for `.h5`.
#
# Output seen:
#   np.save: |V2, h5py: |V2
#   tf_keras bfloat16: .weights.h5 ValueError: No cast function available., .h5 ValueError: No cast function available., .keras ValueError: No cast function available.
#   tf_keras float16: .weights.h5 equal, .h5 equal, .keras equal
#   keras bfloat16: .weights.h5 equal, .h5 ValueError: No cast function available., .keras equal
#   keras float16: .weights.h5 equal, .h5 equal, .keras equal
#
# The values are all there: read them with h5py and `array.view(ml_dtypes.bfloat16)`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import importlib
import sys

import h5py
import ml_dtypes
import numpy as np

folder = sys.argv[1]
array = np.ones(2, ml_dtypes.bfloat16)
np.save(f"{folder}/array.npy", array)
with h5py.File(f"{folder}/array.h5", "w") as file:
    file["array"] = array
    print(f"np.save: {np.load(f'{folder}/array.npy').dtype.str}, h5py: {file['array'].dtype.str}")


def restore(keras, model, path):
    if path.endswith(".weights.h5"):
        model.save_weights(path)
        copy = keras.models.clone_model(model)
        copy.load_weights(path)
        return copy
    model.save(path)
    return keras.models.load_model(path, compile=False)


for name in ("tf_keras", "keras"):
    keras = importlib.import_module(name)
    for dtype in ("bfloat16", "float16"):
        seen = []
        for form in (".weights.h5", ".h5", ".keras"):
            layers = [keras.layers.Input((2,)), keras.layers.Dense(1, dtype=dtype)]
            model = keras.Sequential(layers)
            try:
                copy = restore(keras, model, f"{folder}/{name}-{dtype}{form}")
                pairs = zip(copy.weights, model.weights)
                same = all(np.array_equal(np.array(a), np.array(b)) for a, b in pairs)
                seen.append(f"{form} {'equal' if same else 'different'}")
            except ValueError as error:
                seen.append(f"{form} ValueError: {error}")
        print(f"{name} {dtype}: {', '.join(seen)}")
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet \
  tensorflow==2.21.0 tf_keras==2.21.0 keras==3.15.1 h5py==3.14.0 numpy==2.4.6
TF_CPP_MIN_LOG_LEVEL=3 KERAS_BACKEND=tensorflow "$folder/venv/bin/python" "$folder/program.py" \
  "$folder" 2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
