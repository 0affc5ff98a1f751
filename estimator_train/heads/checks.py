"""What labels, logits and weights must be: checked when a graph is built, else when it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

_LABEL_FIX = (
    "Suggested Fix: check your n_classes argument to the head and/or the shape of your label."
)


def checked_logits(logits: Any, dimension: int) -> tf.Tensor:
    """Returns logits as float32 of shape [D0, D1, ... DN, dimension].

    Raises:
        ValueError: Logits have less than two dimensions, or another last one.
    """
    text = "logits shape must be [D0, D1, ... DN, logits_dimension]"
    logits = tf.cast(tf.convert_to_tensor(logits), tf.float32)
    rank = logits.shape.rank
    if rank is not None and rank < 2:
        name = "logits" if tf.executing_eagerly() else f"Tensor {logits.name}"
        raise ValueError(
            f"{text}.  {name} must have rank at least 2.  Received rank {rank}, "
            f"shape {logits.shape}"
        )
    if rank is not None and logits.shape[-1] not in (None, dimension):
        raise ValueError(f"{text}, got {logits.shape}.")
    if rank is None or logits.shape[-1] is None:
        shape = tf.shape(logits)
        assertion = tf.debugging.Assert(
            tf.equal(shape[-1], dimension), [text, "logits_shape: ", shape]
        )
        logits = _after([assertion], logits)
        if rank is not None:
            logits = tf.ensure_shape(logits, [*logits.shape[:-1], dimension])
    return logits


def checked_dense_labels(labels: Any, logits: tf.Tensor, dimension: int) -> tf.Tensor:
    """Returns labels of shape [D0, D1, ... DN, dimension] where logits begin with D0 ... DN.

    Labels without the last dimension get one of size 1.

    Raises:
        ValueError: Labels are missing, sparse, or of a shape that does not go with the logits.
    """
    if isinstance(labels, tf.SparseTensor):
        raise ValueError(
            "SparseTensor labels are not supported. Labels must be a Tensor of shape "
            f"[D0, D1, ..., DN, {dimension}], e.g. [batch_size, {dimension}]."
            "Suggested Fix (1): Check the label feature in your data. Each example must contain "
            f"{dimension} value(s). If not, your choice of label was probably incorrect. "
            "Suggested Fix (2): In your input_fn, use tf.sparse_tensor_to_dense() to turn labels "
            "into a Tensor."
        )
    labels = tf.convert_to_tensor(required(labels))
    rank = labels.shape.rank
    if rank is not None and logits.shape.rank is not None and rank == logits.shape.rank - 1:
        labels = tf.expand_dims(labels, -1)
    if labels.shape.rank and labels.shape[-1] not in (None, dimension):
        raise ValueError(
            f"Mismatched label shape. Expected labels dimension={dimension}.  Received "
            f"{labels.shape[-1]}. Suggested Fix: If your classifier expects one-hot encoding "
            "label, check your n_classes argument to the estimator and/or the shape of your "
            "label. Otherwise, check the shape of your label."
        )
    return _checked_shape(
        labels,
        [*logits.shape[:-1], dimension] if logits.shape.rank else None,
        tf.concat([tf.shape(logits)[:-1], [dimension]], axis=0),
        f"labels shape must be [D0, D1, ... DN, {dimension}]. {_LABEL_FIX}",
        ("expected_labels_shape", "labels_shape"),
    )


def required(labels: Any) -> Any:
    """Returns labels that must not be None.

    Raises:
        ValueError: They are.
    """
    if labels is None:
        raise ValueError(
            "You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: "
            "Check that your data contains your label feature. Check that your input_fn properly "
            "parses and returns labels."
        )
    return labels


def in_range(values: tf.Tensor, maximum: float, below: str, above: str) -> tf.Tensor:
    """Returns values that are between 0 and `maximum`.

    Args:
        values: Numbers.
        maximum: The largest one that is allowed.
        below: What to say of negative numbers.
        above: What to say of larger ones.

    Raises:
        ValueError: Eager values are out of range; those of a graph raise InvalidArgumentError.
    """
    limit = tf.cast(maximum, values.dtype)
    if tf.executing_eagerly():
        for text, wrong in ((below, values < 0), (above, values > limit)):
            if tf.reduce_any(wrong):
                raise ValueError(f"{text}. Given: {values.numpy()[wrong.numpy()].tolist()}")
        return values
    return _after(
        [
            tf.debugging.assert_less_equal(values, limit, message=above),
            tf.debugging.assert_non_negative(values, message=below),
        ],
        values,
    )


def class_range(labels: tf.Tensor, n_classes: int, must: str = "must be") -> tf.Tensor:
    """Returns labels that are between 0 and n_classes - 1; see `in_range`.

    Args:
        labels: Class numbers, or shares of class 1.
        n_classes: How many classes there are.
        must: How the texts of errors put it.
    """
    most = n_classes if tf.executing_eagerly() else "n_classes"
    below, above = f"Labels {must} >= 0", f"Labels {must} <= {most} - 1"
    return in_range(labels, n_classes - 1, below, above)


def weights_of(
    weight_column: Any,
    features: Mapping[str, Any] | None,
    logits: tf.Tensor,
    label_dimension: int = 1,
) -> tf.Tensor | None:
    """Returns what to multiply losses of shape [D0, D1, ... DN, 1] with; None for equal weights.

    Args:
        weight_column: Name of the feature, a numeric column of it, or None.
        features: The batch's features.
        logits: Checked logits.
        label_dimension: How many weights an example may have instead of one.

    Raises:
        ValueError: The feature is missing, sparse, scalar or of another shape than the logits, or
            has negative eager values; those of a graph raise InvalidArgumentError.
    """
    if weight_column is None:
        return None
    weights = _not_negative(_weight_feature(weight_column, features or {}), weight_column)
    if weights.shape.rank is None:
        weights = tf.reshape(weights, tf.concat([tf.shape(logits)[:-1], [-1]], axis=0))
    elif weights.shape.rank == (logits.shape.rank or 0) - 1:
        weights = tf.expand_dims(weights, -1)
    shapes = "[D0, D1, ... DN] or [D0, D1, ... DN, 1]"
    if label_dimension > 1:
        shapes = "[D0, D1, ... DN], [D0, D1, ... DN, 1] or [D0, D1, ... DN, logits_dimension]"
    text = f"weights shape must be {shapes}"
    sizes = (1, label_dimension)
    if logits.shape.rank is not None and not any(
        weights.shape.is_compatible_with([*logits.shape[:-1], size]) for size in sizes
    ):
        raise ValueError(f"{text}, logits_shape: {logits.shape}. weights_shape: {weights.shape}.")
    if weights.shape.is_fully_defined() and logits.shape.is_fully_defined():
        return weights
    shape, logits_shape = tf.shape(weights), tf.shape(logits)
    fits = tf.logical_and(
        _same(shape[:-1], logits_shape[:-1]),
        tf.reduce_any([tf.equal(shape[-1], size) for size in sizes]),
    )
    data = [text, "logits_shape: ", logits_shape, "weights_shape: ", shape]
    return _after([tf.debugging.Assert(fits, data)], weights)


def checked_weight_column(column: Any) -> Any:
    """Returns a weight column: None, a feature's name, or a numeric column.

    Raises:
        TypeError: It is something else.
    """
    if column is None or isinstance(column, str) or _is_numeric_column(column):
        return column
    raise TypeError(
        f"Weight column must be either a string or NumericColumn. Given type: {type(column)}."
    )


def _is_numeric_column(column: Any) -> bool:
    return hasattr(column, "key") and hasattr(column, "normalizer_fn")


def _weight_feature(column: Any, features: Mapping[str, Any]) -> tf.Tensor:
    key = column if isinstance(column, str) else column.key
    if key not in features:
        raise ValueError(f"Feature {key} is not in features dictionary.")
    weights = features[key]
    if isinstance(weights, tf.SparseTensor):
        raise ValueError(
            "The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not "
            f"supported. key: {key}"
        )
    weights = tf.convert_to_tensor(weights)
    if weights.shape.rank == 0:
        raise ValueError(f"Feature (key: {key}) cannot have rank 0. Given: {weights}")
    if not isinstance(column, str) and column.normalizer_fn is not None:
        weights = column.normalizer_fn(weights)
    return tf.cast(weights, tf.float32)


def _not_negative(weights: tf.Tensor, column: Any) -> tf.Tensor:
    key = column if isinstance(column, str) else column.key
    text = f"weights must not be negative, see the weight column {key}"
    if tf.executing_eagerly():
        if tf.reduce_any(weights < 0.0):
            raise ValueError(f"{text}. Given: {weights.numpy().tolist()}")
        return weights
    return _after([tf.debugging.assert_non_negative(weights, message=text)], weights)


def _checked_shape(
    tensor: tf.Tensor,
    static: list[int | None] | None,
    dynamic: tf.Tensor,
    text: str,
    names: tuple[str, str],
) -> tf.Tensor:
    """The tensor, whose shape must be as expected: as far as that is known, else in each step."""
    expected = tf.TensorShape(static)
    if not tensor.shape.is_compatible_with(expected):
        raise ValueError(f"{text}, {names[0]}: {expected}. {names[1]}: {tensor.shape}.")
    if tensor.shape.is_fully_defined() and expected.is_fully_defined():
        return tensor
    shape = tf.shape(tensor)
    data = [text, f"{names[0]}: ", dynamic, f"{names[1]}: ", shape]
    tensor = _after([tf.debugging.Assert(_same(dynamic, shape), data)], tensor)
    return tensor if expected.rank is None else tf.ensure_shape(tensor, expected)


def _same(one: tf.Tensor, other: tf.Tensor) -> tf.Tensor:
    """Whether two shapes are the same, also if their ranks differ."""
    return tf.reduce_all(tf.raw_ops.Equal(x=one, y=other, incompatible_shape_error=False))


def _after(assertions: list[Any], tensor: tf.Tensor) -> tf.Tensor:
    """The tensor, once the assertions held (eager ones have held by now, and are None)."""
    with tf.control_dependencies([assertion for assertion in assertions if assertion is not None]):
        return tf.identity(tensor)
