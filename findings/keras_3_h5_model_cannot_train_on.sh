#!/usr/bin/env bash
# keras 3.15.1 and tf_keras 2.21.0 on tensorflow 2.21.0, Python 3.11.
#
# `model.save("model.h5")` of Keras 3 writes the optimizer's state, and `load_model` returns a compiled
# model whose optimizer has the right count of iterations, but none of the moments: they are not read.
# The next `fit` raises an error that blames the caller for new variables. Models saved as `.keras`,
# and tf-keras with both formats, train on as if they had not been saved.
#
# Output seen (after 3 steps: states in the file, then in the loaded optimizer, then one more step):
#   keras .h5: 6, 2, iterations 3, ValueError: Unknown variable: <Variable path=dense/kernel
#   keras .keras: 6, 6, iterations 3, trains on as the saved model does
#   tf_keras .h5: 5, 5, iterations 3, trains on as the saved model does
#   tf_keras .keras: 5, 5, iterations 3, trains on as the saved model does
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import importlib
import sys

import numpy as np

random = np.random.default_rng(0)
rows, labels = random.normal(size=(8, 3)), random.normal(size=(8, 1))


def count_states(optimizer):
    variables = optimizer.variables
    return len(variables() if callable(variables) else variables)


for name in ("keras", "tf_keras"):
    keras = importlib.import_module(name)
    for form in (".h5", ".keras"):
        path = f"{sys.argv[1]}/{name}{form}"
        layers = [keras.layers.Input((3,)), keras.layers.Dense(1, name="dense")]
        model = keras.Sequential(layers)
        model.compile("adam", "mean_squared_error")
        model.fit(rows, labels, epochs=3, batch_size=8, verbose=0)
        model.save(path)
        loaded = keras.models.load_model(path)
        counts = f"{count_states(model.optimizer)}, {count_states(loaded.optimizer)}"
        iterations = int(np.array(loaded.optimizer.iterations))
        model.fit(rows, labels, batch_size=8, verbose=0)
        try:
            loaded.fit(rows, labels, batch_size=8, verbose=0)
            same = np.array_equal(model.predict(rows, verbose=0), loaded.predict(rows, verbose=0))
            result = "trains on as the saved model does" if same else "trains on in another way"
        except ValueError as error:
            result = f"ValueError: {str(error).split(',')[0].replace('sequential/', '')}"
        print(f"{name} {form}: {counts}, iterations {iterations}, {result}")
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet \
  tensorflow==2.21.0 tf_keras==2.21.0 keras==3.15.1 numpy==2.4.6
TF_CPP_MIN_LOG_LEVEL=3 KERAS_BACKEND=tensorflow "$folder/venv/bin/python" "$folder/program.py" \
  "$folder" 2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
