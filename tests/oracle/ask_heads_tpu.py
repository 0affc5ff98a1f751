"""Questions about `_create_tpu_estimator_spec` of heads, which programs for TPUs call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ask_heads
import tensorflow as tf
from ask_heads import SEVERAL_LABELS, SEVERAL_LOGITS, WEIGHTS

v1 = tf.compat.v1
MODES = ("train", "eval", "infer")
NAMES = ("binary", "binary weighted", "multi-class", "multi-label weighted", "regression weighted",
         "poisson", "logistic")  # fmt: skip


def questions(heads: Any, sequential: Any, optimizers: Any) -> dict[str, Callable[[], Any]]:
    """Returns all questions by name.

    Args:
        heads: Where the classes of heads are.
        sequential: The class SequentialHeadWrapper.
        optimizers: The legacy optimizers of Keras.
    """
    calls: dict[str, Callable[[], Any]] = {}
    for mode in MODES:
        for name in NAMES:
            case = ask_heads.CASES[name]
            calls[f"{name}, {mode}"] = lambda c=case, m=mode: _describe(
                c.make(heads), m, c.logits, c.labels, optimizers
            )
        calls[f"several, {mode}"] = lambda m=mode: _describe(
            ask_heads.several(heads, None), m, SEVERAL_LOGITS, SEVERAL_LABELS, optimizers
        )
        calls[f"sequential, {mode}"] = lambda m=mode: _describe(
            sequential(heads.RegressionHead(), "mask"),
            m,
            ask_heads.ONE_LOGIT.reshape(3, 3, 1),
            ask_heads.COUNTS.reshape(3, 3, 1),
            optimizers,
        )
    calls["a subclass that overrides it"] = lambda: _overridden(heads)
    return calls


def _describe(head: Any, mode: str, logits: Any, labels: Any, optimizers: Any) -> dict[str, Any]:
    weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
    training = {}
    if mode == "train":
        optimizer = optimizers.SGD(0.1)
        optimizer.iterations = v1.train.create_global_step()
        training = {"optimizer": optimizer, "trainable_variables": [weight]}
    mask = tf.constant([[True, True, False]] * 3)
    spec = head._create_tpu_estimator_spec(
        {"w": tf.constant(WEIGHTS), "mask": mask},
        mode,
        tf.constant(logits) * weight,
        labels=None if mode == "infer" else tf.nest.map_structure(tf.constant, labels),
        **training,
    )
    with v1.Session() as session:
        return _describe_spec(spec, session)


def _describe_spec(spec: Any, session: Any) -> dict[str, Any]:
    """Returns the parts of a spec, and the values of its loss and its metrics."""
    fields = spec._asdict()
    described = {name: value is not None for name, value in fields.items()}
    described |= {"mode": spec.mode, "predictions": sorted(map(str, spec.predictions))}
    if spec.export_outputs:
        described["export_outputs"] = sorted(spec.export_outputs)
    if spec.eval_metrics is not None:
        described["tensors"] = _shapes(spec.eval_metrics[1])
    plain = spec.as_estimator_spec()
    described["plain"] = type(plain).__name__
    session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
    session.run(v1.tables_initializer())
    if spec.loss is not None:
        described["loss"] = round(float(session.run(spec.loss)), 4)
    if plain.eval_metric_ops:
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        session.run([update for _, update in _pairs(plain.eval_metric_ops)])
        described["metrics"] = {
            name: round(float(session.run(value)), 4)
            for name, (value, _) in zip(
                sorted(plain.eval_metric_ops), _pairs(plain.eval_metric_ops), strict=True
            )
        }
    return described


def _pairs(operations: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Returns (value, update) of metrics in the order of their names."""
    found = []
    for name in sorted(operations):
        metric = operations[name]
        if isinstance(metric, tuple):
            found.append(metric)
        else:
            found.append((metric.result(), metric.updates))
    return found


def _shapes(tensors: Any) -> Any:
    """Returns the names of tensors with their shapes; features by their names."""
    if isinstance(tensors, dict):
        return {str(key): _shapes(value) for key, value in sorted(tensors.items())}
    return None if tensors is None else str(tensors.shape)


def _overridden(heads: Any) -> list[str]:
    """Returns the modes in which create_estimator_spec calls an overridden method."""
    called = []

    class Mine(heads.RegressionHead):  # type: ignore[misc, name-defined]
        def _create_tpu_estimator_spec(self, *args: Any, **kwargs: Any) -> Any:
            called.append(args[1] if len(args) > 1 else kwargs["mode"])
            return super()._create_tpu_estimator_spec(*args, **kwargs)

    Mine().create_estimator_spec({}, "infer", tf.constant(ask_heads.ONE_LOGIT))
    return called
