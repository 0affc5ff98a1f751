"""RunConfig: its settings, and its view of the cluster."""

from __future__ import annotations

import copy
import inspect
import json
import math
import pathlib
import pickle
import re
import sys
import types

import ask_run_config
import numpy as np
import pytest
import tensorflow as tf
from outcomes import described, outcome, recorded

from estimator_train.engine.job import make_together
from estimator_train.lifecycle.preemption import Preemption
from estimator_train.run_config import RunConfig
from estimator_train.run_config.setting_values import (
    make_default_session_config,
    merge_session_config,
)

GOLDEN = recorded("run_config")
QUESTIONS = ask_run_config.questions(RunConfig)
OWN_SETTINGS = [
    name
    for name, parameter in inspect.signature(RunConfig).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY
]


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_answers_equal_the_recorded_ones(name: str) -> None:
    """Our texts begin with those of the original and add the value that was wrong."""
    ours, theirs = outcome(QUESTIONS[name]), GOLDEN[name]
    text = ours.pop("text", "")
    for own in OWN_SETTINGS:
        text = text.replace(f", {own!r}", "")
    expected = theirs.pop("text", "")
    if sys.version_info < (3, 11):  # The text is that of Python.
        expected = re.sub(
            r"property ('\w+') of .* has no setter", r"can't set attribute \1", expected
        )
    assert text.startswith(expected)
    assert ours == theirs


def test_a_wrong_value_is_named() -> None:
    with pytest.raises(ValueError, match=r"save_summary_steps should be >= 0, got -3"):
        RunConfig(save_summary_steps=-3)
    with pytest.raises(TypeError, match=r"keep_checkpoint_max must be a number, got '5'"):
        RunConfig(keep_checkpoint_max="5")


@pytest.mark.parametrize(
    "name",
    ["save_checkpoints_secs", "keep_checkpoint_every_n_hours", "session_creation_timeout_secs"],
)
def test_nan_is_no_number_of_seconds_or_hours(name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} should be >=? 0, got nan"):
        RunConfig(**{name: math.nan})


@pytest.mark.parametrize("secs", [0, -1, math.nan])
def test_a_step_timeout_is_positive(secs: float) -> None:
    with pytest.raises(ValueError, match="step_timeout_secs should be > 0, got"):
        RunConfig(step_timeout_secs=secs)


@pytest.mark.parametrize("secs", [0, -1, math.nan, math.inf])
def test_a_grace_time_is_positive_and_finite(secs: float) -> None:
    with pytest.raises(ValueError, match="grace_secs should be > 0 and finite, got"):
        Preemption(grace_secs=secs)


@pytest.mark.parametrize("signal", [15, "TERM", "", "SIG_DFL"])
def test_a_preemption_names_signals(signal: object) -> None:
    with pytest.raises(ValueError, match="is not a signal: give names such as SIGTERM"):
        Preemption((signal,))


def test_each_setting_has_a_description_and_an_attribute() -> None:
    arguments = set(inspect.signature(RunConfig).parameters)
    described = set(re.findall(r"^  (\w+): ", inspect.getdoc(RunConfig) or "", re.MULTILINE))
    assert described - {"ValueError", "TypeError"} == arguments
    shown = {name for name, value in vars(RunConfig).items() if isinstance(value, property)}
    assert arguments <= shown


def test_model_dir_may_be_a_path() -> None:
    assert RunConfig(model_dir=pathlib.Path("a") / "b").model_dir == "a/b"


def test_seed_may_be_a_numpy_integer() -> None:
    assert RunConfig(tf_random_seed=np.int64(3)).tf_random_seed == 3


def test_replace_does_not_change_the_original() -> None:
    first = RunConfig(session_config=tf.compat.v1.ConfigProto(log_device_placement=True))
    second = first.replace(model_dir="a", save_checkpoints_steps=5)
    second.session_config.log_device_placement = False
    assert (first.model_dir, first.save_checkpoints_secs) == (None, 600)
    assert first.session_config.log_device_placement


def test_replace_keeps_the_strategy_and_a_subclass() -> None:
    class Tuned(RunConfig):
        def __init__(self, rate: float, **settings: object):
            super().__init__(**settings)
            self.rate = rate

    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    replaced = Tuned(0.5, train_distribute=strategy).replace(model_dir="a")
    assert isinstance(replaced, Tuned)
    assert replaced.rate == 0.5
    assert replaced.train_distribute is strategy


