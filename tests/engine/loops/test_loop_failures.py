"""A loop that TensorFlow's runtime cannot run: single steps follow, with their values."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tiers
from processes import run_process

import estimator_train as est
from estimator_train.engine.loops.graph_loop import convert_failure
from estimator_train.engine.loops.prepared_calls import ChosenExecutor

v1 = tf.compat.v1
STEPS = 12
HERE = Path(__file__).parent
REASON = "InvalidArgumentError: Retval[0] does not have value"


def read_rows() -> Iterator[np.ndarray]:
    """Yields the rows of an iterator that input_fn creates: a second pass over it has no rows."""
    yield from np.random.RandomState(0).uniform(-1, 1, (4 * STEPS, 3)).astype(np.float32)


def input_fn() -> tf.data.Dataset:
    rows = read_rows()
    return tf.data.Dataset.from_generator(lambda: rows, tf.float32, [3]).batch(4)


def make_estimator(
    model_dir: Path, use_resource: bool = True, model: Callable[..., Any] | None = None, **more: Any
) -> est.Estimator:
    def model_fn(features: tf.Tensor, labels: Any, mode: str) -> est.EstimatorSpec:
        features = model(features) if model else features
        with v1.variable_scope("", use_resource=use_resource):
            weights = v1.get_variable("weights", [3, 1])
            loss = tf.reduce_mean(tf.matmul(features, weights) ** 2)
            train_op = v1.train.AdamOptimizer(0.1).minimize(loss, v1.train.get_global_step())
            metrics = {"mean": v1.metrics.mean(features)}
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)

    return est.Estimator(model_fn, model_dir, est.RunConfig(tf_random_seed=1, **more))


class SeeEveryStep(est.SessionRunHook):
    """Hook that keeps the steps out of loops."""

    def after_run(self, run_context: Any, run_values: Any) -> None:
        pass


def read_variables(estimator: est.Estimator) -> dict[str, Any]:
    return {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}


@pytest.fixture
def failing_loops(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lets the call of each loop fail after its steps; returns the numbers of steps."""
    run, calls = ChosenExecutor.run, []

    def run_and_fail(executor: ChosenExecutor, session: Any, steps: int) -> Any:
        run(executor, session, steps)
        calls.append(steps)
        raise tf.errors.InvalidArgumentError(None, None, "Retval[0] does not have value")

    monkeypatch.setattr(ChosenExecutor, "run", run_and_fail)
    return calls


def find_lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [text for text in caplog.messages if "could not run a loop" in text]


@pytest.mark.parametrize("use_resource", tiers.first({False}, [True, False]))
@pytest.mark.parametrize(
    "settings",
    tiers.first(
        [{"save_input_position": True}],
        [{}, {"save_input_position": True}, {"save_checkpoints_steps": 2}],
    ),
    ids=str,
)
def test_training_follows_in_single_steps_from_the_values_before(
    use_resource: bool,
    settings: dict[str, Any],
    failing_loops: list[int],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The failed call has trained on batches and changed variables: none of it counts."""
    caplog.set_level("INFO", "tensorflow")
    source = input_fn
    if settings.get("save_input_position"):
        rows = np.stack([*read_rows()])
        source = lambda: tf.data.Dataset.from_tensor_slices(rows).batch(4)  # noqa: E731
    loops = make_estimator(tmp_path / "loops", use_resource, **settings).train(source)
    assert len(failing_loops) == 1
    [line] = find_lines(caplog)
    assert line.endswith(
        f"one step per session call: TensorFlow could not run a loop of steps: {REASON}"
    )
    steps = make_estimator(tmp_path / "steps", use_resource).train(source, [SeeEveryStep()])
    values = read_variables(steps)
    assert values["global_step"] == STEPS
    for name, value in read_variables(loops).items():
        np.testing.assert_array_equal(value, values[name], name)


def test_a_job_learns_once_that_its_loops_fail(
    failing_loops: list[int], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Trainings and evaluations of one Estimator, with the number of steps that each has."""
    caplog.set_level("INFO", "tensorflow")
    estimator = make_estimator(tmp_path / "loops")
    estimator.train(input_fn, steps=5).train(input_fn, steps=6)
    results = [estimator.evaluate(input_fn) for _ in range(2)]
    assert estimator.get_variable_value("global_step") == 11
    assert len(failing_loops) == 2
    assert [line.split()[0] for line in find_lines(caplog)] == ["Training", "Evaluation"]
    assert results == [estimator.evaluate(input_fn, hooks=[SeeEveryStep()])] * 2


def test_without_checkpoints_training_begins_again(
    failing_loops: list[int], tmp_path: Path
) -> None:
    settings = {"save_checkpoints_steps": None, "save_checkpoints_secs": None}
    counted: list[int] = []

    class Count(est.SessionRunHook):
        def end(self, session: Any) -> None:
            counted.append(session.run(v1.train.get_global_step()))

    make_estimator(tmp_path, **settings).train(input_fn, [Count()])
    assert (counted, len(failing_loops)) == ([STEPS], 1)


def refuse_large(features: tf.Tensor) -> tf.Tensor:
    with tf.control_dependencies([tf.debugging.assert_less(features, 2.0)]):
        return tf.identity(features)


def read_bad_row(kind: str) -> Callable[[], tf.data.Dataset]:
    def make() -> Iterator[np.ndarray]:
        for number, row in enumerate(read_rows()):
            if number == 13 and kind == "generator":
                raise ValueError("row 13 has no columns")
            yield row + (7 if number == 13 and kind == "check" else 0)

    return lambda: tf.data.Dataset.from_generator(make, tf.float32, [3]).batch(4)


@pytest.mark.parametrize(
    ("kind", "message"), [("generator", "row 13 has no columns"), ("check", "assertion failed")]
)
def test_an_error_of_the_data_in_the_first_loop_ends_the_training(
    kind: str, message: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "tensorflow")
    estimator = make_estimator(tmp_path, model=refuse_large)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        estimator.train(read_bad_row(kind))
    assert not find_lines(caplog)


def test_an_error_of_another_task_keeps_its_type() -> None:
    lost = tf.errors.UnavailableError(None, None, "Socket closed")
    assert convert_failure(lost, is_remote=True) is None
    failed = convert_failure(tf.errors.InternalError(None, None, "no value"), is_remote=True)
    assert isinstance(failed, tf.errors.InternalError)
    assert "RunConfig(steps_per_loop=1)" in failed.message


@pytest.mark.long
def test_a_loop_that_tensorflow_refuses_leads_to_single_steps() -> None:
    """A graph in which oneDNN's fused convolution waits for itself."""
    environment = {**os.environ, "TF_ENABLE_ONEDNN_OPTS": "1", "PYTHONPATH": str(HERE.parents[2])}
    done = run_process([sys.executable, HERE / "refused_loop.py"], env=environment)
    answer = json.loads(done.stdout.splitlines()[-1])
    lines = [line for line in answer["lines"] if "could not run a loop" in line]
    assert [line.split()[:2] for line in lines] == [["INFO:", "Training"], ["INFO:", "Evaluation"]]
    assert all(line.endswith(REASON) for line in lines)
    assert answer["loops"] == answer["steps"]
    assert answer["loops"]["variables"]["global_step"] == 11
