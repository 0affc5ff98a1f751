"""Odd values for export outputs and scaffolds, as a model function gives them."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from breadth.forms import Delegate, _subclass_of
from breadth.odd import Names, odd
from breadth.odd_exports import signatures
from file_lists import list_files
from jobs import Api, tiny_estimator, tiny_parts, tiny_receiver, trained

tf1 = tf.compat.v1


def _with_spec(spec: Callable[[Api, str, dict[str, Any]], Any]) -> Any:
    """Returns a question: the outcome of an export; `spec` gives fields of its EstimatorSpec."""

    def ask(api: Api, directory: str) -> Any:
        def model_fn(features: Any, labels: Any, mode: str) -> Any:
            parts = tiny_parts(features, labels)
            if mode == "infer":
                parts |= spec(api, mode, parts)
            return api.estimator.EstimatorSpec(mode, **parts)

        trained(api, f"{directory}/model")
        estimator = tiny_estimator(api, f"{directory}/model", model_fn=model_fn)
        path = estimator.export_saved_model(f"{directory}/export", tiny_receiver(api))
        return [list_files(path), signatures(path)]

    return ask


def _outputs(make: Callable[[Any, Any], Any]) -> Any:
    """Registers a question about outputs: a function of (module of export outputs, score)."""
    return _with_spec(
        lambda api, mode, parts: {
            "export_outputs": make(api.estimator.export, parts["predictions"]["score"])
        }
    )


def _own_output(export: Any, score: Any) -> Any:
    class Output(export.ExportOutput):
        """An output of a program's own."""

        def as_signature_def(self, receiver_tensors: Any) -> Any:
            build = tf1.saved_model.signature_def_utils.predict_signature_def
            return build(receiver_tensors, {"own": score})

    return Output()


def _duck_output(score: Any) -> Any:
    build = tf1.saved_model.signature_def_utils.predict_signature_def
    return types.SimpleNamespace(as_signature_def=lambda tensors: build(tensors, {"own": score}))


odd(
    "export_outputs",
    {
        "none of them": _outputs(lambda e, s: {}),
        "a list": _outputs(lambda e, s: [e.PredictOutput({"s": s})]),
        "by a number": _outputs(lambda e, s: {3: e.PredictOutput({"s": s})}),
        "by None": _outputs(lambda e, s: {None: e.PredictOutput({"s": s})}),
        "by bytes": _outputs(lambda e, s: {b"a": e.PredictOutput({"s": s})}),
        "by no name": _outputs(lambda e, s: {"": e.PredictOutput({"s": s})}),
        "two, none of them the default": _outputs(
            lambda e, s: {"a": e.PredictOutput({"s": s}), "b": e.RegressionOutput(s)}
        ),
        "one, not the default": _outputs(lambda e, s: {"a": e.RegressionOutput(s)}),
        "of an own class": _outputs(lambda e, s: {"a": _own_output(e, s)}),
        "of no class": _outputs(lambda e, s: {"a": _duck_output(s)}),
        "that delegates": _outputs(lambda e, s: {"a": Delegate(e.PredictOutput({"s": s}))}),
        "subclass": _outputs(lambda e, s: {"a": _subclass_of(e.PredictOutput({"s": s}))}),
        "of a tensor": _outputs(lambda e, s: {"a": e.PredictOutput(s)}),
        "of a list": _outputs(lambda e, s: {"a": e.PredictOutput([s])}),
        "of a number": _outputs(lambda e, s: {"a": e.PredictOutput({"s": 3.0})}),
        "of a variable": _outputs(
            lambda e, s: (
                {"a": e.PredictOutput({"s": tf1.get_variable("weight", [2, 1])})}
                if False
                else {"a": e.PredictOutput({"s": tf1.trainable_variables()[0]})}
            )
        ),
        "of sparse": _outputs(
            lambda e, s: {"a": e.PredictOutput({"s": tf.sparse.from_dense(s[:, None])})}
        ),
        "of ragged": _outputs(
            lambda e, s: {"a": e.PredictOutput({"s": tf.RaggedTensor.from_tensor(s[:, None])})}
        ),
        "of names that are tuples": _outputs(lambda e, s: {"a": e.PredictOutput({("a", "b"): s})}),
        "of names that are numbers": _outputs(lambda e, s: {"a": e.PredictOutput({3: s})}),
        "regression of integers": _outputs(
            lambda e, s: {"a": e.RegressionOutput(tf.cast(s, tf.int64))}
        ),
        "regression of strings": _outputs(lambda e, s: {"a": e.RegressionOutput(tf.as_string(s))}),
        "classes of numbers": _outputs(
            lambda e, s: {"a": e.ClassificationOutput(classes=tf.cast(s, tf.int64))}
        ),
        "scores alone": _outputs(lambda e, s: {"a": e.ClassificationOutput(scores=s[:, None])}),
        "scores of integers": _outputs(
            lambda e, s: {"a": e.ClassificationOutput(scores=tf.cast(s, tf.int32))}
        ),
        "neither": _outputs(lambda e, s: {"a": e.ClassificationOutput()}),
        "own mapping": _outputs(lambda e, s: Names({"a": e.PredictOutput({"s": s})})),
    },
    ("v2",),
)


class Saver:
    """Saver that counts its restores."""

    def __init__(self) -> None:
        self._saver = tf1.train.Saver(sharded=True)
        self.restored = 0

    def restore(self, *args: Any, **kwargs: Any) -> None:
        self.restored += 1
        self._saver.restore(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_saver" not in vars(self):
            raise AttributeError(name)
        return getattr(self._saver, name)


def _scaffold(**arguments: Callable[[], Any]) -> Any:
    return _with_spec(
        lambda api, mode, parts: {
            "scaffold": tf1.train.Scaffold(**{name: make() for name, make in arguments.items()})
        }
    )


odd(
    "export.scaffold",
    {
        "a saver": _scaffold(saver=lambda: tf1.train.Saver()),
        "a saver that delegates": _scaffold(saver=Saver),
        "a saver that delegates all": _scaffold(saver=lambda: Delegate(tf1.train.Saver())),
        "a saver of some": _scaffold(saver=lambda: tf1.train.Saver(tf1.trainable_variables())),
        "a group": _scaffold(local_init_op=lambda: tf.no_op()),
        "a tensor": _scaffold(local_init_op=lambda: tf.constant(1)),
        "a function": _scaffold(init_fn=lambda: lambda scaffold, session: 1 / 0),
        "an operation": _scaffold(init_op=lambda: tf1.global_variables_initializer()),
    },
    ("v2",),
)