@pytest.mark.parametrize("through", [copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))])
def test_a_config_can_be_copied_and_pickled(through: object) -> None:
    config = RunConfig(model_dir="a", save_checkpoints_steps=3)
    assert ask_run_config.shown(through(config)) == ask_run_config.shown(config)


def test_experimental_distribute_gives_its_strategies() -> None:
    train, evaluate = (tf.distribute.OneDeviceStrategy("/cpu:0") for _ in range(2))
    both = types.SimpleNamespace(train_distribute=train, eval_distribute=evaluate)
    config = RunConfig(experimental_distribute=both)
    assert (config.train_distribute, config.eval_distribute) == (train, evaluate)
    with pytest.raises(ValueError, match="`experimental_distribute.train_distribute` can be"):
        RunConfig(train_distribute=train, experimental_distribute=both)


def test_a_blank_tf_config_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", " ")
    assert RunConfig().task_type == "worker"


def test_a_users_session_config_is_kept_in_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = ask_run_config.tf_configs()["worker 1"]
    monkeypatch.setenv("TF_CONFIG", json.dumps(worker))
    own = tf.compat.v1.ConfigProto()
    assert RunConfig(session_config=own).session_config is own
    assert list(RunConfig().session_config.device_filters) == [
        "/job:ps",
        "/job:worker/task:1",
    ]


def test_the_default_session_config_equals_the_recorded_one() -> None:
    theirs = GOLDEN["TF_CONFIG: chief only"]["value"]["session_config"]
    assert described(make_default_session_config(theirs["device_filters"])) == theirs


def test_a_session_config_overrides_the_defaults() -> None:
    own = tf.compat.v1.ConfigProto(log_device_placement=True, intra_op_parallelism_threads=3)
    own.graph_options.rewrite_options.meta_optimizer_iterations = 2
    merged = merge_session_config(own, ["/job:ps"])
    assert (merged.log_device_placement, merged.intra_op_parallelism_threads) == (True, 3)
    assert merged.graph_options.rewrite_options.meta_optimizer_iterations == 2
    assert merged.allow_soft_placement
    assert list(merged.device_filters) == ["/job:ps"]
    assert not own.allow_soft_placement


def test_device_filters_of_the_user_replace_those_of_the_task() -> None:
    own = tf.compat.v1.ConfigProto(device_filters=["/job:worker"])
    assert list(merge_session_config(own, ["/job:ps"]).device_filters) == ["/job:worker"]


@pytest.mark.parametrize("steps", [1, np.int64(50), "auto"])
def test_steps_per_loop_is_kept(steps: object) -> None:
    assert RunConfig(steps_per_loop=steps).steps_per_loop == steps


@pytest.mark.parametrize("steps", [0, -1, 1.5, True, "all", None])
def test_steps_per_loop_must_be_a_positive_integer_or_auto(steps: object) -> None:
    with pytest.raises(ValueError, match=f"steps_per_loop should be .* got {steps!r}"):
        RunConfig(steps_per_loop=steps)


_WITH_MASTER = {"master": ["m:1"], "worker": ["w:1", "w:2"], "ps": ["p:1"]}


@pytest.mark.parametrize(
    ("jobs", "task", "writes"),
    [
        (_WITH_MASTER, ("master", 0), False),
        (_WITH_MASTER, ("worker", 0), True),
        (_WITH_MASTER, ("worker", 1), False),
        ({"master": ["m:1"], "ps": ["p:1"]}, ("master", 0), True),
        ({"master": ["m:1"]}, ("master", 0), True),
        ({"chief": ["c:1"], "worker": ["w:1"], "ps": ["p:1"]}, ("chief", 0), True),
        ({"chief": ["c:1"], "worker": ["w:1"], "ps": ["p:1"]}, ("worker", 0), False),
    ],
)
def test_worker_0_writes_events_beside_a_master(jobs, task, writes, monkeypatch):
    """Compares with three processes of tf.estimator 2.15; a master writes only checkpoints."""
    tf_config = {"cluster": jobs, "task": {"type": task[0], "index": task[1]}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(tf_config))
    assert make_together(RunConfig()).writes_events is writes
