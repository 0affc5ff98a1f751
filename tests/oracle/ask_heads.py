"""Questions about heads: figures from fixed logits and labels, and the errors for bad input.

A question is a function without arguments that answers with plain values.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1

BATCH = 3
_SLICE = re.compile("split_logits/.*")  # a part of logits, whatever operation made it
WEIGHTS = np.array([[1.0], [2.0], [0.5], [0.0], [3.0], [1.5], [0.25], [1.0], [4.0]], np.float32)
ONE_LOGIT = np.array([[0.5], [-1.0], [2.0], [0.1], [-0.2], [3.0], [-2.5], [1.2], [0.7]], np.float32)
THREE_LOGITS = np.array(
    [
        [1.0, 2.0, 3.0], [0.5, 0.1, 1.0], [2.0, 0.3, -1.0],
        [0.2, 0.9, -0.4], [-1.0, 0.0, 1.5], [3.0, 2.5, 0.2],
        [0.0, -2.0, 1.0], [1.1, 1.2, -3.0], [0.3, 0.8, 0.6],
    ],
    np.float32,
)  # fmt: skip
BINARY = np.array([[1], [0], [0], [1], [1], [1], [0], [0], [1]], np.int64)
CLASS_IDS = np.array([[2], [0], [0], [1], [2], [1], [0], [1], [2]], np.int64)
INDICATORS = (THREE_LOGITS[:, ::-1] > 0.4).astype(np.int64)
COUNTS = np.array([[0.0], [1.0], [5.0], [2.0], [0.0], [12.0], [0.0], [3.0], [2.0]], np.float32)
NUMBERS = np.round(THREE_LOGITS * 1.3 + 0.25, 2)
NAMES = np.array([b"cat", b"dog", b"owl"], object)


class Case(NamedTuple):
    """A head and its arguments."""

    make: Callable[[Any], Any]
    logits: np.ndarray
    labels: Any  # An array, or a dict of arrays for several heads.


def _l1(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    return tf.reduce_mean(tf.abs(tf.cast(labels, tf.float32) - logits), -1, keepdims=True)


CASES: dict[str, Case] = {
    "binary": Case(lambda h: h.BinaryClassHead(), ONE_LOGIT, BINARY),
    "binary weighted": Case(
        lambda h: h.BinaryClassHead(weight_column="w", thresholds=[0.25, 0.5, 1 / 3], name="yes"),
        ONE_LOGIT,
        BINARY,
    ),
    "binary names": Case(
        lambda h: h.BinaryClassHead(label_vocabulary=["cat", "dog"], loss_reduction="sum"),
        ONE_LOGIT,
        NAMES[BINARY],
    ),
    "binary loss_fn": Case(
        lambda h: h.BinaryClassHead(weight_column="w", loss_fn=_l1), ONE_LOGIT, BINARY * 0.5
    ),
    "binary of rank 1": Case(lambda h: h.BinaryClassHead(), ONE_LOGIT, BINARY[:, 0]),
    "multi-class": Case(lambda h: h.MultiClassHead(3), THREE_LOGITS, CLASS_IDS),
    "multi-class weighted": Case(
        lambda h: h.MultiClassHead(3, weight_column="w", loss_reduction="sum", name="kind"),
        THREE_LOGITS,
        CLASS_IDS.astype(np.int32),
    ),
    "multi-class names": Case(
        lambda h: h.MultiClassHead(3, label_vocabulary=["cat", "dog", "owl"]),
        THREE_LOGITS,
        NAMES[CLASS_IDS],
    ),
    "multi-class loss_fn": Case(
        lambda h: h.MultiClassHead(3, loss_fn=_l1), THREE_LOGITS, CLASS_IDS
    ),
    "multi-class of a tensor": Case(
        lambda h: h.MultiClassHead(tf.constant(3)), THREE_LOGITS, CLASS_IDS.astype(np.int32)
    ),
    "multi-label": Case(lambda h: h.MultiLabelHead(3), THREE_LOGITS, INDICATORS),
    "multi-label weighted": Case(
        lambda h: h.MultiLabelHead(
            3,
            weight_column="w",
            thresholds=[0.3, 0.5],
            classes_for_class_based_metrics=[0, 2],
            loss_reduction="sum",
            name="tags",
        ),
        THREE_LOGITS,
        INDICATORS,
    ),
    "multi-label names": Case(
        lambda h: h.MultiLabelHead(
            3,
            label_vocabulary=["cat", "dog", "owl"],
            classes_for_class_based_metrics=["dog"],
        ),
        THREE_LOGITS,
        INDICATORS,
    ),
    "multi-label loss_fn": Case(
        lambda h: h.MultiLabelHead(3, loss_fn=_l1), THREE_LOGITS, INDICATORS
    ),
    "regression": Case(lambda h: h.RegressionHead(), ONE_LOGIT, COUNTS),
    "regression weighted": Case(
        lambda h: h.RegressionHead(3, weight_column="w", name="size"), THREE_LOGITS, NUMBERS
    ),
    "regression of integers": Case(
        lambda h: h.RegressionHead(loss_reduction="sum"), ONE_LOGIT, BINARY[:, 0]
    ),
    "regression with link": Case(
        lambda h: h.RegressionHead(1, loss_fn=_l1, inverse_link_fn=tf.math.softplus),
        ONE_LOGIT,
        COUNTS,
    ),
    "poisson": Case(lambda h: h.PoissonRegressionHead(), ONE_LOGIT, COUNTS),
    "poisson weighted": Case(
        lambda h: h.PoissonRegressionHead(
            3, weight_column="w", compute_full_loss=False, name="visits"
        ),
        THREE_LOGITS,
        np.abs(NUMBERS),
    ),
    "logistic": Case(lambda h: h.LogisticRegressionHead(), ONE_LOGIT, BINARY * 0.75),
    "logistic weighted": Case(
        lambda h: h.LogisticRegressionHead(weight_column="w", loss_reduction="sum", name="odds"),
        ONE_LOGIT,
        BINARY * 0.75,
    ),
}


def questions(heads: Any, optimizers: Any, new_optimizer: type) -> dict[str, Callable[[], Any]]:
    """Returns all questions by name.

    Args:
        heads: Where the classes of heads are.
        optimizers: The legacy optimizers of Keras.
        new_optimizer: The base class of the others.
    """
    calls: dict[str, Callable[[], Any]] = {}
    for name, case in CASES.items():
        asked = (case.logits, case.labels)
        regularized = "weighted" in name
        calls[f"figures of {name}"] = lambda c=case, a=asked, r=regularized: figures(
            c.make(heads), *a, regularized=r
        )
        calls[f"summaries of {name}"] = lambda c=case, a=asked, r=regularized: summaries(
            c.make(heads), *a, regularized=r
        )
        calls[f"properties of {name}"] = lambda c=case: properties(c.make(heads))
        if case.labels.dtype != object:
            calls[f"training of {name}"] = lambda c=case, a=asked: trained(
                c.make(heads), *a, optimizers.Adam(0.05)
            )
    for name, weights in (("plain", None), ("with head weights", [0.5, 2.0, 1.0])):
        regularized = weights is not None
        calls[f"figures of several, {name}"] = lambda w=weights, r=regularized: figures(
            several(heads, w), SEVERAL_LOGITS, SEVERAL_LABELS, regularized=r
        )
        calls[f"summaries of several, {name}"] = lambda w=weights, r=regularized: summaries(
            several(heads, w), SEVERAL_LOGITS, SEVERAL_LABELS, regularized=r
        )
    for kind in _KINDS:
        calls[f"signatures of {kind}"] = lambda k=kind: _arguments(getattr(heads, k))
    for name, kind in (("legacy", optimizers.Optimizer), ("new", new_optimizer)):
        calls[f"updates of a {name} optimizer"] = lambda k=kind: own_updates(heads, k)
    calls["training of several"] = lambda: trained(
        several(heads, None), SEVERAL_LOGITS, SEVERAL_LABELS, optimizers.Adam(0.05)
    )
    calls["summaries of a loss and a spec of several"] = lambda: twice(several(heads, None))
    calls["properties of several"] = lambda: properties(several(heads, None))
    return calls


_KINDS = (
    "BinaryClassHead",
    "Head",
    "LogisticRegressionHead",
    "MultiClassHead",
    "MultiHead",
    "MultiLabelHead",
    "PoissonRegressionHead",
    "RegressionHead",
)
SEVERAL_LOGITS = np.concatenate([ONE_LOGIT, THREE_LOGITS, ONE_LOGIT * 0.3], axis=1)
SEVERAL_LABELS = {"yes": BINARY, "kind": CLASS_IDS, "size": COUNTS}


def several(heads: Any, head_weights: Any) -> Any:
    """Three heads in one."""
    return heads.MultiHead(
        [
            heads.BinaryClassHead(name="yes", weight_column="w"),
            heads.MultiClassHead(3, name="kind"),
            heads.RegressionHead(name="size"),
        ],
        head_weights=head_weights,
    )


def properties(head: Any) -> Any:
    return [head.name, head.logits_dimension, head.loss_reduction]


def figures(head: Any, logits: np.ndarray, labels: Any, regularized: bool = False) -> Any:
    """Losses of every batch, all metrics after the last, predictions and signatures.

    Args:
        head: The head.
        logits: All logits; they are fed in batches of `BATCH` rows.
        labels: All labels, or a dict of labels.
        regularized: Whether there are regularization losses.
    """
    arguments = {"regularization_losses": [tf.constant(0.5), tf.constant(2.0)]}
    arguments = arguments if regularized else {}
    fed_logits = v1.placeholder(tf.float32, [None, logits.shape[1]], name="logits")
    fed_labels = tf.nest.map_structure(_placeholder, labels)
    features = {"w": _placeholder(WEIGHTS)}
    spec = head.create_estimator_spec(features, "eval", fed_logits, fed_labels, **arguments)
    values = {key: value for key, (value, _) in spec.eval_metric_ops.items()}
    updates = [update for _, update in spec.eval_metric_ops.values()]
    serving = head.create_estimator_spec(features, "infer", fed_logits)
    losses = []
    with v1.Session() as session:
        _initialize(session)
        for start in range(0, len(logits), BATCH):
            rows = slice(start, start + BATCH)
            feeds = {fed_logits: logits[rows], features["w"]: WEIGHTS[rows]}
            _add_feeds(feeds, fed_labels, labels, rows)
            losses.append(float(session.run([spec.loss, updates], feeds)[0]))
        metrics = session.run(values)
        predictions = session.run(serving.predictions, {fed_logits: logits[:BATCH]})
    return {
        "losses": losses,
        "metrics": {key: [str(value.dtype), float(value)] for key, value in metrics.items()},
        "predictions": {_text(key): _array(value) for key, value in predictions.items()},
        "signatures": _signatures(serving.export_outputs),
    }


def summaries(head: Any, logits: np.ndarray, labels: Any, regularized: bool = False) -> Any:
    """Loss and summaries of a training step on the first batch."""
    arguments: dict[str, Any] = {"train_op_fn": lambda loss: tf.identity(loss)}
    if regularized:
        arguments["regularization_losses"] = [tf.constant(0.5), tf.constant(2.0)]
    spec = head.create_estimator_spec(
        {"w": tf.constant(WEIGHTS[:BATCH])},
        "train",
        tf.constant(logits[:BATCH]),
        tf.nest.map_structure(lambda values: tf.constant(values[:BATCH].tolist()), labels),
        **arguments,
    )
    with v1.Session() as session:
        _initialize(session)
        written = session.run(v1.get_collection(v1.GraphKeys.SUMMARIES))
        loss, trained = session.run([spec.loss, spec.train_op])
    found = [value for text in written for value in v1.Summary.FromString(text).value]
    return {
        "loss": float(loss),
        "train_op": float(trained),
        "tags": {value.tag: value.simple_value for value in found},
    }


def trained(head: Any, logits: np.ndarray, labels: Any, optimizer: Any) -> Any:
    """Losses and scale of logits over steps of an optimizer, and the names of its variables."""
    scale = v1.get_variable("scale", initializer=np.float32(1.0))
    idle = v1.get_variable("idle", initializer=np.float32(1.0))
    moved = v1.get_variable("moved", initializer=np.float32(0.0), trainable=False)
    optimizer.iterations = v1.train.get_or_create_global_step()
    spec = head.create_estimator_spec(
        {"w": tf.constant(WEIGHTS)},
        "train",
        tf.constant(logits) * scale * idle,
        tf.nest.map_structure(lambda values: tf.constant(values.tolist()), labels),
        optimizer=optimizer,
        trainable_variables=[scale],
        update_ops=[v1.assign_add(moved, 1.0)],
        regularization_losses=[tf.square(scale) * 0.1],
    )
    with v1.Session() as session:
        _initialize(session)
        losses = [float(session.run([spec.loss, spec.train_op])[0]) for _ in range(3)]
        end = session.run([scale, idle, moved, optimizer.iterations])
    return {
        "losses": losses,
        "end": [float(value) for value in end],
        "variables": sorted(variable.name for variable in v1.global_variables()),
    }


def own_updates(heads: Any, kind: type) -> Any:
    """Returns the arguments of an optimizer that computes its updates, and its step."""
    given = []

    class Own(kind):  # type: ignore[misc, valid-type]
        def get_updates(self, loss: Any, params: Any) -> list[Any]:
            given.append([variable.name for variable in params])
            return [v1.assign_add(params[0], loss)]

        def get_config(self) -> dict[str, Any]:
            return {}

    names = ("scale", "idle")
    scale, idle = (v1.get_variable(name, initializer=np.float32(2.0)) for name in names)
    v1.train.get_or_create_global_step()
    spec = heads.RegressionHead().create_estimator_spec(
        {},
        "train",
        tf.constant([[1.0]]) * scale,
        [[5.0]],
        optimizer=Own(name="own"),
        trainable_variables=[scale, idle],
    )
    with v1.Session() as session:
        _initialize(session)
        session.run(spec.train_op)
        return [given, [float(value) for value in session.run([scale, idle])]]


def twice(head: Any) -> Any:
    """Returns tags of the summaries where a model_fn asks for the loss and for an EstimatorSpec."""
    features = {"w": tf.constant(WEIGHTS)}
    labels = {name: tf.constant(values) for name, values in SEVERAL_LABELS.items()}
    head.loss(labels, tf.constant(SEVERAL_LOGITS), features, mode="train")
    head.create_estimator_spec(
        features, "train", tf.constant(SEVERAL_LOGITS), labels, train_op_fn=tf.identity
    )
    with v1.Session() as session:
        _initialize(session)
        written = session.run(v1.get_collection(v1.GraphKeys.SUMMARIES))
    return [value.tag for text in written for value in v1.Summary.FromString(text).value]


def _arguments(kind: type) -> Any:
    """Lists names and defaults of the arguments of a concrete class, and its methods."""
    found = {}
    for name in dir(kind):
        if name == "__init__" and inspect.isabstract(kind):
            continue
        member = getattr(kind, name)
        if inspect.isfunction(member) and (name == "__init__" or not name.startswith("_")):
            parameters = inspect.signature(member).parameters.values()
            found[name] = [
                p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters
            ]
    return found


def _placeholder(values: np.ndarray) -> tf.Tensor:
    dtype = tf.string if values.dtype == object else tf.as_dtype(values.dtype)
    return v1.placeholder(dtype, [None, *values.shape[1:]])


def _add_feeds(feeds: dict[Any, Any], tensors: Any, values: Any, rows: slice) -> None:
    for tensor, value in zip(tf.nest.flatten(tensors), tf.nest.flatten(values), strict=True):
        feeds[tensor] = value[rows]


def _initialize(session: v1.Session) -> None:
    session.run(v1.global_variables_initializer())
    session.run([v1.local_variables_initializer(), v1.tables_initializer()])


def _signatures(outputs: dict[str, Any]) -> Any:
    found = {}
    for name, output in outputs.items():
        if hasattr(output, "outputs"):
            tensors = output.outputs
        elif hasattr(output, "scores"):
            tensors = {"scores": output.scores, "classes": output.classes}
        else:
            tensors = {"value": output.value}
        found[name] = {
            key: [tensor.dtype.name, str(tensor.shape), _SLICE.sub("split_logits", tensor.name)]
            for key, tensor in tensors.items()
        }
    return found


def _array(values: np.ndarray) -> Any:
    dtype = "string" if values.dtype == object else str(values.dtype)
    items = [item.decode() if isinstance(item, bytes) else item for item in values.ravel().tolist()]
    return [dtype, list(values.shape), items]


def _text(key: Any) -> str:
    return "/".join(key) if isinstance(key, tuple) else key
