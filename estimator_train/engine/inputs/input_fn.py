"""From a user's input_fn to the tensors of one step."""

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.checkpoints.save_schedule import SaveSchedule
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.hook_types import Hook
from estimator_train.engine.inputs.outside_arrays import LEAST_BYTES, handed_over
from estimator_train.engine.inputs.sharding import own_part
from estimator_train.engine.keras_3 import explain
from estimator_train.engine.loops.agreement import LoopAgreement
from estimator_train.engine.model_cache import ReusedInputFn
from estimator_train.engine.own_servers import runs_here
from estimator_train.engine.tf_internals import constants_made_by
from estimator_train.engine.user_functions import call_with_known
from estimator_train.estimator_spec.spec import ModeKeys

_LOG = tf.get_logger()
_EXPECTED = (
    "Return a tf.data.Dataset of (features, labels) or of features, a pair of tensors or of "
    "dicts of tensors (features, labels), or features alone."
)


@dataclasses.dataclass(frozen=True)
class Inputs:
    """The tensors that one step reads.

    Attributes:
      features: What model_fn gets as features.
      labels: What model_fn gets as labels, or None.
      iterator: The dataset's iterator, or None where the input is not a dataset.
      initializer: The operation that starts the dataset, or None likewise.
      context: The pipeline's place among the others; None where it is the only one.
      voting_hooks: Hooks by which synchronous workers agree on the end of their input.
      agreement: How synchronous workers come to run the same loops; None where no other is there.
    """

    features: Any
    labels: Any
    iterator: Any = None
    initializer: tf.Operation | None = None
    context: tf.distribute.InputContext | None = None
    voting_hooks: tuple[Hook, ...] = ()
    agreement: LoopAgreement | None = None

    def attend(self, hooks: Sequence[Any], schedule: SaveSchedule | None) -> None:
        """Is told of the session that is going to read it.

        Args:
          hooks: All hooks of the session.
          schedule: When checkpoints are written, where this process writes them.
        """

    @property
    def has_more(self) -> bool | None:
        """Whether another step can be made after the last one; None if that is not known."""
        return None

    @property
    def chief_saves(self) -> bool | None:
        """Whether the chief writes a checkpoint after the last step; None if that is not known."""
        return None

    def placed(self, has_more: bool | None) -> None:
        """Is told that the input was moved in a new session.

        Args:
          has_more: What `has_more` was at that place; None if the input is at its start.
        """


def call_input_fn(
    context: EstimatorContext,
    input_fn: Any,
    mode: str,
    input_context: tf.distribute.InputContext | None = None,
) -> Any:
    """Calls input_fn with those of params, config, mode and input_context that it names.

    Args:
      context: The estimator that is run.
      input_fn: The user's input_fn, or a ReusedInputFn of it.
      mode: A ModeKeys value.
      input_context: The pipeline's place among the others. Where it is the only one, an input_fn
        that has a default for it keeps its default.
    """
    if isinstance(input_fn, ReusedInputFn):
        input_fn = input_fn.function
    config = context.config
    available: dict[str, Any] = {"mode": mode, "params": context.params, "config": config}
    fallbacks = {}
    if input_context is not None:
        available["input_context"] = input_context
    else:
        fallbacks["input_context"] = tf.distribute.InputContext()
    master = config.evaluation_master if mode == ModeKeys.EVAL else config.master
    # A strategy of synchronous workers may have made its server itself, in this process.
    is_here = not master or runs_here(master) or context.topology.is_synchronous
    outside = constants_made_by(handed_over, LEAST_BYTES) if is_here else contextlib.nullcontext()
    try:
        with tf.device("/cpu:0"), outside:
            result = call_with_known(input_fn, available, fallbacks)
    except Exception as error:
        explain("input_fn", error)
        raise
    if result is None:
        _LOG.warning("input_fn (%s) returned None. %s", input_fn, _EXPECTED)
    return result


def inputs_of(context: EstimatorContext, input_fn: Any, mode: str) -> Inputs:
    """Makes one step's tensors of what an input_fn returns to this process.

    Args:
      context: The estimator that is run.
      input_fn: The user's input_fn.
      mode: A ModeKeys value.

    Raises:
      ValueError: It returned a tuple or list of another length than 2.
    """
    place = context.topology.input_context if mode == ModeKeys.TRAIN else None
    result = call_input_fn(context, input_fn, mode, place)
    if not is_dataset(result):
        return Inputs(*split(result))
    if place is not None:
        result = own_part(result, place)
    with tf.device("/cpu:0"):
        iterator = tf.compat.v1.data.make_initializable_iterator(result)
        return Inputs(*split(iterator.get_next()), iterator, iterator.initializer)


def bind_input(inputs: Inputs, result: Any) -> tf.Operation | None:
    """Makes the iterator of `inputs` one over what another input_fn returned.

    Args:
      inputs: Inputs of the default graph that have an iterator.
      result: What input_fn returned in the same graph.

    Returns:
      The operation that starts it, or None if it is not a dataset of the same structure and shapes.
    """
    if not is_dataset(result) or result.element_spec != inputs.iterator.element_spec:
        return None
    with tf.device("/cpu:0"):
        return inputs.iterator.make_initializer(result)


def batch_size_of(features: Any) -> tf.Tensor | None:
    """The examples in a batch, an integer scalar, by the first feature; None if it has no batch."""
    first = _first_leaf(features)
    if isinstance(first, tf.SparseTensor):
        return first.dense_shape[0]
    if isinstance(first, tf.RaggedTensor):
        return first.nrows()
    return tf.shape(first)[0] if tf.is_tensor(first) and first.shape.rank != 0 else None


def _first_leaf(structure: Any) -> Any:
    """The first part of a structure, or None; names in its dicts may be of several types."""
    if isinstance(structure, Mapping):
        names = sorted(structure, key=lambda name: (type(name).__name__, name))
        parts = [structure[name] for name in names]
    elif isinstance(structure, (list, tuple)):
        parts = list(structure)
    else:
        return structure
    return next((leaf for leaf in map(_first_leaf, parts) if leaf is not None), None)


def is_dataset(result: Any) -> bool:
    """Whether an input_fn returned a dataset, of either generation."""
    return isinstance(result, (tf.data.Dataset, tf.compat.v1.data.Dataset))


def split(element: Any) -> tuple[Any, Any]:
    """Splits an element into features and labels; labels are None where there are none."""
    if not isinstance(element, (tuple, list)):
        return element, None
    if len(element) != 2:
        raise ValueError(
            "input_fn should return (features, labels) as a len 2 tuple. It returned a "
            f"{type(element).__name__} of length {len(element)}: {element}"
        )
    features, labels = element
    return features, labels
