"""Training in a separate process: signals, hangs, and a second process in its model_dir.

These tests cover `lifecycle/step_timeout.py`.
"""

import os
import re
import signal
import subprocess
import threading
from pathlib import Path

import forked
import pytest
import tensorflow as tf
from processes import run_process

import estimator_train as est

JOB = Path(__file__).with_name("survival_job.py")
LIMIT_SECS = 300


class Job:
    """A training process; it is killed with the test, or after `LIMIT_SECS`."""

    def __init__(self, model_dir, **settings):
        pairs = [f"{key}={value}" for key, value in settings.items()]
        self.process = subprocess.Popen(
            forked.python(JOB, model_dir, *pairs),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=JOB.parents[3],
        )
        self.limit = threading.Timer(LIMIT_SECS, self.process.kill)
        self.limit.start()

    def wait_for(self, line, count=1):
        for _ in range(count):
            for found in self.process.stdout:
                if found.strip() == line:
                    break
            else:
                pytest.fail(f"ended before {line}: {self.end()[2][-2000:]}")

    def end(self):
        out = self.process.stdout.read()  # Including the text that was read after the last line.
        self.process.wait(60)
        return self.process.returncode, out, self.process.stderr.read()


@pytest.fixture
def start(tmp_path):
    jobs = []

    def start_job(**settings):
        jobs.append(Job(tmp_path / "m", **settings))
        return jobs[-1]

    yield start_job
    for job in jobs:
        job.limit.cancel()
        job.process.kill()
        job.process.communicate()


def saved_step(model_dir):
    path = tf.train.latest_checkpoint(str(model_dir))
    return int(path.rpartition("-")[2]), int(tf.train.load_variable(path, "global_step"))


def test_a_signal_saves_and_the_next_start_continues(start, tmp_path):
    job = start()
    job.wait_for("step", 7)
    job.process.send_signal(signal.SIGTERM)
    code, out, err = job.end()
    assert code == 143
    assert "done" not in out
    assert "Traceback" not in err
    step, saved = saved_step(tmp_path / "m")
    assert step == saved >= 7
    ended = f"ended by a signal; saved {tmp_path}/m/model.ckpt-{saved}; exit code 143."
    assert f"estimator_train: {ended} Run the same command again to continue.\n" in err
    assert saved == 7 + out.count("step")
    again = start(max_steps=saved + 3)
    code, out, _ = again.end()
    assert (code, out.count("step")) == (0, 3)
    assert saved_step(tmp_path / "m") == (saved + 3, saved + 3)


def test_a_signal_in_a_loop_of_steps_saves(start, tmp_path):
    job = start(loops=1)
    job.wait_for("ready")
    while not (tmp_path / "m" / "checkpoint").exists():
        assert job.process.poll() is None
    job.process.send_signal(signal.SIGTERM)
    code, _, err = job.end()
    assert code == 143, err
    step, saved = saved_step(tmp_path / "m")
    assert step == saved


def test_a_second_signal_ends_the_job_immediately(start):
    job = start(step_secs=600)
    job.wait_for("step")
    job.process.send_signal(signal.SIGTERM)
    job.process.send_signal(signal.SIGTERM)
    # Signals that come together may be heard as one.
    for _ in range(600):
        try:
            code = job.process.wait(0.1)
            break
        except subprocess.TimeoutExpired:
            job.process.send_signal(signal.SIGTERM)
    assert code == 143


def test_the_grace_period_limits_the_save_after_a_signal(start):
    job = start(step_secs=600, grace_secs=0.3)
    job.wait_for("step")
    job.process.send_signal(signal.SIGTERM)
    code, _, err = job.end()
    assert code == 143
    assert "not saved within 0.3 s of the signal" in err


def test_a_hanging_step_prints_the_stacks_of_threads(start):
    job = start(hang=1, timeout=5, preemption=0)
    code, out, err = job.end()
    assert code == 142
    assert out.count("step") == 5
    assert "a step took longer than 5 s" in err
    assert "Thread" in err
    assert "in wait" in err


FAILS_AND_GOES_ON = """
import sys, threading, time
import tensorflow as tf
import estimator_train as est
from survival_job import Say, model_fn

def damaged():
    x = tf.zeros([8, 3])
    parts = tf.data.Dataset.range(5).map(lambda n: x / tf.cast(4 - n, tf.float32))
    data = parts.map(lambda x: tf.debugging.check_numerics(x, ""))
    return data.map(lambda x: (x, x[:, :1]))

config = est.RunConfig(sys.argv[1], step_timeout_secs=3)
try:
    est.Estimator(model_fn, config=config).train(damaged, [Say()])
except tf.errors.InvalidArgumentError:
    time.sleep(5)
    assert "step-timeout" not in [thread.name for thread in threading.enumerate()]
    print("goes on")
"""


def test_the_limit_of_a_step_ends_with_a_failed_step(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(JOB.parent)}
    arguments = forked.python("-c", FAILS_AND_GOES_ON, tmp_path / "m")
    done = run_process(arguments, env=environment, timeout=LIMIT_SECS)
    assert done.stdout.endswith("step\ngoes on\n")


@pytest.mark.parametrize("sync", [0, 1])
def test_disk_that_fills_stops_training_with_one_line(start, tmp_path, sync):
    code, _, err = start(fill=1, every=20, sync=sync).end()
    assert code == 1
    (line,) = [line for line in err.splitlines() if "CheckpointWriteError: " in line]
    assert "step 20 could not be written" in line
    assert "File too large. The last one is" in line
    assert err.count("history.jsonl could not be written") == 1
    assert not list((tmp_path / "m").glob("model.ckpt-20*"))
    assert saved_step(tmp_path / "m") == (0, 0)
    code, _, err = start(max_steps=5).end()
    assert code == 0, err
    assert saved_step(tmp_path / "m") == (5, 5)


def test_directory_that_vanishes_stops_training_and_is_named(start, tmp_path):
    code, out, err = start(vanish=1, every=20).end()
    assert code == 1
    assert "done" not in out
    assert err.splitlines()[-1].startswith("ValueError: Parent directory of")
    assert str(tmp_path / "m") in err.splitlines()[-1]


def test_a_model_dir_in_use_is_refused_until_its_job_ends(start, tmp_path):
    job = start()
    job.wait_for("step")
    code, _, err = start(max_steps=5).end()
    assert code == 1
    holder = re.search(r"in use by another job \(process (\d+) on", err)
    os.kill(int(holder[1]), signal.SIGKILL)
    assert job.process.wait(60) == -signal.SIGKILL
    code, _, err = start(max_steps=5).end()
    assert code == 0, err
    assert not (tmp_path / "m" / ".training").exists()


def test_a_second_trainer_logs_a_warning_and_trains_unless_it_is_refused(
    model_fn, input_fn, tmp_path, caplog
):
    class TrainsAnother(est.SessionRunHook):
        def __init__(self, config):
            self.config = config

        def after_run(self, run_context, run_values):
            est.Estimator(model_fn, tmp_path, self.config).train(input_fn, steps=1)

    def train(allowed):
        config = est.RunConfig(allow_shared_model_dir=allowed)
        hook = TrainsAnother(config)
        est.Estimator(model_fn, tmp_path, config).train(input_fn, steps=1, hooks=[hook])
        return [line for line in caplog.messages if "in use by another job" in line]

    assert train(True) == []
    (line,) = train(None)
    assert f"another job (process {os.getpid()} on" in line
    assert "Both train on" in line
    with pytest.raises(ValueError, match=f"in use by another job .process {os.getpid()}"):
        train(False)
