#!/usr/bin/env bash
# comet_ml 3.58.8 with tensorflow-cpu 2.21.0, Python 3.11.
#
# Comet takes the scalars of TensorFlow's writers with their tag and step, and without the folder of
# the writer: "loss" of a training and "loss" of its evaluations become one metric, whose values
# alternate, without a message. TensorBoard shows these files as two runs.
#
# Output seen (8 and 4 are of the training, 0.5 is of the evaluation):
#   loss: [(1, 8.0, None), (2, 0.5, None), (3, 4.0, None)]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import glob
import json
import os
import sys
import zipfile

import comet_ml

os.chdir(sys.argv[1])
experiment = comet_ml.OfflineExperiment(project_name="p", workspace="w", offline_directory="comet")

import tensorflow as tf  # Comet asks to be imported first.

v1 = tf.compat.v1
with tf.Graph().as_default():
    writers = {name: v1.summary.FileWriter(name) for name in ("train", "eval")}
for name, step, loss in [("train", 1, 8.0), ("eval", 2, 0.5), ("train", 3, 4.0)]:
    value = v1.Summary.Value(tag="loss", simple_value=loss)
    writers[name].add_summary(v1.Summary(value=[value]), step)
for writer in writers.values():
    writer.close()
experiment.end()

(archive,) = glob.glob("comet/*.zip")
found = []
for line in zipfile.ZipFile(archive).read("messages.json").decode().splitlines():
    payload = json.loads(line).get("payload", {})
    metric = payload.get("metric", {})
    if "loss" in metric.get("metricName", ""):
        found.append((metric["step"], metric["metricValue"], payload.get("context")))
print("loss:", found)
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorflow-cpu==2.21.0 comet_ml==3.58.8
export HOME="$folder" TF_CPP_MIN_LOG_LEVEL=3
"$folder/venv/bin/python" "$folder/program.py" "$folder" 2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
