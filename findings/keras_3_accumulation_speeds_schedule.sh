#!/usr/bin/env bash
# keras 3.15.1 on tensorflow 2.21.0, Python 3.11.
#
# With `gradient_accumulation_steps=4` a Keras 3 optimizer updates the weights at every fourth batch,
# and its `iterations` counts these updates. A learning rate schedule gets the number of batches
# instead: it decays four times as fast as the updates, and `iterations` does not show it. A schedule
# that was tuned for a batch of the full size ends after a quarter of the updates.
#
# Output seen (the schedule returns 1 / (1 + step); each gradient is 1, so that an update is the rate):
#   no accumulation: updates [1.0, 0.5, 0.333], iterations 3
#   4 batches an update: updates [0.25, 0.125, 0.083], iterations 3
#
# Multiply the schedule's steps by `gradient_accumulation_steps`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import keras
import tensorflow as tf

for every, name in ((None, "no accumulation"), (4, "4 batches an update")):
    schedule = keras.optimizers.schedules.InverseTimeDecay(1.0, decay_steps=1, decay_rate=1.0)
    optimizer = keras.optimizers.SGD(schedule, gradient_accumulation_steps=every)
    weight = keras.Variable(0.0)
    seen = [0.0]
    for _ in range(3 * (every or 1)):
        optimizer.apply_gradients([(tf.constant(1.0), weight)])
        if float(weight) != seen[-1]:
            seen.append(float(weight))
    updates = [round(before - after, 3) for before, after in zip(seen, seen[1:])]
    print(f"{name}: updates {updates}, iterations {int(optimizer.iterations)}")
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorflow==2.21.0 keras==3.15.1
TF_CPP_MIN_LOG_LEVEL=3 KERAS_BACKEND=tensorflow "$folder/venv/bin/python" "$folder/program.py" \
  2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
