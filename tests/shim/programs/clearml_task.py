"""ClearML, offline: it reads the summaries that writers get."""

import json
from pathlib import Path

import clearml

clearml.Task.set_offline(True)
# ClearML forks while a thread of it looks for a repository: now and then `close` waits for ever.
task = clearml.Task.init(
    "p",
    "t",
    auto_resource_monitoring=False,
    auto_connect_frameworks={"detect_repository": False},
)

from _common import input_fn, make_estimator

estimator = make_estimator("model")
estimator.train(input_fn, steps=100)
estimator.evaluate(input_fn, steps=2)
task.flush(wait_for_uploads=True)
folder = Path(task.get_offline_mode_folder())
events = [
    e for line in (folder / "metrics.jsonl").read_text().splitlines() for e in json.loads(line)
]
losses = [
    e["iter"] for e in events if e["type"] == "training_stats_scalar" and e["metric"] == "loss"
]
print(json.dumps({"losses": losses, "metrics": sorted({e["metric"] for e in events})}))
task.close()
