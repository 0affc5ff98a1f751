"""Input receivers: how a request to an exported model becomes features (and labels)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import tensorflow as tf

FEATURE = "feature"  # name of the one feature where the features are not a dict
INPUT = "input"  # name a request gives to the one receiver tensor
LABEL = "label"  # name a request gives to the one tensor of labels

Tensor: TypeAlias = "tf.Tensor | tf.SparseTensor | tf.RaggedTensor"


class _ServingFields(NamedTuple):
    features: Any
    receiver_tensors: dict[str, Tensor]
    receiver_tensors_alternatives: dict[str, dict[str, Tensor]] | None


class ServingInputReceiver(_ServingFields):
    """What a serving_input_receiver_fn returns: the features of a dict model and its inputs.

    Args:
      features: the features model_fn gets: a dict, or one tensor, which becomes
        {"feature": tensor}.
      receiver_tensors: the tensors a request feeds, by the name it gives them; one tensor
        alone is named "input".
      receiver_tensors_alternatives: other sets of such tensors by the name of the set. A
        signature "name:signature" is exported for each that suffices to compute outputs.

    Raises:
      ValueError: features or receiver_tensors are missing, a key is of a wrong type, or a
        value is not a tensor.
    """

    __slots__ = ()

    def __new__(
        cls,
        features: Tensor | Mapping[str | int, Tensor],
        receiver_tensors: Tensor | Mapping[str, Tensor],
        receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    ) -> ServingInputReceiver:
        """Checks the arguments, which the class describes."""
        _check_given(features, "features")
        features = _named(features, FEATURE)
        for key, feature in features.items():
            if not isinstance(key, (str, int)):
                raise ValueError(f"feature keys must be strings or ints: {key}.")
            _check_tensor(feature, f"feature {key}")
        return super().__new__(
            cls, features, *_receivers(receiver_tensors, receiver_tensors_alternatives)
        )


class TensorServingInputReceiver(_ServingFields):
    """A `ServingInputReceiver` for a model_fn whose features are one tensor, not a dict.

    `features` is that tensor; all else is as for `ServingInputReceiver`, the errors included.
    """

    __slots__ = ()

    def __new__(
        cls,
        features: Tensor,
        receiver_tensors: Tensor | Mapping[str, Tensor],
        receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    ) -> TensorServingInputReceiver:
        """Checks the arguments, which the class describes."""
        _check_given(features, "features")
        _check_tensor(features, "feature")
        return super().__new__(
            cls, features, *_receivers(receiver_tensors, receiver_tensors_alternatives)
        )


class SupervisedInputReceiver(NamedTuple):
    """Features, labels and the tensors that feed them: to export a graph that can train.

    Attributes:
      features: the features model_fn gets, a tensor or a dict.
      labels: the labels model_fn gets, a tensor or a dict.
      receiver_tensors: the tensors a request feeds, by the name it gives them.
    """

    features: Any
    labels: Any
    receiver_tensors: dict[str, Tensor]


def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Makes a serving_input_receiver_fn that parses serialized tf.Examples.

    Args:
      feature_spec: what `tf.io.parse_example` takes: feature name to `FixedLenFeature`,
        `VarLenFeature` and so on.
      default_batch_size: number of examples in a request; any if None.

    Returns:
      A function without arguments that makes the receiver in the default graph. Its request
      feeds "examples", a string tensor of shape [batch].
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        examples = tf.compat.v1.placeholder(
            tf.string, shape=[default_batch_size], name="input_example_tensor"
        )
        features = tf.io.parse_example(examples, features=feature_spec)
        return ServingInputReceiver(features, {"examples": examples})

    return serving_input_receiver_fn


def build_raw_serving_input_receiver_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Makes a serving_input_receiver_fn whose request feeds the features as they are.

    Args:
      features: feature name to a tensor (or `tf.TensorSpec`) whose dtype and shape it has;
        the first dimension is that of the batch.
      default_batch_size: size of the first dimension; any if None.

    Returns:
      A function without arguments that makes the receiver in the default graph.

    Raises:
      ValueError: `features` is not a dict, or a value has no dtype and shape.
    """
    if not isinstance(features, Mapping):
        raise ValueError(f"features must be a dict of feature name to Tensor, given: {features}")
    _check_examples(features, "feature")

    def serving_input_receiver_fn() -> ServingInputReceiver:
        tensors = _placeholders(features, default_batch_size)
        return ServingInputReceiver(tensors, tensors)

    return serving_input_receiver_fn


