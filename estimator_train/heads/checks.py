"""What labels, logits and weights must be: checked when a graph is built, else when it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

_LABEL_FIX = (
    "Suggested Fix: check your n_classes argument to the head and/or the shape of your label."
)


def checked_logits(logits: Any, dimension: int | tf.Tensor) -> tf.Tensor:
    """Returns logits as float32 of shape [D0, D1, ... DN, dimension].

    A dimension that is a tensor of a graph is not compared with them, as in tf.estimator 2.15.

    Raises:
      ValueError: Logits have less than two dimensions, or another last one.
    """
    text = "logits shape must be [D0, D1, ... DN, logits_dimension]"
    logits = tf.cast(tf.convert_to_tensor(logits), tf.float32)
    assertions = [tf.debugging.assert_rank_at_least(logits, 2, message=text)]
    rank = logits.shape.rank
    if tf.is_tensor(dimension) and not hasattr(dimension, "numpy"):
        return logits if rank is not None else _after(assertions, logits)
    dimension = int(dimension)
    if rank is not None and logits.shape[-1] not in (None, dimension):
        raise ValueError(f"{text}, got {logits.shape}.")
    if rank is None or logits.shape[-1] is None:
        shape = tf.shape(logits)
        fits = tf.reduce_all(tf.equal(shape[-1:], dimension))
        assertions.append(tf.debugging.Assert(fits, [text, shape]))
        logits = _after(assertions, logits)
        if rank is not None:
            logits.set_shape([*logits.shape[:-1], dimension])
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
    text = f"labels shape must be [D0, D1, ... DN, {dimension}]. {_LABEL_FIX}"
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
    expected = tf.TensorShape([*logits.shape[:-1], dimension] if logits.shape.rank else None)
    assertions = [tf.debugging.assert_rank_at_least(labels, 2, text)]
    if not labels.shape.is_compatible_with(expected):
        raise ValueError(
            f"{text}, expected_labels_shape: {expected}. labels_shape: {labels.shape}."
        )
    if labels.shape.is_fully_defined() and expected.is_fully_defined():
        return labels
    known, shape = tf.concat([tf.shape(logits)[:-1], [dimension]], axis=0), tf.shape(labels)
    # Of labels whose rank is too small the other assertion tells.
    fits = tf.logical_or(tf.size(shape) < 2, _same(known, shape))
    data = [text, "expected_labels_shape: ", known, "labels_shape: ", shape]
    labels = _after([*assertions, tf.debugging.Assert(fits, data)], labels)
    labels.set_shape(expected)
    return labels


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


def in_range(values: tf.Tensor, maximum: float | tf.Tensor, below: str, above: str) -> tf.Tensor:
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


def class_range(labels: tf.Tensor, n_classes: int | tf.Tensor, must: str = "must be") -> tf.Tensor:
    """Returns labels that are between 0 and n_classes - 1; see `in_range`.

    Args:
      labels: Class numbers, or shares of class 1.
      n_classes: How many classes there are.
      must: How the texts of errors put it.
    """
    most = int(n_classes) if tf.executing_eagerly() else "n_classes"
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
      ValueError: The feature is missing, sparse or scalar.
      InvalidArgumentError: It is of another shape than the logits; a `WrongShapeError` if that
        is known as the graph is built.
    """
    if weight_column is None:
        return None
    weights = _weight_feature(weight_column, features or {})
    given = _with_last_dimension(weights, 1)
    weights = _with_last_dimension(given, tf.rank(logits) - 1)
    shapes = "[D0, D1, ... DN] or [D0, D1, ... DN, 1]"
    if label_dimension > 1:
        shapes = "[D0, D1, ... DN], [D0, D1, ... DN, 1] or [D0, D1, ... DN, logits_dimension]"
    text = f"weights shape must be {shapes}"
    sizes = (1, label_dimension)
    if logits.shape.rank is not None and not any(
        weights.shape.is_compatible_with([*logits.shape[:-1], size]) for size in sizes
    ):
        raise WrongShapeError(text, "weights_shape", given, logits)
    if weights.shape.is_fully_defined() and logits.shape.is_fully_defined():
        return weights
    shape, logits_shape = tf.shape(weights), tf.shape(logits)
    fits = tf.logical_and(
        _same(shape[:-1], logits_shape[:-1]),
        tf.reduce_any([tf.equal(shape[-1], size) for size in sizes]),
    )
    data = [text, "logits_shape: ", logits_shape, "weights_shape: ", tf.shape(given)]
    return _after([tf.debugging.Assert(fits, data)], weights)


