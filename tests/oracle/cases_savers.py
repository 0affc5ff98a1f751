"""Behaviours of savers and listeners of the user's own, and of checkpoints that do not fit."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf
from cases import case
from cases_keras_exports import served
from jobs import Api, tiny_estimator, tiny_input, tiny_model_fn, tiny_parts, tiny_receiver

tf1 = tf.compat.v1


class Delegating:
    """Passes everything on to a Saver; its class has no methods of a Saver."""

    def __init__(self, saver: Any, asked: list[str]) -> None:
        self._saver, self._asked = saver, asked

    def __getattr__(self, name: str) -> Any:
        if name in ("save", "restore"):
            self._asked.append(name)
        return getattr(self._saver, name)


class Noting:
    """Has its own methods, and the definition that a session needs."""

    def __init__(self, saver: Any, asked: list[str]) -> None:
        self._saver, self._asked = saver, asked
        self.saver_def = saver.saver_def

    def __getattr__(self, name: str) -> Any:
        return getattr(self._saver, name)

    def save(self, *args: Any, **kwargs: Any) -> Any:
        self._asked.append("save")
        return self._saver.save(*args, **kwargs)

    def restore(self, *args: Any, **kwargs: Any) -> Any:
        self._asked.append("restore")
        return self._saver.restore(*args, **kwargs)


def _with_saver(api: Api, make: Callable[[], Any]) -> Callable[..., Any]:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        parts = tiny_parts(features, labels)
        return api.estimator.EstimatorSpec(mode, scaffold=tf1.train.Scaffold(saver=make()), **parts)

    return model_fn


def _of_saver(name: str, kind: type) -> None:
    def run(api: Api, model_dir: str) -> Any:
        asked: list[str] = []
        model_fn = _with_saver(api, lambda: kind(tf1.train.Saver(), asked))
        config = api.estimator.RunConfig(save_checkpoints_steps=2)
        estimator = tiny_estimator(api, model_dir, model_fn=model_fn, config=config)
        found: dict[str, Any] = {}
        calls: dict[str, Callable[[], Any]] = {
            "train": lambda: estimator.train(tiny_input, steps=3) and None,
            "train again": lambda: estimator.train(tiny_input, steps=1) and None,
            "evaluate": lambda: float(estimator.evaluate(lambda: tiny_input(repeat=1))["loss"]),
            "predict": lambda: len(list(estimator.predict(lambda: tiny_input(repeat=1)))),
            "export": lambda: served(
                estimator.export_saved_model(model_dir + "/export", tiny_receiver(api))
            ),
        }
        for verb, call in calls.items():
            asked.clear()
            result = call()
            found[verb] = [result, sorted(set(asked))]
        found["files"] = sorted(n for n in os.listdir(model_dir) if n.endswith(".index"))
        return found

    run.__name__ = f"saver_that_{name}"
    case(run)


_of_saver("delegates", Delegating)
_of_saver("has_its_own_methods", Noting)


@case
def saver_that_exchanges_names(api: Api, model_dir: str) -> Any:
    """Returns the graph's variables have the names that others have in the checkpoint."""

    def model_fn(first: str, second: str) -> Callable[..., Any]:
        def build(features: Any, labels: Any, mode: str) -> Any:
            short = tf1.get_variable("short", [2], initializer=tf1.ones_initializer())
            long = tf1.get_variable("long", [3], initializer=tf1.ones_initializer())
            step = tf1.train.get_global_step()
            saver = tf1.train.Saver({first: short, second: long, "global_step": step})
            return api.estimator.EstimatorSpec(
                mode,
                loss=tf.reduce_sum(short) + tf.reduce_sum(long),
                train_op=tf.group(short.assign_add([1.0, 1.0]), step.assign_add(1)),
                scaffold=tf1.train.Scaffold(saver=saver),
            )

        return build

    tiny_estimator(api, model_dir, model_fn=model_fn("long", "short")).train(tiny_input, steps=2)
    estimator = tiny_estimator(api, model_dir, model_fn=model_fn("long", "short"))
    return float(estimator.evaluate(tiny_input, steps=1)["loss"])


@case
def saver_that_is_a_checkpoint(api: Api, model_dir: str) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        parts = tiny_parts(features, labels)
        weight = next(v for v in tf1.global_variables() if v.op.name == "weight")
        saver = tf.train.Checkpoint(inner=weight, step=tf1.train.get_global_step())
        return api.estimator.EstimatorSpec(mode, scaffold=tf1.train.Scaffold(saver=saver), **parts)

    estimator = tiny_estimator(api, model_dir, model_fn=model_fn)
    estimator.train(tiny_input, steps=3)
    loss = float(estimator.evaluate(lambda: tiny_input(repeat=1))["loss"])
    rows = [float(row["score"]) for row in estimator.predict(lambda: tiny_input(repeat=1))]
    path = estimator.export_saved_model(model_dir + "/export", tiny_receiver(api))
    return [loss, rows, served(path), sorted(estimator.get_variable_names())]


