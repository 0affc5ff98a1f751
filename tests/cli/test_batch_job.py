"""`train` as a batch job: signals, the record of the run, reproducible runs."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import forked
import numpy as np
import pytest
import tensorflow as tf
from absl import flags as absl_flags
from processes import run_process

from estimator_train.cli import results
from estimator_train.engine.checkpoints.reading import read_global_step

ROOT = Path(__file__).parents[2]
TRAIN = ["-m", "estimator_train", "train", "--preset", "digits"]


def ended(command, **environment):
    return run_process(command, exit_code=None, cwd=ROOT, timeout=300, **environment)


def train(model_dir, *more):
    return ended(forked.python(*TRAIN, f"--model_dir={model_dir}", *more))


def weights(model_dir):
    path = tf.train.latest_checkpoint(str(model_dir))
    return {name: tf.train.load_variable(path, name) for name, _ in tf.train.list_variables(path)}


@pytest.mark.long
def test_sigterm_saves_and_records_the_run_and_the_same_command_continues(tmp_path):
    record = tmp_path / "record.json"
    flags = ["--max_train_steps=40", f"--job_summary={record}", "--eval", "--eval_every_steps=10"]
    running = subprocess.Popen(
        forked.python(*TRAIN, f"--model_dir={tmp_path / 'm'}", *flags, "--max_train_steps=100000"),
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    for line in running.stderr:
        if line.startswith("step "):
            break
    running.send_signal(signal.SIGTERM)
    _, err = running.communicate(timeout=300)
    assert running.returncode == 143, err
    found = json.loads(record.read_text())
    assert found["exit"]["code"] == 143
    assert "saved" in found["exit"]["cause"]
    assert "Traceback" not in err
    assert "Run the same command again to continue." in err
    step = int(found["checkpoint"].rpartition("-")[2])
    assert read_global_step(found["checkpoint"]) == step > 0
    done = train(tmp_path / "m", *flags, f"--max_train_steps={step + 5}")
    assert done.returncode == 0, done.stderr
    found = json.loads(record.read_text())
    assert found["exit"] == {"code": 0, "cause": "done"}
    assert found["steps"] == 5
    goodput = found["goodput"]
    assert (goodput["steps"], goodput["lost_steps"], goodput["restarts"]) == (step + 5, 0, 1)
    assert 0 < goodput["goodput"] < 1
    assert goodput["lost_secs"]["evaluation"] > 0
    assert found["metrics"]["global_step"] == step + 5
    assert found["flags"]["preset"] == "digits"
    assert found["versions"]["tensorflow"] == tf.__version__


@pytest.mark.long
def test_equal_seeds_give_equal_checkpoints_with_and_without_loops(tmp_path):
    flags = ["--seed=3", "--deterministic", "--max_train_steps=12"]
    runs = {"a": [], "b": [], "single": ["--steps_per_loop=1"]}
    for name, more in runs.items():
        done = train(tmp_path / name, *flags, *more)
        assert done.returncode == 0, done.stderr
    first = weights(tmp_path / "a")
    for name in ("b", "single"):
        other = weights(tmp_path / name)
        assert first.keys() == other.keys()
        for variable, value in first.items():
            if not isinstance(value, bytes):
                assert (value == other[variable]).all(), (name, variable)


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (["--deterministic"], "--deterministic needs --seed"),
        (["--preemption_signals=SIGFOO"], "'SIGFOO' is not a signal"),
        (["--preemption_signals=SIGKILL"], "SIGKILL cannot be caught"),
        (["--preemption_signals=SIGTERM,SIGSEGV"], "SIGSEGV is an error of the process"),
        (["--preemption_signals=SIGCHLD"], "SIGCHLD arrives when a child process ends"),
        (["--grace_secs=nan"], "--grace_secs=nan: nan is not a finite number"),
        (["--grace_secs=inf"], "--grace_secs=inf: inf is not a finite number"),
        (["--step_timeout_secs=nan"], "--step_timeout_secs=nan: nan is not a finite number"),
        (["--learning_rate=1e999"], "--learning_rate=1e999: inf is not a finite number"),
        (["--max_train_steps=9223372036854775808"], "9223372036854775808 is too large"),
        (["--steps_per_loop=0"], "must be 'auto' or a number above 0"),
        (["--job_summary=/proc/place/x.json"], "--job_summary=/proc/place/x.json"),
        (["--checkpoint_mode=never"], "checkpoint_mode"),
    ],
)
def test_wrong_flags_print_one_line(command, flags, text):
    done = command("train", "--preset=digits", "--model_dir=m", *flags)
    assert done.code == 2
    assert text in done.err
    assert done.err.count("\n") == 1


def test_a_mistake_prints_one_line_even_if_tensorflow_logs_while_loading(tmp_path):
    flags = [f"--model_dir={tmp_path}", "--checkpoint_mode=never"]
    done = ended([sys.executable, *TRAIN, *flags], TF_CPP_MIN_LOG_LEVEL="0")
    assert done.returncode == 2
    assert "checkpoint_mode" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_record_has_null_for_nan(tmp_path):
    values = absl_flags.FlagValues()
    absl_flags.DEFINE_string("job_summary", str(tmp_path / "r.json"), "", flag_values=values)
    values(["train"])
    with results.record_run(values) as record:
        record["metrics"] = {"loss": np.float32(np.nan), "auc": np.inf, "curve": np.ones(2)}
    text = (tmp_path / "r.json").read_text()
    assert "NaN" not in text
    assert json.loads(text)["metrics"] == {"loss": None, "auc": "Infinity", "curve": [1.0, 1.0]}


def test_the_record_of_a_failed_run_names_the_cause(tmp_path):
    record = tmp_path / "record.json"
    done = train(
        tmp_path / "m",
        f"--job_summary={record}",
        "--preset=fashion_mnist",
        "--data_dir=/no/such/data",
    )
    found = json.loads(record.read_text())
    assert done.returncode == found["exit"]["code"] == 2
    assert "/no/such/data" in found["exit"]["cause"]
