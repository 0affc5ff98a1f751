#!/usr/bin/env bash
# aim 3.29.1 with tensorflow-cpu 2.21.0 and tensorboard 2.21.0, Python 3.11.
#
# `aim convert tensorboard --logdir FOLDER` takes each subfolder as a run, and skips the event files
# that lie in FOLDER itself. Of a training with its evaluations below, as Estimators and Keras write
# them, only the evaluations arrive. The command says "TensorBoard logs conversion complete!". With
# the parent of the folder both arrive.
#
# Output seen (folders of the files that were converted):
#   --logdir model: ['model/eval']
#   --logdir .: ['model', 'model/eval']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorflow-cpu==2.21.0 tensorboard==2.21.0 aim==3.29.1
export HOME="$folder" TF_CPP_MIN_LOG_LEVEL=3
mkdir -p "$folder/logs" "$folder/repo"
cat > "$folder/write.py" <<'PYTHON'
import sys

import tensorflow as tf

v1 = tf.compat.v1
for name in ("model", "model/eval"):
    with tf.Graph().as_default(), v1.summary.FileWriter(f"{sys.argv[1]}/{name}") as writer:
        value = v1.Summary.Value(tag="loss", simple_value=1.0)
        writer.add_summary(v1.Summary(value=[value]), 1)
PYTHON
cat > "$folder/read.py" <<'PYTHON'
import json
import os
import sys

with open(".aim/tb_logs_cache") as file:  # The converter's list of the files that it has read.
    runs = json.load(file)
files = [os.path.relpath(path, sys.argv[1]) for run in runs.values() for path in run["events"]]
print(f"--logdir {sys.argv[2]}:", sorted(os.path.dirname(path) for path in files))
PYTHON
"$folder/venv/bin/python" "$folder/write.py" "$folder/logs" 2> "$folder/errors"
for logdir in model .; do
    rm -rf "$folder/repo" && mkdir "$folder/repo" && cd "$folder/repo"
    "$folder/venv/bin/aim" init < /dev/null > "$folder/errors" 2>&1
    "$folder/venv/bin/aim" convert tensorboard --logdir "$folder/logs/$logdir" > "$folder/errors" 2>&1
    "$folder/venv/bin/python" "$folder/read.py" "$folder/logs" "$logdir"
done | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
