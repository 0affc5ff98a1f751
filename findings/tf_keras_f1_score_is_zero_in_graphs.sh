#!/usr/bin/env bash
# tf_keras 2.21.0 on tensorflow 2.21.0, with numpy 2.4.6, Python 3.11.
#
# In a `tf.Graph` the operation of `metric.updates` updates a metric. That of F1Score, FBetaScore
# and R2Score updates only the last of the variables: `update_state` returns nothing, adds each sum
# by itself, and none of the sums waits for the others. F1Score and FBetaScore are then always 0
# and R2Score is NaN, without a warning. Other metrics, such as Precision, are right.
#
# Output seen:
#   F1Score: eager 0.556, graph 0.000
#   FBetaScore: eager 0.556, graph 0.000
#   R2Score: eager -0.000, graph nan
#   Precision: eager 0.667, graph 0.667
#
# Run the additions by hand: they are consumers of `variable.handle` for each variable of the metric.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import numpy as np
import tensorflow as tf
import tf_keras

truth = np.eye(3, dtype=np.float32)
predicted = np.array([[0.9, 0.1, 0.0], [0.6, 0.3, 0.1], [0.0, 0.1, 0.9]], np.float32)
predicted = (predicted == predicted.max(1, keepdims=True)).astype(np.float32)

for name in ("F1Score", "FBetaScore", "R2Score", "Precision"):
    metric = getattr(tf_keras.metrics, name)()
    metric.update_state(truth, predicted)
    eager = np.mean(metric.result())
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        metric = getattr(tf_keras.metrics, name)()
        metric.update_state(tf.constant(truth), tf.constant(predicted))
        result = metric.result()
        session.run([variable.initializer for variable in metric.variables])
        session.run(metric.updates)
        graph = np.mean(session.run(result))
    print(f"{name}: eager {eager:.3f}, graph {graph:.3f}")
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorflow==2.21.0 tf_keras==2.21.0 numpy==2.4.6
TF_CPP_MIN_LOG_LEVEL=3 TF_USE_LEGACY_KERAS=1 "$folder/venv/bin/python" "$folder/program.py" \
  2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
