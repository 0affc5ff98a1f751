"""Input receivers, which convert a request to an exported model into features and labels.

A warning names features of a receiver whose kind changes the ids of crossed columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol, TypeAlias

import tensorflow as tf

_LOG = tf.get_logger()
_CROSS = "SparseCross"  # The prefix of all versions of the operation.
FEATURE = "feature"  # Name of a single feature.
INPUT = "input"  # Name of a single receiver tensor in a request.
LABEL = "label"  # Name of a single tensor of labels in a request.

Tensor: TypeAlias = "tf.Tensor | tf.SparseTensor | tf.RaggedTensor"
# Tensors, specs or arrays that have the shape and dtype of an input.
Example: TypeAlias = "tf.Tensor | tf.TensorSpec"


class Receiver(Protocol):
    """Result of an input_receiver_fn.

    Attributes:
      features: The features for model_fn.
      receiver_tensors: The tensors of a request, by name.
    """

    @property
    def features(self) -> Tensor | Mapping[str | int, Tensor]:
        """The features for model_fn."""

    @property
    def receiver_tensors(self) -> Mapping[str, Tensor]:
        """The tensors of a request, by name."""


ReceiverFn: TypeAlias = Callable[[], Receiver]


class _ServingFields(NamedTuple):
    features: Any
    receiver_tensors: dict[str, Tensor]
    receiver_tensors_alternatives: dict[str, dict[str, Tensor]] | None


class ServingInputReceiver(_ServingFields):
    """Result of a serving_input_receiver_fn: a dict of features, and the tensors of a request.

    Args:
      features: The features for model_fn: a dict, or a single tensor, which becomes
        {"feature": tensor}.
      receiver_tensors: The tensors that a request feeds, by name; a single tensor gets the
        name "input".
      receiver_tensors_alternatives: Other dicts of such tensors, by the name of the alternative.
        A signature "name:signature" is exported for each alternative that is sufficient to
        compute the outputs.

    Raises:
      ValueError: features or receiver_tensors are missing, a key has a wrong type, or a value is
        not a tensor.
    """

    __slots__ = ()

    def __new__(
        cls,
        features: Tensor | Mapping[str | int, Tensor],
        receiver_tensors: Tensor | Mapping[str, Tensor],
        receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    ) -> ServingInputReceiver:
        """Checks the arguments, which the class describes."""
        _check_not_none(features, "features")
        features = _as_dict(features, FEATURE)
        for key, feature in features.items():
            if not isinstance(key, (str, int)):
                raise ValueError(f"feature keys must be strings or ints: {key}.")
            _check_tensor(feature, f"feature {key}")
        return super().__new__(
            cls, features, *_check_receivers(receiver_tensors, receiver_tensors_alternatives)
        )


class TensorServingInputReceiver(_ServingFields):
    """A `ServingInputReceiver` for a model_fn whose features are a single tensor, not a dict.

    `features` is this tensor. The other arguments and the errors are those of
    `ServingInputReceiver`.
    """

    __slots__ = ()

    def __new__(
        cls,
        features: Tensor,
        receiver_tensors: Tensor | Mapping[str, Tensor],
        receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    ) -> TensorServingInputReceiver:
        """Checks the arguments, which the class describes."""
        _check_not_none(features, "features")
        _check_tensor(features, "feature")
        return super().__new__(
            cls, features, *_check_receivers(receiver_tensors, receiver_tensors_alternatives)
        )


class SupervisedInputReceiver(NamedTuple):
    """Features, labels and the tensors of a request, to export a graph that can train.

    Attributes:
      features: The features for model_fn, a tensor or a dict.
      labels: The labels for model_fn, a tensor or a dict.
      receiver_tensors: The tensors that a request feeds, by name.
    """

    features: Any
    labels: Any
    receiver_tensors: dict[str, Tensor]


def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Returns a serving_input_receiver_fn that parses serialized tf.Examples.

    Args:
      feature_spec: Maps feature names to `FixedLenFeature`, `VarLenFeature` and so on, as for
        `tf.io.parse_example`.
      default_batch_size: Number of examples in a request; None allows any number.

    Returns:
      A function without arguments that creates the receiver in the default graph. A request
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
    features: Mapping[str, Example], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Returns a serving_input_receiver_fn for requests that feed the features directly.

    Args:
      features: Maps feature names to a tensor or `tf.TensorSpec` with the dtype and shape of the
        feature; the first dimension is the batch.
      default_batch_size: Size of the first dimension; None allows any size.

    Returns:
      A function without arguments that creates the receiver in the default graph.

    Raises:
      ExampleError: `features` is not a dict, or a value has no dtype and shape.
    """
    if not isinstance(features, Mapping):
        raise ExampleError(f"features must be a dict of feature name to Tensor, given: {features}")
    _check_examples(features, "feature")

    def serving_input_receiver_fn() -> ServingInputReceiver:
        tensors = _make_placeholders(features, default_batch_size)
        return ServingInputReceiver(tensors, tensors)

    return serving_input_receiver_fn


