#!/usr/bin/env bash
# mlflow-skinny 3.17.2 with its SQLite store, Python 3.11.
#
# A metric that is infinite, such as the loss of a training that diverges, comes back from MLflow's
# database as 1.7976931348623157e+308: `math.isinf` is false for it, and a comparison of runs takes it
# for a number. NaN comes back as NaN. No message says so.
#
# Output seen:
#   inf -> 1.7976931348623157e+308, isfinite True
#   -inf -> -1.7976931348623157e+308, isfinite True
#   nan -> nan, isfinite False
#   1.5 -> 1.5, isfinite True
#   get_run().data.metrics: {'best': 1.7976931348623157e+308, 'loss': 1.5}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/metrics.py" <<'PYTHON'
import math
import sys

import mlflow

VALUES = (math.inf, -math.inf, math.nan, 1.5)
client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{sys.argv[1]}/runs.db")
run_id = client.create_run(client.create_experiment("trial", f"{sys.argv[1]}/files")).info.run_id
for step, value in enumerate(VALUES):
    client.log_metric(run_id, "loss", value, step=step, timestamp=step)
client.log_metric(run_id, "best", math.inf)
for value, metric in zip(VALUES, client.get_metric_history(run_id, "loss")):
    print(f"{value} -> {metric.value}, isfinite {math.isfinite(metric.value)}")
print("get_run().data.metrics:", dict(sorted(client.get_run(run_id).data.metrics.items())))
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet mlflow-skinny==3.17.2 sqlalchemy==2.1.9 alembic==1.20.1
"$folder/venv/bin/python" "$folder/metrics.py" "$folder" 2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
