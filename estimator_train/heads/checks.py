"""Checks of labels, logits and weights, when a graph is built or when it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_train.heads.keys import Labels, NumericColumn, TensorLike, WeightColumn

_LABEL_FIX = (
    "Suggested Fix: check your n_classes argument to the head and/or the shape of your label."
)


def validate_logits(logits: TensorLike, dimension: int | tf.Tensor) -> tf.Tensor:
    """Returns logits as float32 of shape [D0, D1, ... DN, dimension].

    If dimension is a tensor of a graph, the shape is not checked, as in tf.estimator 2.15.

    Raises:
      ValueError: Logits have less than two dimensions, or another last one.
    """
    text = "logits shape must be [D0, D1, ... DN, logits_dimension]"
    logits = tf.cast(tf.convert_to_tensor(logits), tf.float32)
    assertions = [tf.debugging.assert_rank_at_least(logits, 2, message=text)]
    rank = logits.shape.rank
    if tf.is_tensor(dimension) and not hasattr(dimension, "numpy"):
        return logits if rank is not None else _add_assertions(assertions, logits)
    dimension = int(dimension)
    if rank is not None and logits.shape[-1] not in (None, dimension):
        raise ValueError(f"{text}, got {logits.shape}.")
    if rank is None or logits.shape[-1] is None:
        shape = tf.shape(logits)
        fits = tf.reduce_all(tf.equal(shape[-1:], dimension))
        assertions.append(tf.debugging.Assert(fits, [text, shape]))
        logits = _add_assertions(assertions, logits)
        if rank is not None:
            logits.set_shape([*logits.shape[:-1], dimension])
    return logits


def validate_dense_labels(
    labels: Labels, logits: tf.Tensor, dimension: int, mismatch: str
) -> tf.Tensor:
    """Returns labels of shape [D0, D1, ... DN, dimension] where logits begin with D0 ... DN.

    Labels without the last dimension get one of size 1.

    Args:
      labels: The labels.
      logits: Checked logits.
      dimension: Size of the last dimension of the labels.
      mismatch: Text of the error for other sizes of D0 ... DN, with {labels} and {logits}
        for their shapes, and {examples} for D0 ... DN of the labels.

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
    labels = tf.convert_to_tensor(require_labels(labels))
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
            f"{text}, expected_labels_shape: {expected}. labels_shape: {labels.shape}. "
            + mismatch.format(labels=labels.shape, examples=labels.shape[:-1], logits=logits.shape)
        )
    if labels.shape.is_fully_defined() and expected.is_fully_defined():
        return labels
    known, shape = tf.concat([tf.shape(logits)[:-1], [dimension]], axis=0), tf.shape(labels)
    # The other assertion reports labels whose rank is too small.
    fits = tf.logical_or(tf.size(shape) < 2, _is_same_shape(known, shape))
    data = [text, "expected_labels_shape: ", known, "labels_shape: ", shape]
    labels = _add_assertions([*assertions, tf.debugging.Assert(fits, data)], labels)
    labels.set_shape(expected)
    return labels


def require_labels(labels: Labels) -> Any:
    """Returns labels that must not be None.

    Raises:
      ValueError: labels is None.
    """
    if labels is None:
        raise ValueError(
            "You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: "
            "Check that your data contains your label feature. Check that your input_fn properly "
            "parses and returns labels."
        )
    return labels


def check_range(values: tf.Tensor, maximum: float | tf.Tensor, below: str, above: str) -> tf.Tensor:
    """Returns values that are between 0 and `maximum`.

    Args:
      values: Numbers.
      maximum: The largest one that is allowed.
      below: Text of the error for negative numbers.
      above: Text of the error for larger numbers.

    Raises:
      ValueError: Eager values are out of range; those of a graph raise InvalidArgumentError.
    """
    limit = tf.cast(maximum, values.dtype)
    if tf.executing_eagerly():
        for text, wrong in ((below, values < 0), (above, values > limit)):
            if tf.reduce_any(wrong):
                raise ValueError(f"{text}. Given: {values.numpy()[wrong.numpy()].tolist()}")
        return values
    return _add_assertions(
        [
            tf.debugging.assert_less_equal(values, limit, message=above),
            tf.debugging.assert_non_negative(values, message=below),
        ],
        values,
    )


def check_known_names(ids: tf.Tensor, names: tf.Tensor, below: str) -> tf.Tensor:
    """Returns the numbers of names, after a check that none is negative.

    Args:
      ids: Class numbers; a negative one means that the vocabulary lacks the name.
      names: The names, in the shape of `ids`.
      below: Text of the error for negative numbers.

    Raises:
      ValueError: Eager names are unknown; those of a graph raise InvalidArgumentError.
    """
    unknown = tf.boolean_mask(names, ids < 0)
    text = f"{below}. label_vocabulary does not contain"
    if tf.executing_eagerly():
        if tf.size(unknown):
            raise ValueError(f"{text} {unknown.numpy().tolist()}")
        return ids
    return _add_assertions(
        [tf.debugging.Assert(tf.equal(tf.size(unknown), 0), [text, unknown])], ids
    )


def check_class_range(
    labels: tf.Tensor,
    n_classes: int | tf.Tensor,
    must: str = "must be",
    names: tf.Tensor | None = None,
) -> tf.Tensor:
    """Returns labels that are between 0 and n_classes - 1; see `check_range`.

    Args:
      labels: Class numbers, or shares of class 1.
      n_classes: Number of classes.
      must: Verb of the errors' texts.
      names: The names of the classes, if the labels are numbers in a vocabulary.
    """
    most = int(n_classes) if tf.executing_eagerly() else "n_classes"
    below, above = f"Labels {must} >= 0", f"Labels {must} <= {most} - 1"
    if names is not None:
        return check_known_names(labels, names, below)
    return check_range(labels, n_classes - 1, below, above)