def checked_losses(losses: tf.Tensor, logits: tf.Tensor, dimension: int) -> tf.Tensor:
    """Returns a loss_fn's losses, of shape [D0, D1, ... DN, dimension].

    Raises:
      InvalidArgumentError: They are of another shape; a `WrongShapeError` if that is known as
        the graph is built.
    """
    text = f"loss_fn must return Tensor of shape [D0, D1, ... DN, {dimension}]. "
    expected = tf.TensorShape([*logits.shape[:-1], dimension] if logits.shape.rank else None)
    if not losses.shape.is_compatible_with(expected):
        raise WrongShapeError(text, "loss_shape", losses, logits)
    if losses.shape.is_fully_defined() and expected.is_fully_defined():
        return losses
    shape, logits_shape = tf.shape(losses), tf.shape(logits)
    fits = _same(shape, tf.concat([logits_shape[:-1], [dimension]], axis=0))
    data = [text, "logits_shape: ", logits_shape, "loss_shape: ", shape]
    return _after([tf.debugging.Assert(fits, data)], losses)


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
    text = f"Feature (key: {key}) cannot have rank 0. Given: {weights}"
    if weights.shape.rank == 0:
        raise ValueError(text)
    if weights.shape.rank is None:
        weights = _after([tf.debugging.assert_positive(tf.rank(weights), message=text)], weights)
    if not isinstance(column, str) and column.normalizer_fn is not None:
        weights = column.normalizer_fn(weights)
    return tf.cast(weights, tf.float32)


class WrongShapeError(tf.errors.InvalidArgumentError, ValueError):
    """A shape that is seen to be wrong as the graph is built.

    Args:
      text: What is wrong.
      name: What the tensor is called.
      tensor: What is of the wrong shape.
      logits: What it should go with.
    """

    # The original raises one as the graph is built or the other as it runs, by the shape.
    def __init__(self, text: str, name: str, tensor: tf.Tensor, logits: tf.Tensor) -> None:
        shapes = [str(list(of.shape)).replace(",", "") for of in (logits, tensor)]
        said = f"assertion failed: [{text}] [logits_shape: ] {shapes[0]} [{name}: ] {shapes[1]}"
        super().__init__(None, None, said)


def _with_last_dimension(tensor: tf.Tensor, rank: Any) -> tf.Tensor:
    """The tensor, with one more dimension of size 1 if it is of that rank."""
    known = tf.get_static_value(tf.convert_to_tensor(rank))
    if known is not None and tensor.shape.rank is not None:
        return tf.expand_dims(tensor, -1) if tensor.shape.rank == known else tensor
    more = tf.cast(tf.equal(tf.rank(tensor), rank), tf.int32)
    return tf.reshape(tensor, tf.concat([tf.shape(tensor), tf.ones([more], tf.int32)], axis=0))


def _same(one: tf.Tensor, other: tf.Tensor) -> tf.Tensor:
    """Whether two shapes are the same, also if their ranks differ."""
    sizes = tf.size(one), tf.size(other)
    both = tf.minimum(*sizes)
    # Compared whole, shapes would be broadcast: [2] and [2, 2] would be the same.
    return tf.logical_and(tf.equal(*sizes), tf.reduce_all(tf.equal(one[:both], other[:both])))


def _after(assertions: list[Any], tensor: tf.Tensor) -> tf.Tensor:
    """The tensor, once the assertions held."""
    with tf.control_dependencies(_present(assertions)):
        return tf.identity(tensor)


def _present(assertions: list[Any]) -> list[Any]:
    """Without those of eager code, which have held by now."""
    return [assertion for assertion in assertions if assertion is not None]
