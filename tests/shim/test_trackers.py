"""Trackers, tuners and libraries that hook into Estimators, with the shim of an environment.

The packages are installed from the package index, in an environment that the tests share.
"""

import json
from pathlib import Path

import pages
import pytest
from environments import create, run_python

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
PACKAGES = [
    "wandb==0.31.0",
    "comet_ml==3.58.8",
    "clearml==2.1.12",
    "optuna==5.0.0",
    "optuna-integration==5.0.0",
    "scikit-learn",
    "bokeh",
    "mlflow-skinny==3.17.2",
    "boto3",
    "psutil",
    "tbparse==0.0.9",
    "pyinstrument",
]
# Their metadata asks for older versions of TensorFlow, protobuf or Python.
WITHOUT_DEPENDENCIES = [
    "smdebug==1.0.34",
    "tensorflow-privacy==0.9.0",
    "dp-accounting==0.6.0",
    "tensorflow-probability==0.25.0",
    "immutabledict==4.3.1",
    "mpmath==1.4.1",
    "dm-tree==0.1.10",
    "decorator==5.3.1",
    "cloudpickle",
    "gast",
    "six",
    "attrs",
]
# Runs each program with the hook of the shim, without an environment of its own.
WITH_HOOK = (
    "import runpy, sys\nfrom estimator_train.bootstrap import import_hook\n"
    "import_hook.install().show_attributes()\n"
    "sys.argv = sys.argv[1:]\nrunpy.run_path(sys.argv[0], run_name='__main__')\n"
)


@pytest.fixture(scope="module")
def trackers(tmp_path_factory):
    """Returns the Python of an environment with the packages and the shim."""
    python, _ = create(tmp_path_factory.mktemp("trackers"), with_pip=True)
    pip = ["-m", "pip", "install", "--quiet"]
    here = python.parent
    run_python(python, *pip, *PACKAGES, cwd=here)
    run_python(
        python, *pip, "--no-deps", "--ignore-requires-python", *WITHOUT_DEPENDENCIES, cwd=here
    )
    run_python(python, "-m", "estimator_train", "install-shim", cwd=here)
    return python


@pytest.fixture
def run(trackers, tmp_path):
    """Returns a function that runs a program and returns the last JSON value that it prints."""

    def run_program(name, *runner):
        path = PROGRAMS / name
        done = run_python(
            trackers, *runner, path, cwd=tmp_path, PYTHONPATH=str(PROGRAMS), HOME=str(tmp_path)
        )
        lines = [line for line in done.stdout.splitlines() if line.startswith(("{", "["))]
        return json.loads(lines[-1])

    return run_program


@pytest.mark.long
def test_the_hook_of_wandb_logs_summaries_and_keeps_loops(run):
    found = run("wandb_hook.py")
    assert "loss" in found["summary"]
    assert found["loops"] < 20


@pytest.mark.long
def test_wandb_reads_event_files_and_uses_global_step_as_its_x_axis(run):
    found = run("wandb_tensorboard.py")
    assert found["step_metrics"] == [["*", "global_step"]]
    # W&B may lose the last rows of so short a run. Otherwise their numbers would be the x axis.
    losses = [row["global_step"] for row in found["rows"] if "loss" in row]
    assert losses
    assert {*losses} <= {1, *range(11, 100, 10)}
    assert {row["global_step"] for row in found["rows"] if "eval/average_loss" in row} <= {50, 100}


@pytest.mark.long
def test_tbparse_tells_training_from_evaluation_by_the_folder(run):
    assert run("tbparse_folders.py") == {"": [1, *range(11, 100, 10)], "eval": [100]}


@pytest.mark.long
def test_comet_gets_parameters_and_losses(run):
    found = run("comet.py")
    assert found["replaced"] == [True]
    assert found["estimator"] == "DNNRegressor"
    assert found["losses"][:10] == [1, *range(11, 100, 10)]


@pytest.mark.long
def test_mlflow_predicts_with_an_export(run):
    found, expected = run("mlflow_model.py")
    assert found == pytest.approx(expected, abs=1e-6)


def test_the_hook_of_the_page_for_mlflow_logs_every_step_that_is_due(tmp_path):
    import tensorflow as tf

    import estimator_train as est

    (program,) = pages.programs_of((ROOT / "docs/trackers.md").read_text())
    scope = {}
    exec(program, scope)
    sent = []

    class Hook(scope["MLflowHook"]):
        def send(self):
            sent.extend((step, loss) for loss, _, step in self.metrics)
            self.metrics = []

    def model_fn(features, labels, mode):
        # The step's number changes before and while the session fetches the other values.
        train_op = tf.compat.v1.assign_add(tf.compat.v1.train.get_global_step(), 1)
        w = tf.compat.v1.get_variable("w", [], initializer=tf.compat.v1.ones_initializer())
        return est.EstimatorSpec(mode, w, tf.identity(w, name="loss"), train_op)

    config = est.RunConfig(save_summary_steps=7)
    estimator = est.Estimator(model_fn, str(tmp_path), config)
    estimator.train(lambda: tf.data.Dataset.range(9), hooks=[Hook(every=10, batch=3)], steps=205)
    assert sent == [(step, 1.0) for step in (1, *range(10, 205, 10))]


@pytest.mark.long
def test_clearml_gets_every_summary(run):
    found = run("clearml_task.py")
    assert found["losses"][:10] == [1, *range(11, 100, 10)]
    assert {"average_loss", "loss"} <= {*found["metrics"]}


@pytest.mark.long
def test_the_hook_of_optuna_reports_evaluations_and_prunes(run):
    states, reports = run("optuna_hook.py")
    assert states == ["COMPLETE", "PRUNED"]
    assert reports[0][:3] == [10, 20, 30]
    assert reports[1] == [10]


@pytest.mark.long
def test_the_hook_of_sagemaker_debugger_saves_losses(run):
    steps, losses = run("smdebug_hook.py", "-m", "estimator_train", "run")
    assert steps == [0, 10, 20, 30, 40]
    assert losses[0] > losses[-1] > 0


@pytest.mark.long
def test_estimators_of_tensorflow_privacy_train_with_the_noise_that_the_accountant_assumes(run):
    ratio, accuracy = run("privacy.py")
    assert ratio == pytest.approx(1, abs=0.03)  # 20,000 draws: a standard error of 0.005.
    assert accuracy > 0.9


@pytest.mark.long
@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("mlflow", ["export_saved_model", "export_savedmodel", "train"]),
        ("horovod", ["after_create_session"]),
        ("tfma", ["eval"]),
        ("determined", ["evaluate_and_export"]),
        ("dlrover", ["_call_model_fn", "prepare_session"]),
        ("easyrec", ["run"]),
    ],
)
def test_the_accesses_of_other_tools_work(tool, expected, environment, tmp_path):
    done = environment(
        "-c", WITH_HOOK, str(PROGRAMS / "same_accesses.py"), tool, PYTHONPATH=str(PROGRAMS)
    )
    calls, step = json.loads(done.stdout.splitlines()[-1])
    assert calls == expected
    assert step == (50 if tool == "horovod" else 10)