def get_weights(
    weight_column: WeightColumn,
    features: Mapping[str, Any] | None,
    logits: tf.Tensor,
    label_dimension: int = 1,
) -> tf.Tensor | None:
    """Returns the weights of losses of shape [D0, D1, ... DN, 1]; None for equal weights.

    Args:
      weight_column: Name or numeric column of the feature, or None.
      features: The batch's features.
      logits: Checked logits.
      label_dimension: Number of weights that an example may have instead of one.

    Raises:
      ValueError: The feature is missing, sparse or scalar.
      InvalidArgumentError: Its shape contradicts that of the logits; a `WrongShapeError` if
        this is known when the graph is built.
    """
    if weight_column is None:
        return None
    weights = _find_weight_feature(weight_column, features or {})
    given = _add_last_dimension(weights, 1)
    weights = _add_last_dimension(given, tf.rank(logits) - 1)
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
        _is_same_shape(shape[:-1], logits_shape[:-1]),
        tf.reduce_any([tf.equal(shape[-1], size) for size in sizes]),
    )
    data = [text, "logits_shape: ", logits_shape, "weights_shape: ", tf.shape(given)]
    return _add_assertions([tf.debugging.Assert(fits, data)], weights)


def validate_losses(losses: tf.Tensor, logits: tf.Tensor, dimension: int) -> tf.Tensor:
    """Returns a loss_fn's losses, of shape [D0, D1, ... DN, dimension].

    Raises:
      InvalidArgumentError: They have another shape; a `WrongShapeError` if this is known when
        the graph is built.
    """
    text = f"loss_fn must return Tensor of shape [D0, D1, ... DN, {dimension}]. "
    expected = tf.TensorShape([*logits.shape[:-1], dimension] if logits.shape.rank else None)
    if not losses.shape.is_compatible_with(expected):
        raise WrongShapeError(text, "loss_shape", losses, logits)
    if losses.shape.is_fully_defined() and expected.is_fully_defined():
        return losses
    shape, logits_shape = tf.shape(losses), tf.shape(logits)
    fits = _is_same_shape(shape, tf.concat([logits_shape[:-1], [dimension]], axis=0))
    data = [text, "logits_shape: ", logits_shape, "loss_shape: ", shape]
    return _add_assertions([tf.debugging.Assert(fits, data)], losses)


def validate_weight_column(column: WeightColumn) -> Any:
    """Returns a weight column: None, a feature's name, or a numeric column.

    Raises:
      TypeError: It is something else.
    """
    if column is None or isinstance(column, str) or is_numeric_column(column):
        return column
    raise TypeError(
        f"Weight column must be either a string or NumericColumn. Given type: {type(column)}."
    )


def is_numeric_column(column: object) -> bool:
    """Returns whether an object is a numeric column, of v1 or v2."""
    return hasattr(column, "key") and hasattr(column, "normalizer_fn")


def _find_weight_feature(column: str | NumericColumn, features: Mapping[str, Any]) -> tf.Tensor:
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
        weights = _add_assertions(
            [tf.debugging.assert_positive(tf.rank(weights), message=text)], weights
        )
    if not isinstance(column, str) and column.normalizer_fn is not None:
        weights = column.normalizer_fn(weights)
    return tf.cast(weights, tf.float32)


class WrongShapeError(tf.errors.InvalidArgumentError, ValueError):
    """Error of a shape that is wrong when the graph is built.

    Args:
      text: Text of the error.
      name: Name of the tensor in the error.
      tensor: Tensor of the wrong shape.
      logits: Logits that determine the expected shape.
    """

    # The original raises one type when the graph is built and the other when it runs.
    def __init__(self, text: str, name: str, tensor: tf.Tensor, logits: tf.Tensor) -> None:
        shapes = [str(list(of.shape)).replace(",", "") for of in (logits, tensor)]
        said = f"assertion failed: [{text}] [logits_shape: ] {shapes[0]} [{name}: ] {shapes[1]}"
        super().__init__(None, None, said)


def _add_last_dimension(tensor: tf.Tensor, rank: Any) -> tf.Tensor:
    """Returns the tensor, with one more dimension of size 1 if it has that rank."""
    known = tf.get_static_value(tf.convert_to_tensor(rank))
    if known is not None and tensor.shape.rank is not None:
        return tf.expand_dims(tensor, -1) if tensor.shape.rank == known else tensor
    more = tf.cast(tf.equal(tf.rank(tensor), rank), tf.int32)
    return tf.reshape(tensor, tf.concat([tf.shape(tensor), tf.ones([more], tf.int32)], axis=0))


def _is_same_shape(one: tf.Tensor, other: tf.Tensor) -> tf.Tensor:
    """Returns whether two shapes are equal; their ranks may differ."""
    sizes = tf.size(one), tf.size(other)
    both = tf.minimum(*sizes)
    # Comparing full shapes would broadcast: [2] and [2, 2] would be equal.
    return tf.logical_and(tf.equal(*sizes), tf.reduce_all(tf.equal(one[:both], other[:both])))


def _add_assertions(assertions: list[Any], tensor: tf.Tensor) -> tf.Tensor:
    """Returns the tensor with a dependency on the assertions."""
    if tf.executing_eagerly():  # Wrong values have raised an error already.
        return tensor
    with tf.control_dependencies(assertions):
        return tf.identity(tensor)
