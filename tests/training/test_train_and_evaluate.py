"""train_and_evaluate: its additions to the original, and its refusals."""

from __future__ import annotations

import copy
import json
import logging
import pickle
import re
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from cases_events import events
from job_cases import estimator, global_step, noting_exporter, once
from jobs import tiny_input, tiny_receiver

import estimator_train as et
from estimator_train.training.exporters import FinalExporter
from estimator_train.training.specs import EvalSpec, TrainSpec
from estimator_train.training.stopping_hooks import stop_if_lower_hook
from estimator_train.training.train_and_evaluate import train_and_evaluate
from tests.training.our_names import OURS


def evaluated_steps(model_dir: Path, directory: str = "eval") -> list[int]:
    rows = events(str(model_dir)).get(directory, [])
    return [step for step, kind, tag in rows if tag == "loss"]


def checkpoints(model_dir: Path) -> list[int]:
    paths = tf.train.get_checkpoint_state(model_dir).all_model_checkpoint_paths
    return [int(path.rpartition("-")[2]) for path in paths]


def test_every_steps_evaluates_at_its_multiples_under_default_settings(tmp_path: Path) -> None:
    job = estimator(OURS, str(tmp_path), save_checkpoints_steps=None, save_checkpoints_secs=600)
    calls: list[Any] = []
    spec = EvalSpec(once, every_steps=4, exporters=noting_exporter(OURS, calls))
    metrics, _ = train_and_evaluate(job, TrainSpec(tiny_input, max_steps=10), spec)
    assert evaluated_steps(tmp_path) == [4, 8, 10]
    assert checkpoints(tmp_path) == [0, 4, 8, 10]
    assert [(call[2]["global_step"], call[3]) for call in calls] == [
        (4, False),
        (8, False),
        (10, True),
    ]
    assert metrics["global_step"] == 10


@pytest.mark.long
def test_every_steps_counts_from_0_in_a_continued_training(tmp_path: Path) -> None:
    job = estimator(OURS, str(tmp_path), save_checkpoints_steps=5)
    job.train(tiny_input, max_steps=3)
    train_and_evaluate(job, TrainSpec(tiny_input, max_steps=12), EvalSpec(once, every_steps=4))
    assert evaluated_steps(tmp_path) == [4, 8, 12]


@pytest.mark.long
def test_a_saver_of_the_caller_saves_at_every_steps(tmp_path: Path) -> None:
    job = estimator(OURS, str(tmp_path))
    saver = et.CheckpointSaverHook(str(tmp_path), save_steps=100)
    train = TrainSpec(tiny_input, max_steps=5, hooks=[saver])
    train_and_evaluate(job, train, EvalSpec(once, every_steps=2))
    assert evaluated_steps(tmp_path) == [2, 4, 5]
    assert checkpoints(tmp_path) == [0, 2, 4, 5]


def test_several_evaluations_are_kept_apart_by_name(tmp_path: Path) -> None:
    calls: list[Any] = []
    specs = [
        EvalSpec(once, throttle_secs=0, exporters=noting_exporter(OURS, calls, "a", "made a")),
        EvalSpec(lambda: once().take(1), name="first", every_steps=2),
        EvalSpec(once, name="rare", throttle_secs=600, steps=1),
    ]
    job = estimator(OURS, str(tmp_path))
    metrics, exports = train_and_evaluate(job, TrainSpec(tiny_input, max_steps=7), specs)
    assert evaluated_steps(tmp_path) == [2, 3, 4, 6, 7]
    assert evaluated_steps(tmp_path, "eval_first") == [2, 4, 6, 7]
    assert evaluated_steps(tmp_path, "eval_rare") == [2, 7]
    assert {name: int(found["global_step"]) for name, found in metrics.items()} == {
        None: 7,
        "first": 7,
        "rare": 7,
    }
    assert metrics["first"]["loss"] == metrics["rare"]["loss"] != metrics[None]["loss"]
    assert exports == {None: ["made a"], "first": [], "rare": []}


