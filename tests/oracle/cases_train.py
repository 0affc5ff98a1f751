"""Behaviours of Estimator.train."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from cases import case, logged_case
from jobs import Api, tiny_estimator, tiny_input, tiny_model_fn, tiny_parts, trained

tf1 = tf.compat.v1


def _files(model_dir: str) -> list[str]:
    """Returns names in model_dir, without event files and without what only ours writes."""
    names = os.listdir(model_dir) if os.path.exists(model_dir) else []
    return sorted(name for name in names if not name.startswith(("events", "history")))


def _train_case(name: str, /, **arguments: Any) -> None:
    def run(api: Api, model_dir: str) -> Any:
        estimator = tiny_estimator(api, model_dir)
        estimator.train(tiny_input, **arguments)
        return int(estimator.get_variable_value("global_step"))

    run.__name__ = f"train_with_{name}"
    case(run)


for _name, _arguments in {
    "steps_and_max_steps": {"steps": 1, "max_steps": 1},
    "zero_steps": {"steps": 0},
    "negative_steps": {"steps": -1},
    "zero_max_steps": {"max_steps": 0},
    "negative_max_steps": {"max_steps": -1},
    "hook_of_wrong_type": {"steps": 1, "hooks": [object()]},
    "hooks_not_a_list": {"steps": 1, "hooks": "hook"},
    "saving_listener_of_wrong_type": {"steps": 1, "saving_listeners": [object()]},
    "steps_as_float": {"steps": 1.0},
    "steps_as_numpy_number": {"steps": np.int64(2)},
    "max_steps_until_reached": {"max_steps": 3},
}.items():
    _train_case(_name, **_arguments)


@logged_case
def train_logs_its_progress(api: Api, model_dir: str) -> Any:
    config = api.estimator.RunConfig(log_step_count_steps=2, save_checkpoints_steps=3)
    tiny_estimator(api, model_dir, config=config).train(tiny_input, steps=7)
    return _files(model_dir)


@logged_case
def train_until_the_input_ends(api: Api, model_dir: str) -> Any:
    estimator = tiny_estimator(api, model_dir)
    same = estimator.train(lambda: tiny_input(repeat=1))
    return [same is estimator, int(estimator.get_variable_value("global_step"))]


@logged_case
def train_past_max_steps_is_skipped(api: Api, model_dir: str) -> Any:
    estimator = trained(api, model_dir, steps=3)
    estimator.train(tiny_input, max_steps=2)
    return int(estimator.get_variable_value("global_step"))


@logged_case
def train_continues_from_the_checkpoint(api: Api, model_dir: str) -> Any:
    estimator = trained(api, model_dir, steps=3)
    estimator.train(tiny_input, steps=2)
    return int(estimator.get_variable_value("global_step"))


def _continue_with_variable(api: Api, model_dir: str, name: str) -> None:
    """Trains a model whose only variable is not that of the checkpoint."""
    trained(api, model_dir)

    def model_fn(features, labels, mode):
        loss = tf.reduce_mean(tf1.get_variable(name, [3, 1]))
        train_op = tf1.train.get_global_step().assign_add(1)
        return api.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    tiny_estimator(api, model_dir, model_fn=model_fn).train(tiny_input, steps=1)


@case
def train_on_a_checkpoint_of_another_shape(api: Api, model_dir: str) -> Any:
    _continue_with_variable(api, model_dir, "weight")


@case
def train_on_a_checkpoint_without_a_variable(api: Api, model_dir: str) -> Any:
    _continue_with_variable(api, model_dir, "another")


@logged_case
def train_with_nan_loss(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode):
        parts = tiny_parts(features, labels)
        parts["loss"] = parts["loss"] * np.nan
        return api.estimator.EstimatorSpec(mode, **parts)

    tiny_estimator(api, model_dir, model_fn=model_fn).train(tiny_input, steps=2)


@case
def train_with_nan_loss_of_the_second_step(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode):
        parts = tiny_parts(features, labels)
        step = tf.cast(tf1.train.get_global_step(), tf.float32)
        parts["loss"] = tf.where(step > 0.5, np.float32("nan"), parts["loss"])
        return api.estimator.EstimatorSpec(mode, **parts)

    estimator = tiny_estimator(api, model_dir, model_fn=model_fn)
    try:
        estimator.train(tiny_input, steps=4)
    except api.estimator.NanLossDuringTrainingError as error:
        left = _files(model_dir)
        return ["NaN loss during training." in str(error), left]
    return "no error"


@case
def train_with_model_fn_that_returns_none(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode):
        return None

    tiny_estimator(api, model_dir, model_fn=model_fn).train(tiny_input, steps=1)


@case
def train_with_model_fn_that_returns_a_tuple(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode):
        return features, labels

    tiny_estimator(api, model_dir, model_fn=model_fn).train(tiny_input, steps=1)


@case
def train_with_model_fn_without_labels_but_labels_given(api: Api, model_dir: str) -> Any:
    def model_fn(features, mode):
        return features, mode

    tiny_estimator(api, model_dir, model_fn=model_fn).train(tiny_input, steps=1)


@case
def train_with_model_fn_without_labels_and_none_given(api: Api, model_dir: str) -> Any:
    def model_fn(features, mode):
        loss = tf.reduce_sum(features["x"] * tf1.get_variable("w", initializer=[1.0, 2.0]))
        return api.estimator.EstimatorSpec(
            mode, loss=loss, train_op=tf1.train.get_global_step().assign_add(1)
        )

    estimator = tiny_estimator(api, model_dir, model_fn=model_fn)
    estimator.train(lambda: tiny_input().map(lambda x, y: x), steps=1)
    return int(estimator.get_variable_value("global_step"))


@case
def train_without_moving_the_global_step(api: Api, model_dir: str) -> Any:
    seen = []

    class Stop(tf1.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            seen.append(1)
            if len(seen) == 3:
                run_context.request_stop()

    def model_fn(features, labels, mode):
        parts = tiny_parts(features, labels)
        return api.estimator.EstimatorSpec(mode, **{**parts, "train_op": tf.no_op()})

    config = api.estimator.RunConfig(log_step_count_steps=1)
    estimator = tiny_estimator(api, model_dir, model_fn=model_fn, config=config)
    estimator.train(tiny_input, steps=2, hooks=[Stop()])
    return int(estimator.get_variable_value("global_step"))


@case
def train_with_train_op_of_wrong_type(api: Api, model_dir: str) -> Any:
    estimator = tiny_estimator(api, model_dir, model_fn=tiny_model_fn(api, train_op=3))
    estimator.train(tiny_input, steps=1)


@case
def train_with_a_variable_of_another_graph(api: Api, model_dir: str) -> Any:
    with tf.Graph().as_default():
        outside = tf.constant(1.0)

    def model_fn(features, labels, mode):
        parts = tiny_parts(features, labels)
        return api.estimator.EstimatorSpec(mode, **{**parts, "loss": outside})

    tiny_estimator(api, model_dir, model_fn=model_fn).train(tiny_input, steps=1)


@case
def train_with_two_scalar_losses_as_vector(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode):
        parts = tiny_parts(features, labels)
        return api.estimator.EstimatorSpec(mode, **{**parts, "loss": tf.zeros([2])})

    tiny_estimator(api, model_dir, model_fn=model_fn).train(tiny_input, steps=1)


@case
def train_with_two_saver_hooks_keeps_the_users(api: Api, model_dir: str) -> Any:
    hook = api.estimator.CheckpointSaverHook(model_dir, save_steps=2)
    tiny_estimator(api, model_dir).train(tiny_input, steps=5, hooks=[hook])
    return sorted(name for name in os.listdir(model_dir) if name.endswith(".index"))


@case
def train_calls_saving_listeners(api: Api, model_dir: str) -> Any:
    calls = []

    class Listener(tf1.train.CheckpointSaverListener):
        def begin(self):
            calls.append("begin")

        def before_save(self, session, global_step):
            calls.append(f"before {global_step}")

        def after_save(self, session, global_step):
            calls.append(f"after {global_step}")

        def end(self, session, global_step):
            calls.append(f"end {global_step}")

    config = api.estimator.RunConfig(save_checkpoints_steps=2)
    estimator = tiny_estimator(api, model_dir, config=config)
    estimator.train(tiny_input, steps=3, saving_listeners=[Listener()])
    return calls


@case
def train_with_saving_listeners_but_no_saver(api: Api, model_dir: str) -> Any:
    config = api.estimator.RunConfig(save_checkpoints_steps=None, save_checkpoints_secs=None)
    estimator = tiny_estimator(api, model_dir, config=config)
    listener = tf1.train.CheckpointSaverListener()
    estimator.train(tiny_input, steps=1, saving_listeners=[listener])


@case
def train_without_checkpoints(api: Api, model_dir: str) -> Any:
    config = api.estimator.RunConfig(save_checkpoints_steps=None, save_checkpoints_secs=None)
    tiny_estimator(api, model_dir, config=config).train(tiny_input, steps=1)
    return _files(model_dir)


@case
def train_calls_hooks_in_order(api: Api, model_dir: str) -> Any:
    calls: list[str] = []

    class Hook(tf1.train.SessionRunHook):
        def __init__(self, name):
            self.name = name

        def begin(self):
            calls.append(f"{self.name} begin {tf1.train.get_global_step().name}")

        def after_create_session(self, session, coord):
            calls.append(f"{self.name} created")

        def before_run(self, run_context):
            tensors = run_context.original_args.fetches
            calls.append(f"{self.name} before {type(tensors).__name__}")

        def after_run(self, run_context, run_values):
            calls.append(f"{self.name} after")

        def end(self, session):
            calls.append(f"{self.name} end")

    def model_fn(features, labels, mode):
        return api.estimator.EstimatorSpec(
            mode,
            **tiny_parts(features, labels),
            training_hooks=[Hook("spec")],
            training_chief_hooks=[Hook("chief")],
        )

    estimator = tiny_estimator(api, model_dir, model_fn=model_fn)
    estimator.train(tiny_input, steps=1, hooks=[Hook("user")])
    return calls


@case
def train_stopped_by_a_hook(api: Api, model_dir: str) -> Any:
    class Stop(tf1.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            run_context.request_stop()

    estimator = tiny_estimator(api, model_dir)
    estimator.train(tiny_input, steps=5, hooks=[Stop()])
    return int(estimator.get_variable_value("global_step"))


@case
def train_with_an_error_in_the_input(api: Api, model_dir: str) -> Any:
    def input_fn():
        def bad(x, y):
            with tf.control_dependencies([tf.debugging.assert_less(y, -100.0, "bad record")]):
                return x, tf.identity(y)

        return tiny_input().map(bad)

    tiny_estimator(api, model_dir).train(input_fn, steps=1)


@case
def train_sees_the_random_seed(api: Api, model_dir: str) -> Any:
    seen = []

    def model_fn(features, labels, mode):
        seen.append(tf1.get_default_graph().seed)
        return tiny_model_fn(api)(features, labels, mode)

    config = api.estimator.RunConfig(tf_random_seed=7)
    tiny_estimator(api, model_dir, model_fn=model_fn, config=config).train(tiny_input, steps=1)
    tiny_estimator(api, model_dir + "_b", model_fn=model_fn).train(tiny_input, steps=1)
    return seen


@case
def train_uses_the_scaffold_of_the_spec(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode):
        parts = tiny_parts(features, labels)

        def init(scaffold, session):
            session.run(tf1.global_variables()[1].initializer)
            tf1.logging.info("init_fn called")

        scaffold = tf1.train.Scaffold(init_fn=init, saver=tf1.train.Saver(max_to_keep=1))
        return api.estimator.EstimatorSpec(mode, scaffold=scaffold, **parts)

    config = api.estimator.RunConfig(save_checkpoints_steps=1)
    estimator = tiny_estimator(api, model_dir, model_fn=model_fn, config=config)
    estimator.train(tiny_input, steps=3)
    return sorted(name for name in os.listdir(model_dir) if name.endswith(".index"))


@case
def get_variable_of_unknown_name(api: Api, model_dir: str) -> Any:
    trained(api, model_dir).get_variable_value("unknown")


@case
def get_variable_names_before_training(api: Api, model_dir: str) -> Any:
    tiny_estimator(api, model_dir).get_variable_names()


@case
def get_variable_value_before_training(api: Api, model_dir: str) -> Any:
    tiny_estimator(api, model_dir).get_variable_value("weight")


@case
def latest_checkpoint_before_and_after_training(api: Api, model_dir: str) -> Any:
    estimator = tiny_estimator(api, model_dir)
    before = estimator.latest_checkpoint()
    return [before, estimator.train(tiny_input, steps=2).latest_checkpoint()]


class _AfterStep(tf1.train.SessionRunHook):
    """Calls a function after each step."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._function()


@case
def hook_that_reads_the_latest_checkpoint_while_training(api: Api, model_dir: str) -> Any:
    config = api.estimator.RunConfig(save_checkpoints_steps=2)
    estimator = tiny_estimator(api, model_dir, config=config)
    seen: list[list[int]] = []

    def read() -> None:
        path = estimator.latest_checkpoint()
        result = estimator.evaluate(tiny_input, steps=1)
        value = estimator.get_variable_value("global_step")
        seen.append([int(path.rpartition("-")[2]), int(result["global_step"]), int(value)])

    estimator.train(tiny_input, steps=5, hooks=[_AfterStep(read)])
    return seen


@case
def hook_that_fails_when_the_session_opens(api: Api, model_dir: str) -> Any:
    class Failing(tf1.train.SessionRunHook):
        def after_create_session(self, session: Any, coord: Any) -> None:
            raise KeyError("no such table")

    estimator = tiny_estimator(api, model_dir)
    try:
        estimator.train(tiny_input, steps=5, hooks=[Failing()])
    except KeyError:
        return [name for name in _files(model_dir) if "." in name]
    return "no error"
