"""A model_dir on storage whose locks fail: jobs train, continue, evaluate and export there."""

import json
import sys
from pathlib import Path

import pytest
import tensorflow as tf
from processes import run_process

SUPPORT = Path(__file__).parents[2] / "support"
JOB = """
import json, sys
import tensorflow as tf
import estimator_train as est

x = tf.feature_column.numeric_column("x")
config = est.RunConfig(allow_shared_model_dir=False, save_checkpoints_steps=10)
estimator = est.LinearRegressor([x], sys.argv[1], config=config)
data = lambda: tf.data.Dataset.from_tensors(({"x": [[1.0], [2.0]]}, [[2.0], [4.0]])).repeat()
spec = tf.feature_column.make_parse_example_spec([x])
receiver_fn = est.export.build_parsing_serving_input_receiver_fn(spec)
exporter = est.FinalExporter("final", receiver_fn)
for steps in (20, 40):
    train = est.TrainSpec(data, max_steps=steps)
    metrics, (path,) = est.train_and_evaluate(
        estimator, train, est.EvalSpec(data, steps=1, exporters=exporter)
    )
print(json.dumps([int(metrics["global_step"]), tf.saved_model.contains_saved_model(path.decode())]))
"""


@pytest.mark.long
def test_jobs_train_where_locks_fail(tmp_path):
    program = tmp_path / "job.py"
    program.write_text(JOB)
    command = [sys.executable, SUPPORT / "without_locks.py", sys.executable, program]
    done = run_process([*command, tmp_path / "run"])
    assert json.loads(done.stdout.splitlines()[-1]) == [40, True]
    assert "refuses locks (No locks available): a second job" in done.stderr
    assert tf.train.latest_checkpoint(tmp_path / "run").endswith("model.ckpt-40")