def test_evaluations_share_a_model_and_call_their_input_fn_once(tmp_path: Path) -> None:
    calls: list[str] = []

    def counted(name: str) -> Any:
        def input_fn() -> Any:
            calls.append(name)
            return once()

        return input_fn

    specs = [EvalSpec(counted(name), name=name, every_steps=2) for name in ("a", "b")]
    job = estimator(OURS, str(tmp_path / "job"))
    metrics, _ = train_and_evaluate(job, TrainSpec(tiny_input, max_steps=6), specs)
    assert calls == ["a", "b"]
    assert evaluated_steps(tmp_path / "job", "eval_b") == [2, 4, 6]
    fresh = estimator(OURS, str(tmp_path / "job")).evaluate(once)
    assert metrics == {"a": fresh, "b": fresh}


def test_exporters_are_called_with_bools_of_python(tmp_path: Path) -> None:
    calls: list[Any] = []
    spec = EvalSpec(once, throttle_secs=0, exporters=noting_exporter(OURS, calls))
    job = estimator(OURS, str(tmp_path))
    train_and_evaluate(job, TrainSpec(tiny_input, max_steps=4), spec)
    assert json.dumps([call[3] for call in calls]) == "[false, true]"


class _LosesSession(et.SessionRunHook):
    """Hook that loses the session once, as the end of a parameter server does."""

    def __init__(self, at_call: int) -> None:
        self._calls_left = at_call

    def before_run(self, run_context: et.SessionRunContext) -> None:
        self._calls_left -= 1
        if self._calls_left == 0:
            raise tf.errors.AbortedError(None, None, "lost")


def test_a_session_that_recovers_does_not_repeat_the_evaluation(tmp_path: Path) -> None:
    calls: list[Any] = []
    spec = EvalSpec(once, throttle_secs=0, exporters=noting_exporter(OURS, calls))
    job = estimator(OURS, str(tmp_path))
    train = TrainSpec(tiny_input, max_steps=7, hooks=[_LosesSession(at_call=5)])
    train_and_evaluate(job, train, spec)
    steps = [int(call[2]["global_step"]) for call in calls]
    assert steps == [3, 6, 7]
    assert evaluated_steps(tmp_path) == steps


def test_the_end_of_the_input_is_a_final_export(tmp_path: Path) -> None:
    calls: list[Any] = []
    exporters = [noting_exporter(OURS, calls), FinalExporter("final", tiny_receiver(OURS))]
    spec = EvalSpec(once, throttle_secs=0, exporters=exporters)
    job = estimator(OURS, str(tmp_path))
    _, (_, final) = train_and_evaluate(job, TrainSpec(lambda: tiny_input(repeat=2)), spec)
    assert [(call[2]["global_step"], call[3]) for call in calls] == [
        (3, False),
        (4, True),
    ]
    assert tf.compat.v1.saved_model.contains_saved_model(final.decode())


