"""Models for runtimes that read no strings and have no lists of tensors.

Their categorical columns are fed as ids, and recurrent layers of tf-keras run in loops of plain
tensors. tf-keras collects the outputs of a recurrent layer in a list of tensors: tf2onnx and LiteRT
do not convert such lists, and OpenVINO does not run them. Layers call `tf_keras.src.backend.rnn`;
no public setting replaces it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from tf_keras.src import backend

from estimator_train.engine.tf_internals import column_types

_v1 = tf.compat.v1
# Operations that leave the values of a feature as they are.
_SAME_VALUES = ("Cast", "ExpandDims", "Identity", "Reshape", "Squeeze")
# Each attribute belongs to one kind of categorical columns whose ids need no table of TensorFlow.
_KINDS = (
    "vocabulary_list",
    "vocabulary_file",
    "hash_bucket_size",
    "number_buckets",
    "boundaries",
)
_nest = tf.nest


class IdInput(NamedTuple):
    """Inputs of a model for one categorical column.

    Attributes:
      ids: Placeholder of int64 [batch, values]; -1 fills up examples with fewer values. In a
        sequence, [batch, time], -1 is a step without an id, and -2 fills up shorter sequences.
      weights: Placeholder of float32 [batch, values], or None.
    """

    ids: tf.Tensor
    weights: tf.Tensor | None


class TreeLogits(NamedTuple):
    """Logits that trees give, for runtimes that have one operation for all trees.

    The nodes of a tree are numbered from the root, 0; the children of node n are 2n + 1 and 2n + 2.

    Attributes:
      inputs: Numbers that nodes compare, float32 [batch, features].
      logits: Sum of the trees' values, float32 [batch, logits].
      feature: Feature that a node compares, int32 [trees, 2^depth - 1]; -1 for leaves.
      threshold: Number that a node compares it with, float32 of the same shape.
      by_value: Whether only an equal number goes left, bool of the same shape; otherwise NaN and
        numbers up to the threshold go left.
      value: What a leaf adds to the logits, float32 [trees, 2^(depth + 1) - 1, logits].
    """

    inputs: tf.Tensor
    logits: tf.Tensor
    feature: tf.Tensor
    threshold: tf.Tensor
    by_value: tf.Tensor
    value: tf.Tensor


class IdFeatures(dict[Any, Any]):
    """Features of model_fn: placeholders by feature name, and ids by categorical column.

    TensorFlow asks the features for the result of a column before it computes one. This class
    answers with ids that are fed, so that no table and no hash of a string is in the graph.

    Args:
      placeholders: Feature name to placeholder.
      given: The placeholders that the export feeds; None for these. model_fn may change a copy.
      inputs: The inputs of columns; copies of the features share them.
      trees: The trees of the model; copies of the features share the list.
    """

    # `tf.nest` copies a dict by calling its class without arguments.
    def __init__(
        self,
        placeholders: Mapping[str, Any] = MappingProxyType({}),
        given: Mapping[str, Any] | None = None,
        inputs: dict[Any, IdInput] | None = None,
        trees: list[TreeLogits] | None = None,
    ) -> None:
        super().__init__(placeholders)
        self.given = dict(placeholders) if given is None else given
        self.inputs: dict[Any, IdInput] = {} if inputs is None else inputs
        self.trees: list[TreeLogits] = [] if trees is None else trees

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or (
            isinstance(key, column_types.FeatureColumn)
            and feeds_ids(key)
            and not hasattr(key, "weight_feature_key")
        )

    def __getitem__(self, key: Any) -> Any:
        if super().__contains__(key) or key not in self:
            return super().__getitem__(key)
        if hasattr(key, "boundaries"):
            return self._assign_buckets(key)
        return _drop_padding(self.get_ids(key).ids)

    def copy(self) -> IdFeatures:
        """Returns a copy that shares the inputs of columns and the trees."""
        return IdFeatures(self, self.given, self.inputs, self.trees)

    __copy__ = copy

    def get_ids(self, column: Any) -> IdInput:
        """Returns the inputs of a categorical column, which are created at its first use.

        Args:
          column: A categorical column that `feeds_ids` accepts.

        Raises:
          ValueError: model_fn has changed a feature of the column.
        """
        if not hasattr(column, "boundaries"):
            self._check_features(column)
        if column not in self.inputs:
            if hasattr(column, "boundaries"):
                places = np.arange(column.source_column.shape[0], dtype=np.int32)
                first_ids = places * (len(column.boundaries) + 1)
                ids = self._assign_buckets(column, first_ids[:, np.newaxis])
                return IdInput(tf.cast(ids, tf.int64), None)
            with tf.name_scope(""):
                name = make_input_name(column.name)
                has_weights = hasattr(column, "weight_feature_key")
                self.inputs[column] = IdInput(
                    _v1.placeholder(tf.int64, [None, None], name),
                    _v1.placeholder(tf.float32, [None, None], name) if has_weights else None,
                )
        return self.inputs[column]

    def _check_features(self, column: Any) -> None:
        """Raises ValueError if model_fn has changed a feature from which ids are encoded."""
        for name in column.parse_example_spec:
            found, given = self.get(name), self.given.get(name)
            if given is None or not _has_values_of(found, given):
                raise ValueError(
                    f"Column '{column.name}' does not read the feature '{name}' as the input_fn "
                    "gives it: model_fn changes or copies it, which the encoder of an export "
                    "cannot repeat. Change the feature in the input_fn, or export with "
                    "--to=saved_model."
                )

    def _assign_buckets(self, column: Any, first_ids: np.ndarray | None = None) -> tf.Tensor:
        """Returns the bucket of each number, with comparisons that every runtime has.

        Args:
          column: A column of buckets.
          first_ids: Numbers of shape [numbers, 1] that are added to the buckets.
        """
        source = column_types.FeatureTransformationCache(self).get(column.source_column, None)
        # Like TensorFlow, puts NaN into the last bucket, without a comparison of NaN, in which
        # runtimes differ.
        numbers = tf.where(tf.math.is_nan(source), tf.constant(np.inf, source.dtype), source)
        passed = tf.expand_dims(numbers, -1) >= tf.constant(column.boundaries, tf.float32)
        counts = tf.cast(passed, tf.int32)
        if first_ids is not None:
            # OpenVINO adds a constant to a sum along the wrong axis: here, it is a part of the sum.
            counts = tf.concat([counts, tf.zeros_like(counts[..., :1]) + first_ids], axis=-1)
        return tf.reduce_sum(counts, axis=-1)


def feeds_ids(column: Any) -> bool:
    """Returns whether the ids of a column can be fed, or computed from fed numbers."""
    source = getattr(column, "categorical_column", column)  # Of a column with weights.
    return hasattr(column, "num_buckets") and any(hasattr(source, name) for name in _KINDS)


def has_sequences(column: Any) -> bool:
    """Returns whether a categorical column has a sequence of ids for each example."""
    # Columns with weights also wrap a column.
    is_wrapper = hasattr(column, "num_buckets") and hasattr(column, "categorical_column")
    return is_wrapper and not hasattr(column, "weight_feature_key")


def make_input_name(name: str) -> str:
    """Returns a feature's or a column's name as the name of an input."""
    cleaned = re.sub("[^A-Za-z0-9_.\\-/]", "_", name)
    return cleaned if re.match("[A-Za-z0-9.]", cleaned) else f"input{cleaned}"


def _has_values_of(found: Any, given: Any) -> bool:
    """Returns whether a feature has the values of a placeholder, in any shape."""
    while found is not given and isinstance(found, tf.Tensor) and found.op.type in _SAME_VALUES:
        source = found.op.inputs[0]
        if source.dtype.is_floating and not found.dtype.is_floating:
            return False  # Rounds.
        found = source
    return found is given


def _drop_padding(ids: tf.Tensor) -> tf.SparseTensor:
    places = tf.where(ids >= 0)
    return tf.SparseTensor(places, tf.gather_nd(ids, places), tf.shape(ids, tf.int64))


@contextlib.contextmanager
def without_tensor_lists() -> Iterator[None]:
    """Lets recurrent layers that are called in the context run in loops of plain tensors."""
    original = backend.rnn

    def run_layer(
        step_function: Callable[..., Any],
        inputs: Any,
        initial_states: Sequence[Any],
        **options: Any,
    ) -> tuple[Any, Any, Any]:
        if _is_plain(inputs, options):
            return _run_steps(step_function, inputs, initial_states, **options)
        found: tuple[Any, Any, Any] = original(step_function, inputs, initial_states, **options)
        return found

    backend.rnn = run_layer
    try:
        yield
    finally:
        backend.rnn = original


def _is_plain(inputs: Any, options: dict[str, Any]) -> bool:
    return (
        tf.is_tensor(inputs)
        and not options.get("unroll")
        and not options.get("time_major")
        and not tf.is_tensor(options.get("input_length"))
        and (options.get("mask") is None or tf.is_tensor(options["mask"]))
    )


def _run_steps(
    step_function: Callable[..., Any],
    inputs: tf.Tensor,
    initial_states: Sequence[Any],
    *,
    go_backwards: bool = False,
    mask: tf.Tensor | None = None,
    constants: Sequence[Any] | None = None,
    zero_output_for_mask: bool = False,
    return_all_outputs: bool = True,
    **_: Any,
) -> tuple[Any, Any, Any]:
    """Returns the last output, all outputs [batch, time, ...] and the last states.

    A step that the mask excludes keeps the states, and repeats the output or gives zeros.
    """
    steps = tf.shape(inputs)[1]
    constants = tuple(constants or ())
    first, _ = step_function(inputs[:, 0], (*initial_states, *constants))
    places = tf.reshape(tf.range(steps), [1, -1, *[1] * (first.shape.rank - 1)])
    empty = tf.zeros_like(first)
    collected = tf.zeros_like(tf.expand_dims(first, 1))
    if return_all_outputs:
        collected *= tf.cast(tf.ones_like(places), first.dtype)

    def run_step(
        step: tf.Tensor, last: tf.Tensor, collected: tf.Tensor, states: list[tf.Tensor]
    ) -> tuple[Any, ...]:
        place = steps - 1 - step if go_backwards else step
        given = _nest.pack_sequence_as(initial_states, states)
        output, new = step_function(tf.gather(inputs, place, axis=1), (*given, *constants))
        new = _nest.flatten(new)
        if mask is not None:
            runs = tf.gather(tf.cast(mask, tf.float32), place, axis=1) > 0.5
            output = _choose(runs, output, empty if zero_output_for_mask else last)
            new = [_choose(runs, a, b) for a, b in zip(new, states, strict=True)]
        if return_all_outputs:
            collected = tf.where(tf.equal(places, step), tf.expand_dims(output, 1), collected)
        return step + 1, output, collected, new

    states = _nest.flatten(initial_states)
    _, last, collected, states = tf.while_loop(
        lambda step, *_: step < steps, run_step, (tf.constant(0), empty, collected, states)
    )
    collected = collected if return_all_outputs else tf.expand_dims(last, 1)
    return last, collected, _nest.pack_sequence_as(initial_states, states)


def _choose(runs: tf.Tensor, new: tf.Tensor, old: tf.Tensor) -> tf.Tensor:
    """Returns the new rows where a step runs, and the old ones elsewhere."""
    return tf.where(tf.reshape(runs, [-1, *[1] * (new.shape.rank - 1)]), new, old)
