#!/usr/bin/env bash
# wandb 0.31.0 with tensorflow 2.21.0, Python 3.11.
#
# WandbHook of wandb.integration.tensorflow reads the global step of TensorFlow 1, but its rows do
# not have it: W&B numbers them 0, 1, 2, ... as they arrive. If the step is made the x axis, as for
# rows that come from event files (`define_metric("*", step_metric="global_step")`), the summary has
# the step 0, without a message.
#
# Output seen (after 100 steps, logged every 20):
#   without define_metric: ['loss']
#   with define_metric: ['global_step', 'loss'] global_step: 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import sys

import tensorflow as tf
import wandb
from wandb.integration.tensorflow import WandbHook

v1 = tf.compat.v1


def train(run):
    """Trains for 100 steps with the hook; returns the summary of the run."""
    wandb.tensorboard.reset_state()
    with tf.Graph().as_default():
        step = v1.train.get_or_create_global_step()
        v1.summary.scalar("loss", 1.0 / tf.cast(step + 1, tf.float32))
        add = v1.assign_add(step, 1)
        hooks = [WandbHook(steps_per_log=20), v1.train.StopAtStepHook(last_step=100)]
        with v1.train.MonitoredSession(hooks=hooks) as session:
            while not session.should_stop():
                session.run(add)
    run.log({})  # The hook logs a row when the next one begins.
    return dict(run.summary)


settings = {"project": "p", "mode": "offline", "dir": sys.argv[1]}
with wandb.init(**settings) as run:
    found = train(run)
    print("without define_metric:", [key for key in sorted(found) if key[0] != "_"])
with wandb.init(**settings) as run:
    run.define_metric("*", step_metric="global_step")
    found = train(run)
    keys = [key for key in sorted(found) if key[0] != "_"]
    print("with define_metric:", keys, "global_step:", found["global_step"])
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorflow==2.21.0 wandb==0.31.0
export HOME="$folder" WANDB_SILENT=true TF_CPP_MIN_LOG_LEVEL=3
"$folder/venv/bin/python" "$folder/program.py" "$folder" 2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
