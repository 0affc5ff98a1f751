"""Questions about heads of sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from ask_heads import WEIGHTS
from ask_heads_bad_input import answer

v1 = tf.compat.v1
MASK = [[True, True, False], [True, False, False], [True, True, True]]
LOGITS = [
    [[1.0, 2.0, 3.0], [0.5, 0.1, 1.0], [9.0, 9.0, 9.0]],
    [[0.2, 0.9, -0.4], [9.0, 9.0, 9.0], [9.0, 9.0, 9.0]],
    [[0.0, -2.0, 1.0], [1.1, 1.2, -3.0], [0.3, 0.8, 0.6]],
]
LABELS = [[[2], [0], [0]], [[1], [0], [0]], [[0], [1], [2]]]


def questions(heads: Any, wrapper: Any) -> dict[str, Callable[[], Any]]:
    """Returns all questions by name.

    Args:
        heads: Where the classes of heads are.
        wrapper: The class SequentialHeadWrapper.
    """

    def multi_class(**arguments: Any) -> Any:
        return wrapper(heads.MultiClassHead(3, name="step"), **arguments)

    def weighted() -> Any:
        return wrapper(heads.MultiClassHead(3, weight_column="w"), "mask", "w")

    def dense() -> Any:
        return tf.constant(LABELS)

    def sparse() -> Any:
        return tf.sparse.from_dense(tf.where(tf.constant(MASK), tf.constant(LABELS)[..., 0] + 1, 0))

    def sparse_labels() -> Any:
        found = sparse()
        return tf.SparseTensor(found.indices, found.values - 1, found.dense_shape)

    calls: dict[str, Callable[[], Any]] = {
        "dense labels": lambda: _figures(multi_class(), dense()),
        "labels of rank 2": lambda: _figures(multi_class(), dense()[..., 0]),
        "sparse labels": lambda: _figures(multi_class(), sparse_labels()),
        "sparse labels of rank 3": lambda: _figures(
            wrapper(heads.RegressionHead(2)),
            _pairs(),
            tf.constant(LOGITS)[..., :2],
        ),
        "logits of rank 2": lambda: _figures(
            wrapper(heads.BinaryClassHead()),
            tf.minimum(dense(), 1),
            tf.constant(LOGITS)[..., 0],
        ),
        "weighted": lambda: _figures(weighted(), dense()),
        "binary": lambda: _figures(
            wrapper(heads.BinaryClassHead()), tf.minimum(dense(), 1), tf.constant(LOGITS)[..., :1]
        ),
        "served": lambda: _served(multi_class()),
        "served with the mask named as a prediction": lambda: _served(
            multi_class(sequence_length_mask="logits"), "logits"
        ),
        "properties": lambda: [
            [head.name, head.logits_dimension, head.loss_reduction, head.input_sequence_mask_key]
            for head in (multi_class(), weighted())
        ],
    }
    several = heads.MultiHead([heads.BinaryClassHead(name="a"), heads.BinaryClassHead(name="b")])
    bad: dict[str, Callable[[], Any]] = {
        "mask of a number": lambda: multi_class(sequence_length_mask=3),
        "columns of a number": lambda: multi_class(feature_columns=3),
        "a column of a number": lambda: multi_class(feature_columns=["w", 3]),
        "several heads": lambda: wrapper(several),
        "no mask": lambda: _figures(multi_class(sequence_length_mask="m"), dense()),
        "mask of rank 1": lambda: _figures(multi_class(), dense(), mask=[True, False, True]),
        "mask of another length": lambda: _figures(
            multi_class(), dense(), mask=[row[:2] for row in MASK]
        ),
        "missing column": lambda: _figures(multi_class(feature_columns=["v"]), dense()),
        "no labels": lambda: _figures(multi_class(), None),
    }
    return {**calls, **{f"bad: {name}": lambda c=call: answer(c) for name, call in bad.items()}}


def _pairs() -> tf.SparseTensor:
    """Returns two labels of each step, without the padding."""
    steps = [(row, step) for row in range(3) for step in range(3) if MASK[row][step]]
    indices = [(*step, place) for step in steps for place in range(2)]
    return tf.SparseTensor(indices, [float(n) for n in range(len(indices))], [3, 3, 2])


def _features(mask: Any = None) -> dict[str, tf.Tensor]:
    mask = tf.constant(MASK if mask is None else mask)
    weights = tf.reshape(tf.constant(WEIGHTS), [3, 3])
    return {"sequence_length_mask": mask, "mask": mask, "w": weights}


def _figures(head: Any, labels: Any, logits: Any = None, mask: Any = None) -> Any:
    logits = tf.constant(LOGITS) if logits is None else logits
    spec = head.create_estimator_spec(_features(mask), "eval", logits, labels)
    loss = head.loss(labels=labels, logits=logits, features=_features(mask))
    with v1.Session() as session:
        session.run([v1.local_variables_initializer(), v1.tables_initializer()])
        losses = session.run([spec.loss, loss])
        session.run([update for _, update in spec.eval_metric_ops.values()])
        metrics = session.run({key: value for key, (value, _) in spec.eval_metric_ops.items()})
    return {
        "losses": [float(value) for value in losses],
        "metrics": {key: float(value) for key, value in metrics.items()},
        "predictions": sorted(spec.predictions),
    }


def _served(head: Any, mask_key: str = "sequence_length_mask") -> Any:
    features = {mask_key: tf.constant(MASK)}
    spec = head.create_estimator_spec(features, "infer", tf.constant(LOGITS))
    return {
        "predictions": {
            key: [value.dtype.name, value.shape.as_list()]
            for key, value in spec.predictions.items()
        },
        "outputs": {
            key: sorted(output.outputs) if hasattr(output, "outputs") else "scores and classes"
            for key, output in spec.export_outputs.items()
        },
    }
