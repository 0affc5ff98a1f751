"""Canned estimators of tf.contrib.learn in an Experiment and in train_and_evaluate.

The keys of the metrics are those of TensorFlow 1.15.
"""

import json

import forked
from launched import run_tasks
from legacy_programs import COMMAND

from estimator_train.launcher.network import find_free_addresses

PROGRAM = """
import json, sys
import numpy as np, tensorflow as tf
from tensorflow.contrib import learn
from tensorflow.contrib.learn.python.learn import learn_runner

x = np.random.RandomState(0).rand(32, 2).astype(np.float32)

def input_fn():  # Tensors without an end.
    return {"x": tf.constant(x)}, tf.constant((x.sum(1) > 1).astype(np.int32)[:, None])

class Count(tf.train.SessionRunHook):
    batches = 0
    def after_run(self, run_context, run_values):
        Count.batches += 1

def experiment_fn(run_config, hparams):
    column = tf.contrib.layers.real_valued_column("x", 2)
    estimator = learn.DNNClassifier([4], [column], config=run_config)
    return learn.Experiment(
        estimator, input_fn, input_fn, train_steps=20, eval_steps=3, eval_hooks=[Count()])

config = learn.RunConfig(model_dir=sys.argv[1])
metrics = learn_runner.run(experiment_fn, run_config=config, schedule="train_and_evaluate")[0]
print(json.dumps([sorted(metrics), int(metrics["global_step"]), Count.batches]))
"""
KEYS = [
    "accuracy",
    "accuracy/baseline_label_mean",
    "accuracy/threshold_0.500000_mean",
    "auc",
    "auc_precision_recall",
    "global_step",
    "labels/actual_label_mean",
    "labels/prediction_mean",
    "loss",
    "precision/positive_threshold_0.500000_mean",
    "recall/positive_threshold_0.500000_mean",
]


def test_an_experiment_evaluates_eval_steps_batches_at_its_start_and_end(run, tmp_path):
    done = run(PROGRAM, str(tmp_path / "model"))
    assert json.loads(done.stdout.splitlines()[-1]) == [KEYS, 20, 2 * 3]


TRAIN_AND_EVALUATE = """
import sys
import tensorflow as tf

def input_fn():
    return {"x": tf.constant([[1.0], [2.0]])}, tf.constant([[1.0], [2.0]])

class Linear(tf.contrib.learn.LinearRegressor):
    def evaluate(self, x=None, y=None, input_fn=None, *args, **kwargs):
        assert x is globals()["input_fn"] or input_fn is globals()["input_fn"]
        return super().evaluate(x, y, input_fn, *args, **kwargs)

column = tf.contrib.layers.real_valued_column("x")
metrics, _ = tf.estimator.train_and_evaluate(
    Linear([column], model_dir=sys.argv[1]),
    tf.estimator.TrainSpec(input_fn, max_steps=20),
    tf.estimator.EvalSpec(input_fn, steps=1, throttle_secs=0),
)
print(metrics["global_step"], metrics["loss"] < 1)
"""


def test_train_and_evaluate_passes_the_input_fn_of_the_eval_spec(run, tmp_path):
    done = run(TRAIN_AND_EVALUATE, str(tmp_path / "model"))
    assert done.stdout.splitlines()[-1] == "20 True"


# A parameter server of TensorFlow 1 never comes back from run_std_server, so that old programs have
# the code of the workers behind it, without an `else`.
SERVER = """
import sys
import tensorflow as tf
from tensorflow.contrib import learn

def input_fn():
    return {"x": tf.constant([[1.0], [2.0]])}, tf.constant([[1.0], [2.0]])

config = learn.RunConfig(model_dir=sys.argv[1])
column = tf.contrib.layers.real_valued_column("x")
experiment = learn.Experiment(
    learn.LinearRegressor([column], config=config), input_fn, input_fn, train_steps=5)
if config.task_type == learn.TaskType.PS:
    print("serves", flush=True)
    experiment.run_std_server()
experiment.train(0)
print("trained", config.task_type, flush=True)
"""


def test_a_parameter_server_ends_after_run_std_server(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SERVER)
    server, master = find_free_addresses(2)
    program = forked.python(COMMAND, "run", script, tmp_path / "model")
    done = run_tasks(
        {"ps": [server], "master": [master]},
        ["ps:0", "master:0"],
        program,
        TF_USE_LEGACY_KERAS="1",
    )
    assert {name: outcome.code for name, outcome in done.items()} == {"ps:0": 0, "master:0": 0}
    assert "trained master" in done["master:0"].text
    assert "serves" in done["ps:0"].text
    assert "trained" not in done["ps:0"].text
