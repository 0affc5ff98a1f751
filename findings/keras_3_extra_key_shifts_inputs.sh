#!/usr/bin/env bash
# A Keras 3 functional model whose inputs are a dict takes the values of a dict by position, in the
# order of the sorted keys, if the dict has one key more than the model. The additional key "a"
# then feeds the input "b", and "b" feeds "c". There is a UserWarning, but no error. A model of the
# same layers whose inputs are a list picks the values by name. So does tf-keras in both forms.
#
# Seen with keras 3.15.1 and tf_keras 2.21.0 on tensorflow 2.21.0, Python 3.11, Linux, x86-64. The
# model joins its inputs b=1 and c=2; the dicts have "a" or "d" in addition:
#
#   keras dict   a+b+c [9.0, 1.0]   b+c+d [1.0, 2.0]
#   keras list   a+b+c [1.0, 2.0]   b+c+d [1.0, 2.0]
#   tf_keras dict   a+b+c [1.0, 2.0]   b+c+d [1.0, 2.0]
#   tf_keras list   a+b+c [1.0, 2.0]   b+c+d [1.0, 2.0]
#
# Data pipelines often carry keys that a model does not use, such as an id or a weight: drop them,
# or pick the model's keys by name, before the model gets the dict.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  tensorflow==2.21.0 tf_keras==2.21.0 keras==3.15.1

cat > "$folder/program.py" << 'PYTHON'
import importlib
import warnings

import numpy as np

warnings.simplefilter("ignore")
for name in ("keras", "tf_keras"):
    keras = importlib.import_module(name)
    b, c = (keras.Input((1,), name=key) for key in "bc")
    for form, inputs in {"dict": {"b": b, "c": c}, "list": [b, c]}.items():
        model = keras.Model(inputs, keras.layers.Concatenate()([b, c]))
        seen = []
        for keys in ("abc", "bcd"):
            rows = {key: np.full((1, 1), {"b": 1, "c": 2}.get(key, 9), "float32") for key in keys}
            joined = model.predict(rows, verbose=0)[0].tolist()
            seen.append(f"{'+'.join(keys)} {joined}")
        print(name, form, " ", "   ".join(seen))
PYTHON

export TF_CPP_MIN_LOG_LEVEL=3 KERAS_BACKEND=tensorflow
diff <(sed -n 's/^#   \(\(tf_\)\?keras \)/\1/p' "$0") \
  <("$folder/venv/bin/python" "$folder/program.py" 2> /dev/null | sed 's/  *$//')
echo "as described"