def test_max_time_ends_training_with_an_evaluation_and_export(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[Any] = []
    spec = EvalSpec(once, exporters=noting_exporter(OURS, calls))
    job = estimator(OURS, str(tmp_path), save_checkpoints_steps=10**6)
    with caplog.at_level(logging.INFO):
        metrics, _ = train_and_evaluate(job, TrainSpec(tiny_input, max_time=0.5), spec)
    assert "Stopping training: max_time of 0.5 seconds is over." in caplog.messages
    assert metrics["global_step"] == global_step(job) > 0
    assert [call[3] for call in calls] == [True]


def test_a_job_that_has_ended_returns_the_recorded_metrics_of_each_evaluation(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    train = TrainSpec(tiny_input, max_steps=4)
    metrics, _ = train_and_evaluate(estimator(OURS, str(tmp_path)), train, EvalSpec(once))
    specs = [EvalSpec(once), EvalSpec(once, name="other")]
    caplog.clear()
    with caplog.at_level(logging.INFO):
        again = train_and_evaluate(estimator(OURS, str(tmp_path)), train, specs)
    assert again == ({None: metrics, "other": None}, {None: None, "other": None})
    said = "Training had ended: the metrics are those that history.jsonl has."
    assert caplog.messages.count(said) == 1
    assert not any("Calling model_fn" in message for message in caplog.messages)


@pytest.mark.long
def test_a_job_that_failed_after_its_last_step_gets_its_last_evaluation(tmp_path: Path) -> None:
    class Fails(OURS.estimator.Exporter):
        name = "fails"

        def export(self, *args: Any, **kwargs: Any) -> None:
            raise RuntimeError("the disk is full")

    train = TrainSpec(tiny_input, max_steps=4)
    job = estimator(OURS, str(tmp_path), save_checkpoints_steps=100)
    with pytest.raises(RuntimeError, match="the disk is full"):
        train_and_evaluate(job, train, EvalSpec(once, exporters=Fails()))
    calls: list[Any] = []
    spec = EvalSpec(once, exporters=noting_exporter(OURS, calls, result="made"))
    metrics, exports = train_and_evaluate(estimator(OURS, str(tmp_path)), train, spec)
    assert (metrics["global_step"], exports, calls[0][3]) == (4, ["made"], True)
    again, no_exports = train_and_evaluate(estimator(OURS, str(tmp_path)), train, spec)
    assert (again, no_exports, len(calls)) == (metrics, None, 1)
    assert not list(tmp_path.glob("*unfinished*"))


def test_an_evaluation_without_the_awaited_metric_raises_an_error(
    tmp_path: Path,
) -> None:
    job = estimator(OURS, str(tmp_path))
    train = TrainSpec(tiny_input, max_steps=30, hooks=[stop_if_lower_hook(job, "auc", 0.1)])
    with pytest.raises(ValueError, match=r"waits for the metric 'auc', .* they have .*'mae'"):
        train_and_evaluate(job, train, EvalSpec(once, throttle_secs=0))
    assert global_step(job) == 3


def test_an_evaluation_in_another_directory_than_awaited_logs_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    job = estimator(OURS, str(tmp_path))
    train = TrainSpec(tiny_input, max_steps=30, hooks=[stop_if_lower_hook(job, "mae", 0.1)])
    train_and_evaluate(job, train, EvalSpec(once, throttle_secs=0, name="other"))
    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    (said,) = (line for line in told if "Early stopping waits" in line)
    assert re.search(r"'mae' in .*eval, where no .* go to \['.*eval_other'\]", said)
    assert global_step(job) == 30


def test_an_awaited_metric_that_is_missing_at_the_end_logs_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    job = estimator(OURS, str(tmp_path), save_checkpoints_steps=100)
    train = TrainSpec(tiny_input, max_steps=4, hooks=[stop_if_lower_hook(job, "auc", 0.1)])
    with caplog.at_level(logging.WARNING):
        metrics, _ = train_and_evaluate(job, train, EvalSpec(once))
    assert metrics["global_step"] == 4
    assert "waits for the metric 'auc'" in caplog.text


def test_names_of_evaluations_must_differ(tmp_path: Path) -> None:
    specs = [EvalSpec(once, name="a"), EvalSpec(once, name="a")]
    with pytest.raises(ValueError, match=r"EvalSpecs must have unique names.*\['a', 'a'\]"):
        train_and_evaluate(estimator(OURS, str(tmp_path)), TrainSpec(tiny_input, 1), specs)


def test_names_of_exporters_must_differ_across_evaluations(tmp_path: Path) -> None:
    specs = [
        EvalSpec(once, name=name, exporters=noting_exporter(OURS, [], "same")) for name in "ab"
    ]
    with pytest.raises(ValueError, match=r"must have unique names.*\['same', 'same'\]"):
        train_and_evaluate(estimator(OURS, str(tmp_path)), TrainSpec(tiny_input, 1), specs)


@pytest.mark.parametrize("wrong", [[], [3], "ab", None])
def test_an_eval_spec_of_a_wrong_type_raises_an_error(tmp_path: Path, wrong: Any) -> None:
    with pytest.raises(TypeError, match="`eval_spec` must have type `tf.estimator.EvalSpec`"):
        train_and_evaluate(estimator(OURS, str(tmp_path)), TrainSpec(tiny_input, 1), wrong)


def test_an_unknown_role_in_a_cluster_raises_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tf_config = {"cluster": {"chief": ["a:1"], "odd": ["b:1"]}, "task": {"type": "odd", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(tf_config))
    with pytest.raises(ValueError, match="Task type odd is not supported"):
        train_and_evaluate(estimator(OURS, str(tmp_path)), TrainSpec(tiny_input, 1), EvalSpec(once))


@pytest.mark.parametrize(
    "through",
    [
        copy.copy,
        lambda spec: pickle.loads(pickle.dumps(spec)),
        lambda spec: spec._replace(input_fn=tiny_input),
    ],
)
def test_specs_can_be_copied(through: Any) -> None:
    for spec in (
        TrainSpec(tiny_input, 3, max_time=5.0),
        EvalSpec(tiny_input, 3, "name", every_steps=2),
    ):
        assert through(spec) == spec
        assert type(through(spec)) is type(spec)
        assert vars(through(spec)) == vars(spec)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: TrainSpec(once, max_time=0), "Must specify max_time > 0, given: 0"),
        (lambda: EvalSpec(once, every_steps=-1), "Must specify every_steps > 0, given: -1"),
    ],
)
def test_additional_settings_out_of_range_raise_an_error(make: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        make()


def test_exporters_may_come_from_a_generator() -> None:
    spec = EvalSpec(once, exporters=(noting_exporter(OURS, [], name) for name in "ab"))
    assert [exporter.name for exporter in spec.exporters] == ["a", "b"]


def test_the_last_checkpoint_of_an_ended_input_is_exported_as_final(tmp_path: Path) -> None:
    calls: list[Any] = []
    spec = EvalSpec(once, throttle_secs=0, exporters=noting_exporter(OURS, calls))
    job = estimator(OURS, str(tmp_path), save_checkpoints_steps=2)
    train_and_evaluate(job, TrainSpec(lambda: tiny_input(repeat=1)), spec)
    assert [(call[2]["global_step"], call[3]) for call in calls] == [(2, False), (2, True)]
    assert evaluated_steps(tmp_path) == [2]


def test_steps_between_evaluations_run_in_one_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    job = estimator(OURS, str(tmp_path), save_checkpoints_steps=1000, log_step_count_steps=1000)
    hook = stop_if_lower_hook(job, "mae", 0.1, run_every_secs=None, run_every_steps=50)
    train = TrainSpec(tiny_input, max_steps=100, hooks=[hook], max_time=1000)
    with caplog.at_level(logging.INFO):
        train_and_evaluate(job, train, EvalSpec(once, every_steps=50))
    assert "training steps run in one session call" in caplog.text
    assert evaluated_steps(tmp_path) == [50, 51]
    assert global_step(job) == 51  # The hook looks after steps 1, 51, 101 ...


def test_a_step_is_saved_once_and_the_settings_of_the_config_hold(tmp_path: Path) -> None:
    saved: list[int] = []

    class Noting(tf.compat.v1.train.CheckpointSaverListener):
        def after_save(self, session: Any, global_step_value: int) -> None:
            saved.append(int(global_step_value))

    job = estimator(OURS, str(tmp_path), save_checkpoints_steps=3)
    train = TrainSpec(tiny_input, max_steps=8, saving_listeners=[Noting()])
    train_and_evaluate(job, train, EvalSpec(once, every_steps=2))
    assert saved == [0, 2, 3, 4, 6, 8]


def test_evaluate_gets_the_input_fn_of_the_eval_spec(tmp_path: Path) -> None:
    given = []

    class Subclass(et.Estimator):
        def _assert_members_are_not_overridden(self) -> None:
            pass

        def evaluate(self, input_fn: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
            given.append(input_fn)
            assert callable(input_fn)
            return super().evaluate(input_fn, *args, **kwargs)

    plain = estimator(OURS, str(tmp_path / "job"), save_checkpoints_steps=2)
    spec = EvalSpec(tiny_input, steps=1, throttle_secs=0)
    subclass = Subclass(plain._model_fn, config=plain.config)
    train_and_evaluate(subclass, TrainSpec(tiny_input, max_steps=4), spec)
    assert given == [tiny_input, tiny_input]
    assert all(each is spec.input_fn for each in given)
