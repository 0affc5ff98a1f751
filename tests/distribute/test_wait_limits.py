"""Who waits for another process says so and gives up; who comes first or last ends with the job.

These tests cover `together/sync_watchdog.py`.
"""

from __future__ import annotations

import json
import logging
import re
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
import tiers
from launched import numbers_after, python, run_tasks
from linear_job import input_fn, model_fn
from sleeps import replace_sleep

import estimator_train as est
from estimator_train.engine.together import server
from estimator_train.engine.together.ps_server import WaitForPsCreator
from estimator_train.launcher.network import find_free_addresses
from estimator_train.lifecycle import limits
from estimator_train.training import evaluator, train_and_evaluate

EVALUATOR = {"cluster": {"chief": ["127.0.0.1:1"]}, "task": {"type": "evaluator", "index": 0}}


def test_a_wait_is_logged_and_ends_at_its_limit(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert limits.SAY_EVERY_SECS == 30
    monkeypatch.setattr(limits, "SAY_EVERY_SECS", 0)
    caplog.set_level(logging.WARNING, logger="tensorflow")  # A program need not ask to be told.
    (address,) = find_free_addresses(1)
    with pytest.raises(tf.errors.DeadlineExceededError, match="session_creation_timeout_secs"):
        server.wait_until_reachable({"ps:0": address}, 2.0)
    text = rf"Waiting for ps:0 at {address} to start, for \d s now; giving up in"
    assert re.search(text, caplog.text)


def test_a_stopped_server_is_reachable_and_does_not_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "_CONNECT_SECS", 60.0)  # This machine may be busy.
    server_of_its_own = tf.distribute.Server.create_local_server()
    address = server_of_its_own.target.removeprefix("grpc://")
    assert server.is_reachable(address)
    assert server.answers(address)
    monkeypatch.undo()
    # As of a stopped process, the system takes the connection and nobody reads it.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        assert server.is_reachable(address)
        assert not server.answers(address)
    assert not server.answers(address)


def test_a_session_that_cannot_be_closed_is_a_logged_wait_with_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "SAY_EVERY_SECS", 0)
    logged = threading.Event()

    def note(record: logging.LogRecord) -> bool:
        if re.match(r"Waiting for ps:0 to answer as a session is closed, ", record.getMessage()):
            logged.set()
        return True

    class Session(tf.compat.v1.Session):
        def close(self) -> None:
            assert logged.wait(60)  # As TensorFlow waits for a parameter server that was killed.
            super().close()

    class Creator(tf.compat.v1.train.SessionCreator):
        def create_session(self) -> tf.compat.v1.Session:
            return Session()

    with socket.create_server(("127.0.0.1", 0)) as ps:
        jobs = {"chief": ["c:1"], "ps": [f"127.0.0.1:{ps.getsockname()[1]}"]}
        place = {"cluster": jobs, "task": {"type": "chief", "index": 0}}
        monkeypatch.setenv("TF_CONFIG", json.dumps(place))
        session = WaitForPsCreator(est.RunConfig(), Creator()).create_session()
    tf.get_logger().addFilter(note)
    try:
        session.close()
    finally:
        tf.get_logger().removeFilter(note)
    assert logged.is_set()


@pytest.mark.long
def test_tasks_whose_partners_never_start_end_with_an_error(tmp_path: Path) -> None:
    chief, ps = find_free_addresses(2)
    cluster = {"chief": [chief], "ps": [ps]}
    # Each in a separate cluster of one task.
    program = python("linear_job.py", tmp_path, 10)
    lone_chief = run_tasks(cluster, ["chief:0"], program, WAIT_SECS="1")["chief:0"]
    lone_ps = run_tasks(cluster, ["ps:0"], program, WAIT_SECS="1")["ps:0"]
    assert lone_chief.code == lone_ps.code == 1
    assert f"Gave up waiting for ps:0 at {ps} to start" in lone_chief.text
    assert "Gave up waiting for chief:0 to end" in lone_ps.text