def _listening(name: str, make: Callable[[Callable[..., None]], Any], through_hook: bool) -> None:
    def run(api: Api, model_dir: str) -> Any:
        seen: list[Any] = []

        def note(session: Any, step: int) -> None:
            latest = tf.train.latest_checkpoint(model_dir) or "none"
            seen.append([int(step), os.path.basename(latest)])

        config = api.estimator.RunConfig(save_checkpoints_steps=2)
        estimator = tiny_estimator(api, model_dir, config=config)
        listener = make(note)
        if through_hook:
            hook = tf1.train.CheckpointSaverHook(model_dir, save_steps=2, listeners=[listener])
            estimator.train(tiny_input, steps=3, hooks=[hook])
        else:
            estimator.train(tiny_input, steps=3, saving_listeners=[listener])
        return seen

    run.__name__ = f"listener_{name}"
    case(run)


class _OwnAfterSave(tf1.train.CheckpointSaverListener):
    def __init__(self, after_save: Callable[..., None]) -> None:
        self.after_save = after_save


class _ByGetattr:
    def __init__(self, after_save: Callable[..., None]) -> None:
        self._after_save = after_save

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._after_save if name == "after_save" else lambda *args: None


class _ByGetattribute(tf1.train.CheckpointSaverListener):
    def __init__(self, after_save: Callable[..., None]) -> None:
        self.noted = after_save

    def __getattribute__(self, name: str) -> Any:
        return super().__getattribute__("noted" if name == "after_save" else name)


_listening("with_a_method_of_its_own", _OwnAfterSave, through_hook=False)
_listening("by_getattribute", _ByGetattribute, through_hook=False)
_listening("by_getattr_of_the_users_hook", _ByGetattr, through_hook=True)


@contextlib.contextmanager
def _reference_variables() -> Iterator[None]:
    resources = tf1.resource_variables_enabled()
    tf1.disable_resource_variables()
    try:
        yield
    finally:
        if resources:
            tf1.enable_resource_variables()


def _of_shape(api: Api, shape: list[int]) -> Callable[..., Any]:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weight = tf1.get_variable("weight", shape, initializer=tf1.ones_initializer())
        return api.estimator.EstimatorSpec(
            mode,
            loss=tf.reduce_sum(weight),
            train_op=tf1.train.get_global_step().assign_add(1),
            predictions=tf.reduce_sum(weight) * features["x"],
        )

    return model_fn


def _misshaped(name: str, call: Callable[[Any, Api, str], Any]) -> None:
    def run(api: Api, model_dir: str) -> Any:
        with _reference_variables():
            tiny_estimator(api, model_dir, model_fn=_of_shape(api, [2])).train(tiny_input, steps=1)
            estimator = tiny_estimator(api, model_dir, model_fn=_of_shape(api, [3]))
            try:
                call(estimator, api, model_dir)
            except tf.errors.InvalidArgumentError as error:
                return error.message.partition(" Please")[0].splitlines()[0]
        return "no error"

    run.__name__ = f"checkpoint_of_another_shape_{name}"
    case(run)


_misshaped("train", lambda estimator, api, model_dir: estimator.train(tiny_input, steps=1))
_misshaped(
    "evaluate",
    lambda estimator, api, model_dir: estimator.evaluate(lambda: tiny_input(repeat=1)),
)
_misshaped(
    "predict",
    lambda estimator, api, model_dir: list(estimator.predict(lambda: tiny_input(repeat=1))),
)
_misshaped(
    "export",
    lambda estimator, api, model_dir: estimator.export_saved_model(
        model_dir + "/export", tiny_receiver(api)
    ),
)


def _growing(api: Api, grows: str) -> Callable[..., Any]:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        if mode == grows:
            tf1.get_variable("later", initializer=1.0)
        return tiny_model_fn(api)(features, labels, mode)

    return model_fn


@case
def export_of_a_variable_that_is_not_in_the_checkpoint(api: Api, model_dir: str) -> Any:
    estimator = tiny_estimator(api, model_dir, model_fn=_growing(api, "infer"))
    estimator.train(tiny_input, steps=1)
    try:
        estimator.export_saved_model(model_dir + "/export", tiny_receiver(api))
    except ValueError as error:
        return [type(error).__name__, str(error).partition("Full Traceback:\n\n")[0]]
    return "no error"


@case
def export_of_a_variable_of_eval_that_is_not_in_the_checkpoint(api: Api, model_dir: str) -> Any:
    estimator = tiny_estimator(api, model_dir, model_fn=_growing(api, "eval"))
    estimator.train(tiny_input, steps=1)

    def supervised() -> Any:
        return api.estimator.experimental.build_raw_supervised_input_receiver_fn(
            {"x": tf1.placeholder(tf.float32, [None, 2])}, tf1.placeholder(tf.float32, [None])
        )()

    try:
        estimator.experimental_export_all_saved_models(
            model_dir + "/export", {"eval": supervised, "infer": tiny_receiver(api)}
        )
    except ValueError as error:
        return [type(error).__name__, str(error).partition("Full Traceback:\n\n")[0]]
    return "no error"
