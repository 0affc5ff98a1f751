#!/usr/bin/env bash
# tensorboard 2.21.0 with tensorboard-data-server 0.7.2 and tensorflow 2.21.0, Python 3.11.
#
# TensorBoard's fast loader, its default, drops points if the steps of a tag do not rise: a step
# removes all earlier points whose step is not smaller. The Python loader (`--load_fast=false`) and
# EventAccumulator show all of the points of the same file. Evaluations of older checkpoints, several
# trials in one folder, and workers that write in turns have such steps. There is no message.
#
# Output seen (the file has the steps 0, 100, 50, 150, 150 in this order):
#   load_fast=true: steps [0, 50, 150]
#   load_fast=false: steps [0, 100, 50, 150, 150]
#   EventAccumulator: steps [0, 100, 50, 150, 150]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import json
import re
import subprocess
import sys
import time
import urllib.request

import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

v1 = tf.compat.v1
STEPS = (0, 100, 50, 150, 150)
logdir = f"{sys.argv[1]}/logs"
with tf.Graph().as_default():
    writer = v1.summary.FileWriter(f"{logdir}/run")
    for number, step in enumerate(STEPS):
        value = v1.Summary.Value(tag="loss", simple_value=number)
        writer.add_summary(v1.Summary(value=[value]), step)
    writer.close()


def read_steps(port):
    """Returns the steps as soon as TensorBoard has loaded the run."""
    for _ in range(120):
        url = f"http://localhost:{port}/data/plugin/scalars"
        if json.load(urllib.request.urlopen(f"{url}/tags")):
            return [
                point[1]
                for point in json.load(urllib.request.urlopen(f"{url}/scalars?run=run&tag=loss"))
            ]
        time.sleep(0.5)
    raise TimeoutError("TensorBoard has not loaded the run.")


for fast in ("true", "false"):
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", logdir, "--port", "0"]
    with subprocess.Popen(
        [*command, "--load_fast", fast], stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            port = next(m[1] for line in server.stderr if (m := re.search(r"http://\S+:(\d+)/", line)))
            print(f"load_fast={fast}: steps {read_steps(port)}")
        finally:
            server.terminate()
accumulator = EventAccumulator(f"{logdir}/run")
accumulator.Reload()
print("EventAccumulator: steps", [event.step for event in accumulator.Scalars("loss")])
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet \
  tensorflow==2.21.0 tensorboard==2.21.0 tensorboard-data-server==0.7.2
TF_CPP_MIN_LOG_LEVEL=3 "$folder/venv/bin/python" "$folder/program.py" "$folder" \
  2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