def build_raw_supervised_input_receiver_fn(
    features: Example | Mapping[str, Example],
    labels: Example | Mapping[str, Example],
    default_batch_size: int | None = None,
) -> Callable[[], SupervisedInputReceiver]:
    """Returns an input_receiver_fn with labels, to export a graph for training or evaluation.

    Args:
      features: A tensor, or a dict from feature names to tensors, as in
        `build_raw_serving_input_receiver_fn`. The name of a single tensor is "input".
      labels: The same for the labels. The name of a single tensor is "label".
      default_batch_size: Size of the first dimension; None allows any size.

    Returns:
      A function without arguments that creates the receiver in the default graph.

    Raises:
      ValueError: A feature and a label have the same key.
      ExampleError: A value has no dtype and shape.
    """
    named_features, named_labels = _as_dict(features, INPUT), _as_dict(labels, LABEL)
    _check_examples(named_features, "feature")
    _check_examples(named_labels, "label")
    overlap = set(named_features) & set(named_labels)
    if overlap:
        raise ValueError(
            f"Features and labels must have distinct keys. Found overlapping keys: {overlap}"
        )

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        feeds = _make_placeholders({**named_features, **named_labels}, default_batch_size)
        return SupervisedInputReceiver(
            features=_select_like(features, feeds, INPUT),
            labels=_select_like(labels, feeds, LABEL),
            receiver_tensors=feeds,
        )

    return supervised_input_receiver_fn


def _select_like(
    examples: Example | Mapping[str, Example], feeds: dict[str, Tensor], single_key: str
) -> Tensor | dict[str, Tensor]:
    """Returns the feeds of `examples`: a dict of tensors, or a single tensor."""
    if isinstance(examples, Mapping):
        return {key: feeds[key] for key in examples}
    return feeds[single_key]


def _as_dict(value: Any, single_key: str) -> Any:
    return value if isinstance(value, Mapping) else {single_key: value}


def _check_receivers(
    tensors: Tensor | Mapping[str, Tensor], alternatives: Mapping[str, Any] | None
) -> tuple[dict[str, Tensor], dict[str, dict[str, Tensor]] | None]:
    _check_not_none(tensors, "receiver_tensors")
    receiver = _check_receiver(tensors, "receiver_tensor")
    if alternatives is None:
        return receiver, None
    if not isinstance(alternatives, Mapping):
        raise ValueError(f"receiver_tensors_alternatives must be a dict: {alternatives}.")
    for alternative in alternatives.values():
        _check_not_none(alternative, "receiver_tensors_alternatives")
    label = "receiver_tensors_alternative"
    return receiver, {name: _check_receiver(other, label) for name, other in alternatives.items()}


def _check_receiver(tensors: Tensor | Mapping[str, Tensor], label: str) -> dict[str, Tensor]:
    receiver: dict[str, Tensor] = _as_dict(tensors, INPUT)
    for key, tensor in receiver.items():
        if not isinstance(key, str):
            raise ValueError(f"{label} keys must be strings: {key}.")
        _check_tensor(tensor, f"{label} {key}")
    return receiver


def _check_not_none(value: object, name: str) -> None:
    if value is None:
        raise ValueError(f"{name} must be defined.")


def _check_tensor(value: object, label: str) -> None:
    if isinstance(value, (tf.Tensor, tf.SparseTensor, tf.RaggedTensor)) or _wraps_tensor(value):
        return
    raise ValueError(f"{label} must be a Tensor, SparseTensor, or RaggedTensor. Given: {value}")


