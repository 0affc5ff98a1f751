"""The inputs of a step: a call of the user's input_fn, and an iterator of its dataset."""

import contextlib
import dataclasses
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.inputs.external_arrays import MIN_BYTES, make_external_constant
from estimator_train.engine.inputs.sharding import select_shard
from estimator_train.engine.keras_3 import explain_keras_3_error
from estimator_train.engine.own_servers import runs_here
from estimator_train.engine.tf_internals.constants import replace_constants
from estimator_train.engine.type_aliases import InputFn, TensorStructure
from estimator_train.estimator_spec.spec import ModeKeys

_LOG = tf.get_logger()
_EXPECTED = (
    "Return a tf.data.Dataset of (features, labels) or of features, a pair of tensors or of "
    "dicts of tensors (features, labels), or features alone."
)


@dataclasses.dataclass(frozen=True)
class Inputs:
    """Tensors that one step reads.

    Attributes:
      features: The features for model_fn.
      labels: The labels for model_fn, or None.
      iterator: The dataset's iterator; None if the input is not a dataset.
      initializer: The operation that starts the dataset; None if the input is not a dataset.
      context: The shard of this process's input; None if no other process reads one.
      has_next: Whether another element follows, a bool scalar, for the vote of synchronous workers;
        None in all other trainings.
    """

    features: Any
    labels: Any
    iterator: Any = None
    initializer: tf.Operation | None = None
    context: tf.distribute.InputContext | None = None
    has_next: tf.Tensor | None = None


def call_input_fn(
    context: EstimatorContext,
    input_fn: InputFn,
    mode: str,
    input_context: tf.distribute.InputContext | None = None,
) -> Any:
    """Calls input_fn with those of params, config, mode and input_context that it accepts.

    Args:
      context: The estimator that is run.
      input_fn: The user's input_fn.
      mode: A ModeKeys value.
      input_context: The shard of this process's input; None if no other process reads one. An
        input_fn's default is then used.
    """
    config = context.config
    shard = {} if input_context is None else {"input_context": input_context}
    master = config.evaluation_master if mode == ModeKeys.EVAL else config.master
    # The strategy of synchronous workers may have started the server in this process.
    is_local = not master or runs_here(master) or context.topology.is_synchronous
    external = (
        replace_constants(make_external_constant, MIN_BYTES)
        if is_local
        else contextlib.nullcontext()
    )
    try:
        with tf.device("/cpu:0"), external:
            result = context.call_input_fn(input_fn, mode, **shard)
    except Exception as error:
        explain_keras_3_error("input_fn", error)
        raise
    if result is None:
        _LOG.warning("input_fn (%s) returned None. %s", input_fn, _EXPECTED)
    return result


def make_inputs(context: EstimatorContext, input_fn: InputFn, mode: str) -> Inputs:
    """Calls an input_fn and returns the tensors of one step.

    Args:
      context: The estimator that is run.
      input_fn: The user's input_fn.
      mode: A ModeKeys value.

    Raises:
      ValueError: It returned a tuple or list of another length than 2.
    """
    shard = context.topology.input_context if mode == ModeKeys.TRAIN else None
    result = call_input_fn(context, input_fn, mode, shard)
    if not is_dataset(result):
        return Inputs(*split(result))
    if shard is not None:
        result = select_shard(result, shard)
    with tf.device("/cpu:0"):
        iterator = tf.compat.v1.data.make_initializable_iterator(result)
        return Inputs(*split(iterator.get_next()), iterator, iterator.initializer, shard)


def find_batch_size(features: TensorStructure) -> tf.Tensor | None:
    """Returns the batch size of the first feature, an integer scalar; None without a batch."""
    first = _find_first_leaf(features)
    if isinstance(first, tf.SparseTensor):
        return first.dense_shape[0]
    if isinstance(first, tf.RaggedTensor):
        return first.nrows()
    return tf.shape(first)[0] if tf.is_tensor(first) and first.shape.rank != 0 else None


def _find_first_leaf(structure: TensorStructure) -> Any:
    """Returns the first leaf of a structure, or None; the keys of dicts may have mixed types."""
    if isinstance(structure, Mapping):
        names = sorted(structure, key=lambda name: (type(name).__name__, name))
        parts = [structure[name] for name in names]
    elif isinstance(structure, (list, tuple)):
        parts = list(structure)
    else:
        return structure
    return next((leaf for leaf in map(_find_first_leaf, parts) if leaf is not None), None)


def is_dataset(result: Any) -> bool:
    """Returns whether an input_fn returned a dataset, of TensorFlow 1 or 2."""
    return isinstance(result, tf.data.Dataset)  # A base class of tf.compat.v1.data.Dataset.


def split(element: TensorStructure) -> tuple[TensorStructure, TensorStructure]:
    """Splits an element into features and labels; labels are None for an element without them."""
    if not isinstance(element, (tuple, list)):
        return element, None
    if len(element) != 2:
        raise ValueError(
            "input_fn should return (features, labels) as a len 2 tuple. It returned a "
            f"{type(element).__name__} of length {len(element)}: {element}"
        )
    features, labels = element
    return features, labels
