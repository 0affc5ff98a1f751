#!/usr/bin/env bash
# tensorflow 2.21.0 and numpy 2.4.6, Python 3.11. TensorFlow 2.15 with numpy 1.26 does the same.
#
# Hooks of tf.compat.v1.train add a number of steps to the global step, which is an int64 of NumPy. A
# number such as `sys.maxsize`, which means "never" or "without end", overflows once the global step
# is above 0, silently: in a training that continues from a checkpoint, `StopAtStepHook(num_steps=
# sys.maxsize)` stops after one step, and `CheckpointSaverHook(save_steps=sys.maxsize)` saves after
# each step.
#
# Output seen (20 steps are offered):
#   global step 0: StopAtStepHook lets 20 steps run, CheckpointSaverHook saves 2 times
#   global step 5: StopAtStepHook lets 1 steps run, CheckpointSaverHook saves 21 times
#
# Give 2**62 instead.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import sys
import tempfile

import tensorflow as tf

train = tf.compat.v1.train


class Count(train.CheckpointSaverListener):
    saves = 0

    def after_save(self, session, step):
        self.saves += 1


def run(start, hook):
    """Returns how many of 20 steps run, from a global step."""
    step = train.get_or_create_global_step()
    train_op = tf.compat.v1.assign_add(step, 1)
    scaffold = train.Scaffold(local_init_op=tf.compat.v1.assign(step, start))
    made = 0
    with train.MonitoredSession(train.ChiefSessionCreator(scaffold), hooks=[hook]) as session:
        while not session.should_stop() and made < 20:
            session.run(train_op)
            made += 1
    return made


for start in (0, 5):
    with tf.Graph().as_default():
        steps = run(start, train.StopAtStepHook(num_steps=sys.maxsize))
    count = Count()
    with tf.Graph().as_default(), tempfile.TemporaryDirectory() as model_dir:
        run(start, train.CheckpointSaverHook(model_dir, save_steps=sys.maxsize, listeners=[count]))
    print(
        f"global step {start}: StopAtStepHook lets {steps} steps run, "
        f"CheckpointSaverHook saves {count.saves} times"
    )
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorflow==2.21.0 numpy==2.4.6
TF_CPP_MIN_LOG_LEVEL=3 "$folder/venv/bin/python" "$folder/program.py" \
  2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