def _wraps_tensor(value: object) -> bool:
    """Returns whether a value wraps a tensor and TensorFlow can convert it to this tensor."""
    if not hasattr(value, "tensor"):
        return False
    try:
        tf.convert_to_tensor(value)
    except (TypeError, ValueError):
        return False
    return True


class ExampleError(ValueError, AttributeError):
    """Error for an example of a raw receiver without a dtype and shape."""


def _check_examples(examples: Mapping[str, Any], kind: str) -> None:
    for key, value in examples.items():
        if not (hasattr(value, "shape") and hasattr(value, "dtype")):
            raise ExampleError(
                f"{kind} {key} must be a Tensor or have its shape and dtype, given: {value}"
            )


def _make_placeholders(
    examples: Mapping[str, Example], batch_size: int | None
) -> dict[str, Tensor]:
    """Returns placeholders with the shapes and dtypes of examples and the given batch size."""
    placeholders: dict[str, Tensor] = {}
    for key, example in examples.items():
        shape = tf.TensorShape(example.shape)
        if shape.rank is not None:
            shape = tf.TensorShape([batch_size]).concatenate(shape[1:])
        name = _get_name(example)
        placeholders[key] = tf.compat.v1.placeholder(example.dtype, shape=shape, name=name)
    return placeholders


def _get_name(example: Example) -> str | None:
    """Returns the name of the example in its graph; None for eager tensors and arrays."""
    named = example if isinstance(example, tf.TensorSpec) else getattr(example, "op", None)
    return getattr(named, "name", None)


def warn_of_reordered_crosses(graph: tf.Graph, checkpoint_path: str) -> None:
    """Warns of crosses with other kinds of keys than in the training.

    TensorFlow hashes sparse keys before dense ones. A string key that is dense in the input_fn and
    sparse in the receiver, which parses it, gives the same values other ids.

    Args:
      graph: The graph of an export.
      checkpoint_path: The checkpoint, whose .meta file has the graph of the training.
    """
    crosses = _list_key_types(op.node_def for op in graph.get_operations() if _is_cross(op))
    path = f"{checkpoint_path}.meta"
    if not crosses or not tf.io.gfile.exists(path):
        return
    training = _read_training_crosses(path)
    for name, (sparse, dense) in crosses.items():
        trained_sparse, trained_dense = training.get(name, (sparse, dense))
        mixes_types = set(sparse) & set(dense) or set(trained_sparse) & set(trained_dense)
        # Keys of one type and kind keep the order of the column.
        keeps_order = sparse + dense == trained_sparse + trained_dense and not mixes_types
        if len(sparse) != len(trained_sparse) and not keeps_order:
            _LOG.warning(
                "The crossed column of %s has %d sparse and %d dense keys in this export, and had "
                "%d and %d in the training. TensorFlow hashes sparse keys first, so that the "
                "export can look up other weights for the same values. Let the features of the "
                "receiver and of input_fn be of the same kind: tf.io.FixedLenFeature reads dense "
                "strings, and tf.sparse.from_dense makes strings sparse.",
                name,
                len(sparse),
                len(dense),
                len(trained_sparse),
                len(trained_dense),
            )


def _is_cross(op: tf.Operation) -> bool:
    return bool(op.type.startswith(_CROSS))


def _read_training_crosses(path: str) -> dict[str, tuple[list[int], list[int]]]:
    with tf.io.gfile.GFile(path, "rb") as file:
        graph = tf.compat.v1.MetaGraphDef.FromString(file.read()).graph_def
    nodes = [*graph.node, *(node for one in graph.library.function for node in one.node_def)]
    return _list_key_types(node for node in nodes if node.op.startswith(_CROSS))


def _list_key_types(
    nodes: Iterable[tf.compat.v1.NodeDef],
) -> dict[str, tuple[list[int], list[int]]]:
    """Returns the names of crosses with several keys, and the types of sparse and dense keys."""
    found = {}
    for node in nodes:
        sparse, dense = (list(node.attr[f"{kind}_types"].list.type) for kind in ("sparse", "dense"))
        if len(sparse) + len(dense) > 1:
            found[node.name] = sparse, dense
    return found
