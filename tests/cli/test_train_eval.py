"""`train --eval` and `train --dry_run`, as a user starts them.

These tests cover `cli/job/evaluations.py`.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import forked
import pytest
import tensorflow as tf
import tiers

import estimator_train
from estimator_train.cli.job.inputs import TrainingInput
from estimator_train.cli.job.job import Job

ROOT = str(Path(estimator_train.__file__).parents[1])


def start(directory, *arguments):
    return subprocess.Popen(
        forked.python("-m", "estimator_train", *arguments),
        cwd=directory,
        env={**os.environ, "PYTHONPATH": ROOT},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def evaluated(model_dir="run"):
    """Returns the steps of the evaluations, in order."""
    lines = (Path(model_dir) / "history.jsonl").read_text().splitlines()
    return [entry["step"] for entry in map(json.loads, lines) if "eval" in entry]


def files(directory):
    return sorted(str(path) for path in Path(directory).rglob("*"))


@pytest.mark.long
def test_a_preset_stops_early_and_prints_its_results(tmp_path, monkeypatch):
    process = start(
        tmp_path,
        *("train", "--preset=digits", "--eval", "--epochs_between_evals=2", "--export_dir="),
        *("--stop_metric=accuracy", "--stop_if=higher", "--stop_threshold=0.9"),
        *("--exporters=best,final", "--best_metric=accuracy", "--best_mode=max"),
        "--keep_best=accuracy:max:1",
    )
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    monkeypatch.chdir(tmp_path)
    rows = dict(line.split(maxsplit=1) for line in out.splitlines())
    steps = evaluated("runs/digits")
    # Of 45 steps in an epoch; the step after the one that stopped it is the last.
    assert steps[:-1] == list(range(90, steps[-1], 90))
    assert steps[-1] == steps[-2] + 1
    assert rows["global_step"] == str(steps[-1])
    assert rows["stopped"] == "early stopping, accuracy higher than 0.9"
    assert [line.split("  ")[0] for line in err.splitlines() if "evaluated" in line] == [
        f"step {step} evaluated" for step in steps
    ]
    assert rows["best_checkpoint"] in [f"runs/digits/best/model.ckpt-{s}" for s in steps[-2:]]
    assert tf.train.load_checkpoint(rows["best_checkpoint"])
    for name in ("best", "final"):
        assert Path(rows[f"{name}_export"]).parent == Path("runs/digits/export", name)
        served = tf.saved_model.load(rows[f"{name}_export"]).signatures["serving_default"]
        assert served(images=tf.zeros([2, 8, 8, 1]))["probabilities"].shape == (2, 10)
    assert "saved_model" not in rows


@pytest.mark.long
def test_a_killed_job_continues_and_ends_at_the_same_step(command, linear, tmp_path):
    job = [*linear, "--eval", "--eval_every_steps=200", "--max_train_steps=4000"]
    process = start(tmp_path, "train", *job, "--exporters=final")
    for line in process.stderr:
        if line.startswith("step 400 evaluated"):
            break
    process.kill()
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (-9, ""), err
    assert not os.path.exists("run/export")
    again = command("train", *job, "--exporters=final")
    assert again.err.startswith("continuing from run/model.ckpt-"), again.err
    assert not again.err.startswith("continuing from run/model.ckpt-4000")
    assert again.rows["global_step"] == "4000"
    assert again.rows["stopped"] == "--max_train_steps=4000 reached"
    assert len(os.listdir("run/export/final")) == 1
    # The kill may fall between a checkpoint and its evaluation.
    start_step = int(re.match(r"continuing from run/model\.ckpt-(\d+)", again.err)[1])
    missing = set(range(200, 4001, 200)) - set(evaluated())
    assert missing <= {start_step}
    nothing = command("train", *job, "--exporters=final")
    assert nothing.err.startswith("nothing to train: run/model.ckpt-4000 is at step 4000,")
    assert nothing.rows["final_export"] == again.rows["final_export"]


def test_checkpoints_are_evaluated_and_the_newest_exports_are_kept(command, linear):
    outcome = command(
        *("train", *linear, "--train_epochs=5", "--eval", "--save_checkpoints_steps=10"),
        *("--exporters=latest,best", "--exports_to_keep=2", "--keep_best=loss:min:1"),
        *("--best_metric=loss", "--best_mode=max"),
    )
    assert outcome.code == 0, outcome.err
    assert evaluated() == [10, 20, 30, 40]
    assert outcome.rows["stopped"] == "end of input"
    assert outcome.rows["best_checkpoint"] == "run/best/model.ckpt-40"
    exports = sorted(os.listdir("run/export/latest"))
    assert len(exports) == 2
    assert outcome.rows["latest_export"] == f"run/export/latest/{exports[-1]}"
    assert len(os.listdir("run/export/best")) == 1  # The first: the loss only falls.


@pytest.mark.long
def test_training_stops_by_metric_or_by_time(command, linear):
    # The accuracy is 1 from the first evaluation on.
    stalled = command(
        *("train", *linear, "--train_epochs=50", "--eval", "--eval_every_steps=16"),
        *("--stop_metric=accuracy", "--stop_if=no_increase", "--stop_patience_steps=30"),
        *("--exporters=best", "--exports_to_keep=0"),
    )
    assert stalled.rows["stopped"] == "early stopping, no increase of accuracy for 30 steps"
    assert evaluated() == [16, 32, 48, 49]
    assert len(os.listdir("run/export/best")) == 4
    late = command("train", *linear, "--clean", "--train_epochs=1000000", "--max_time=1s")
    assert late.rows["stopped"] == "--max_time=1 s reached"
    assert int(late.rows["global_step"]) < 8_000_000


STOP = ("--stop_metric=acuracy", "--stop_if=higher", "--stop_threshold=0.9")
BEST = ("--exporters=best", "--best_metric=acuracy", "--best_mode=max")


@pytest.mark.parametrize(
    ("arguments", "line", "tried"),
    tiers.every(
        3,
        [
            (STOP, "Early stopping waits for the metric 'acuracy'", "--stop_metric=acuracy: the "),
            (
                BEST,
                *[
                    "--best_metric=acuracy: the evaluation does not have this metric. "
                    "Its metrics are accuracy,"
                ]
                * 2,
            ),
            (
                ("--keep_best=acuracy:max:1",),
                *["RunConfig.keep_best names the metric 'acuracy',"] * 2,
            ),
        ],
    ),
)
def test_a_missing_metric_is_reported_after_the_first_evaluation(
    command, linear, arguments, line, tried
):
    job = ["train", *linear, "--eval", "--eval_every_steps=4", "--train_epochs=3", *arguments]
    dry = command(*job, "--dry_run")
    assert (dry.code, dry.out, dry.err.count("\n")) == (2, "", 1)
    assert dry.err.startswith(f"estimator-train: error: {tried}")
    assert not os.path.exists("run")
    outcome = command(*job)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.splitlines()[-1].startswith(f"estimator-train: error: {line}")
    assert tf.train.latest_checkpoint("run") == "run/model.ckpt-4"


TROUBLE = """
import tensorflow as tf
from linear import model