@pytest.mark.long
def test_a_job_with_more_workers_than_steps_and_an_evaluator_ends(tmp_path: Path) -> None:
    jobs = ("chief", "worker", "worker", "ps", "evaluator")
    addresses = find_free_addresses(len(jobs))
    cluster: dict[str, list[str]] = {}
    tasks = []
    for job, address in zip(jobs, addresses, strict=True):
        tasks.append(f"{job}:{len(cluster.setdefault(job, []))}")
        cluster[job].append(address)
    done = run_tasks(cluster, tasks, python("linear_job.py", tmp_path, 2))
    assert {name: one.code for name, one in done.items()} == dict.fromkeys(tasks, 0), done
    (last,) = numbers_after("step", done["chief:0"].text.splitlines())
    assert last >= 2
    assert numbers_after("evaluated", done["evaluator:0"].text.splitlines()) == [last]


@pytest.mark.long
@pytest.mark.parametrize("is_worker_too", [False, True])
def test_a_master_also_evaluates(tmp_path: Path, is_worker_too: bool) -> None:
    master, ps = find_free_addresses(2)
    # As in some TF_CONFIGs of TensorFlow 1: no process starts as worker 0.
    worker = {"worker": [master]} if is_worker_too else {}
    done = run_tasks(
        {"master": [master], "ps": [ps], **worker},
        ["ps:0", "master:0"],
        python("linear_job.py", tmp_path, 120),
    )
    assert [one.code for one in done.values()] == [0, 0], done
    assert numbers_after("evaluated", done["master:0"].text.splitlines()) == [120]
    assert list((tmp_path / "eval").glob("events.out.tfevents.*"))


def evaluated(model_dir: Path, max_steps: int | None, **settings: Any) -> Any:
    """Returns the result of an evaluator that starts now."""
    estimator = est.Estimator(model_fn, config=est.RunConfig(str(model_dir), **settings))
    evaluation = est.EvalSpec(input_fn, steps=1, start_delay_secs=0, throttle_secs=0)
    return est.train_and_evaluate(estimator, est.TrainSpec(input_fn, max_steps), evaluation)


@pytest.mark.parametrize(
    "max_steps", tiers.every(2, [3, None]), ids=["at max_steps", "at the end of the input"]
)
def test_an_evaluator_that_starts_after_the_last_checkpoint_evaluates_it_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, max_steps: int | None
) -> None:
    est.Estimator(model_fn, str(tmp_path)).train(input_fn, steps=3)
    evaluator.Finished(str(tmp_path)).write()
    monkeypatch.setattr(evaluator, "_BELIEVED_AFTER_SECS", 0)
    monkeypatch.setenv("TF_CONFIG", json.dumps(EVALUATOR))
    metrics, _ = evaluated(tmp_path, max_steps)
    assert metrics["global_step"] == 3


def test_an_evaluator_without_a_training_gives_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps(EVALUATOR))
    with pytest.raises(tf.errors.DeadlineExceededError, match="waiting for the first checkpoint"):
        evaluated(tmp_path, 3, session_creation_timeout_secs=1)


@pytest.mark.parametrize(("longest", "expected"), [(None, [10]), (7, [7]), (0, [])])
def test_asynchronous_workers_start_with_delays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, longest: int | None, expected: list[int]
) -> None:
    cluster = {"chief": ["c:1"], "worker": ["w:1", "w:2"], "ps": ["p:1"]}
    place = {"cluster": cluster, "task": {"type": "worker", "index": 1}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(place))
    config = est.RunConfig(str(tmp_path), experimental_max_worker_delay_secs=longest)
    slept: list[float] = []
    replace_sleep(monkeypatch, slept.append)
    train_and_evaluate._delay_start(est.Estimator(model_fn, config=config))
    assert slept == expected