def build_raw_supervised_input_receiver_fn(
    features: Any, labels: Any, default_batch_size: int | None = None
) -> Callable[[], SupervisedInputReceiver]:
    """Makes an input_receiver_fn with labels, to export a graph for training or evaluation.

    Args:
      features: a tensor, or a dict of feature name to tensor, as in
        `build_raw_serving_input_receiver_fn`. A request names one tensor "input".
      labels: the same for the labels. A request names one tensor "label".
      default_batch_size: size of the first dimension; any if None.

    Returns:
      A function without arguments that makes the receiver in the default graph.

    Raises:
      ValueError: a key is both a feature's and a label's, or a value has no dtype and shape.
    """
    named_features, named_labels = _named(features, INPUT), _named(labels, LABEL)
    _check_examples(named_features, "feature")
    _check_examples(named_labels, "label")
    overlap = set(named_features) & set(named_labels)
    if overlap:
        raise ValueError(
            f"Features and labels must have distinct keys. Found overlapping keys: {overlap}"
        )

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        feeds = _placeholders({**named_features, **named_labels}, default_batch_size)
        return SupervisedInputReceiver(
            features=_shaped_as(features, feeds, INPUT),
            labels=_shaped_as(labels, feeds, LABEL),
            receiver_tensors=feeds,
        )

    return supervised_input_receiver_fn


def _shaped_as(given: Any, feeds: dict[str, Tensor], single_key: str) -> Any:
    """The feeds of what was given: a dict if that is one, else the one tensor."""
    return {key: feeds[key] for key in given} if isinstance(given, Mapping) else feeds[single_key]


def _named(value: Any, single_key: str) -> Any:
    return value if isinstance(value, Mapping) else {single_key: value}


def _receivers(
    tensors: Any, alternatives: Any
) -> tuple[dict[str, Tensor], dict[str, dict[str, Tensor]] | None]:
    _check_given(tensors, "receiver_tensors")
    named = _receiver(tensors, "receiver_tensor")
    if alternatives is None:
        return named, None
    if not isinstance(alternatives, Mapping):
        raise ValueError(f"receiver_tensors_alternatives must be a dict: {alternatives}.")
    for other in alternatives.values():
        _check_given(other, "receiver_tensors_alternatives")
    label = "receiver_tensors_alternative"
    return named, {name: _receiver(other, label) for name, other in alternatives.items()}


def _receiver(tensors: Any, label: str) -> dict[str, Tensor]:
    named = _named(tensors, INPUT)
    for key, tensor in named.items():
        if not isinstance(key, str):
            raise ValueError(f"{label} keys must be strings: {key}.")
        _check_tensor(tensor, f"{label} {key}")
    return named


def _check_given(value: Any, name: str) -> None:
    if value is None:
        raise ValueError(f"{name} must be defined.")


def _check_tensor(value: Any, label: str) -> None:
    if isinstance(value, (tf.Tensor, tf.SparseTensor, tf.RaggedTensor)) or _holds_tensor(value):
        return
    raise ValueError(f"{label} must be a Tensor, SparseTensor, or RaggedTensor. Given: {value}")


def _holds_tensor(value: Any) -> bool:
    """Whether a value has a tensor, as which TensorFlow was told to take it."""
    if not hasattr(value, "tensor"):
        return False
    try:
        tf.convert_to_tensor(value)
    except (TypeError, ValueError):
        return False
    return True


def _check_examples(examples: Mapping[str, Any], kind: str) -> None:
    for key, value in examples.items():
        if not (hasattr(value, "shape") and hasattr(value, "dtype")):
            raise ValueError(
                f"{kind} {key} must be a Tensor or have its shape and dtype, given: {value}"
            )


def _placeholders(examples: Mapping[str, Any], batch_size: int | None) -> dict[str, Tensor]:
    return {key: _placeholder(value, batch_size) for key, value in examples.items()}


def _placeholder(example: Any, batch_size: int | None) -> tf.Tensor:
    """A placeholder like the example, of this batch size."""
    shape = tf.TensorShape(example.shape)
    if shape.rank is not None:
        shape = tf.TensorShape([batch_size]).concatenate(shape[1:])
    return tf.compat.v1.placeholder(example.dtype, shape=shape, name=_own_name(example))


def _own_name(example: Any) -> str | None:
    """The name the example has in its graph; eager tensors and arrays have none."""
    if isinstance(example, tf.TensorSpec):
        return example.name
    operation = getattr(example, "op", None)
    return None if operation is None else operation.name