def endless():
    return tf.data.Dataset.from_tensors((tf.ones([2, 4]), tf.ones([2], tf.int64))).repeat()

def data(mode):
    if mode == "eval":
        return {}["test_set"]
    return endless()
"""


def test_unsupported_flags_and_errors_of_a_dry_run_are_usage_errors(command, linear, tmp_path):
    (tmp_path / "trouble.py").write_text(TROUBLE)
    endless = command("train", *linear, "--input_fn=trouble:endless", "--eval", "-ebe=2")
    assert endless.code == 2
    assert endless.err.startswith("estimator-train: error: --epochs_between_evals needs an")
    command("train", *linear)
    before = files("run")
    process = start(
        tmp_path,
        *("train", *linear, "--input_fn=trouble:data", "--max_train_steps=1000000"),
        *("--dry_run", "--clean"),
    )
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (2, "")
    assert err.splitlines()[-1] == "estimator-train: error: KeyError: 'test_set'"
    assert files("run") == before


def test_a_bug_of_this_package_in_a_dry_run_is_not_a_usage_error(command, linear, monkeypatch):
    monkeypatch.delattr(Job, "make_receiver_fn")
    outcome = command("train", *linear, "--dry_run", "--export_dir=exported")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("estimator-train: error: AttributeError: 'Job' object has no")


@pytest.mark.parametrize("kind", tiers.first({"model_fn"}, ["model_fn", "keras"]))
def test_a_dry_run_prints_its_results_and_leaves_no_files(command, linear, tmp_path, kind):
    job = linear if kind == "model_fn" else ["--preset=digits"]
    outputs = "label, probabilities" if kind == "model_fn" else "probabilities"
    before = files(tmp_path)
    every = command(
        *("train", *job, "--model_dir=new", "--dry_run", "--eval", "--exporters=latest,final"),
        *("--epochs_between_evals=1", "--export_dir=exported"),
    )
    assert every.code == 0, every.err
    assert every.out == (
        "train      2 steps: ok\n"
        "evaluate   1 batch: ok (accuracy, global_step, loss)\n"
        "export     latest, final: ok\n"
        f"serve      1 example: ok ({outputs})\n"
        "model_dir  new was not changed\n"
    )
    assert [path for path in files(tmp_path) if "__pycache__" not in path] == before


@pytest.mark.parametrize(
    ("workers", "replicas", "last_step"),
    [(1, 1, 10), (1, 2, 5), (2, 2, 10), (3, 1, 30)],
    ids=["alone", "two devices", "two synchronous workers", "three asynchronous workers"],
)
def test_the_predicted_last_step_counts_all_workers(workers, replicas, last_step):
    training_input = TrainingInput(
        lambda config, input_context: tf.data.Dataset.range(10), None, lambda: None
    )
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.train.create_global_step()
        context = tf.distribute.InputContext(workers, 0, replicas)
        training_input(estimator_train.RunConfig(), context)
        session.run(tf.compat.v1.global_variables_initializer())
        assert training_input.find_last_step(session) == last_step
