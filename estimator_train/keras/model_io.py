"""Names, features, labels and export outputs of Keras models."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import tensorflow as tf

from estimator_train import export

# One value, or lists, tuples and dicts of them: tensors, TensorSpecs, metrics, sample weights.
Structure: TypeAlias = Any
# An object whose variables a checkpoint holds by attribute names: an optimizer, a layer, a list.
Trackable: TypeAlias = Any
# An optimizer of tf_keras, legacy or new, or of tf.compat.v1.train; or a name or config of one.
Optimizer: TypeAlias = Any
# Formats of checkpoints: by places in the model, or by names in the graph.
CHECKPOINT = "checkpoint"
SAVER = "saver"
_FEATURES = "features"
_SAMPLE_WEIGHTS = "sample_weights"
_DEFAULT_SIGNATURE = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY


class FormattedKeyError(KeyError):
    """KeyError that shows line breaks of its text; a plain KeyError escapes them.

    Attributes:
      exit_code: Exit code of a command that ends with it, that of bad input.
    """

    exit_code = 2

    def __str__(self) -> str:
        return str(self.args[0])

    @property
    def message(self) -> str:
        """The text in one line."""
        return " ".join(str(self).split())


@dataclasses.dataclass(frozen=True)
class Names:
    """Names of a model's inputs or of its outputs.

    Attributes:
      names: One name per tensor, in the model's order.
      aliases: Keys to names, for a model that takes or returns a dict.
    """

    names: tuple[str, ...]
    aliases: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @classmethod
    def from_structure(cls, names: Sequence[str], structure: Structure) -> "Names":
        """Makes the names of the tensors in `structure`; keys of a dict are aliases."""
        keys = sorted(structure) if isinstance(structure, Mapping) else []
        return cls(tuple(names), dict(zip(keys, names, strict=True)) if keys else {})

    def resolve_aliases(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Replaces aliases by names."""
        return {
            key if key in self.names else self.aliases.get(key, key): value
            for key, value in given.items()
        }

    def spread(self, given: Structure, argument: str) -> dict[str, Any]:
        """Returns one value for each name.

        Args:
          given: A dict by name (or alias), where names may be missing; a list or tuple in the order
            of the names; or one value for all.
          argument: The name of the values in error messages.

        Returns:
          Names to values; None for a missing value.

        Raises:
          ValueError: The dict has an unknown name, or the list another length.
        """
        if isinstance(given, Mapping):
            resolved = self.resolve_aliases(given)
            unknown = [key for key in resolved if key not in self.names]
            if unknown:
                raise ValueError(
                    f"Unknown entries in {argument} dictionary: {unknown}. Only expected following "
                    f"keys: {list(self.names)}"
                )
            return {name: resolved.get(name) for name in self.names}
        if isinstance(given, (list, tuple)):
            return self._in_order(given, argument)
        return dict.fromkeys(self.names, given)

    def pick(self, given: Structure, what: str, kind: str, wanted: Sequence[str]) -> dict[str, Any]:
        """Returns tensors by name from what an input_fn returned.

        Args:
          given: A dict by name (or alias), which may have other keys too; a list or tuple in the
            order of the names; or a tensor, if there is one name.
          what: "features" or "labels", for messages.
          kind: "inputs" or "outputs", for messages.
          wanted: The names that must be there.

        Raises:
          FormattedKeyError: The dict lacks a wanted name.
          ValueError: The list is of another length, or there is one tensor for several names.
        """
        if isinstance(given, Mapping):
            resolved = self.resolve_aliases(given)
            check_covers(set(resolved), set(wanted), set(given), what, kind)
            return {name: resolved[name] for name in self.names if name in resolved}
        return self._in_order(given if isinstance(given, (list, tuple)) else [given], what)

    def _in_order(self, given: Sequence[Any], what: str) -> dict[str, Any]:
        if len(given) != len(self.names):
            raise ValueError(
                f"When passing a list as {what}, it should have one entry for each of "
                f"{list(self.names)}, but you passed {len(given)}: {list(given)}"
            )
        return dict(zip(self.names, given, strict=True))


def check_covers(found: set[str], wanted: set[str], given: set[str], what: str, kind: str) -> None:
    """Checks that no wanted name is missing.

    Args:
      found: The names in the dict.
      wanted: The names that must be there.
      given: The names in the dict, as the user wrote them.
      what: The name of the dict in the error.
      kind: The kind of the wanted names in the error.

    Raises:
      FormattedKeyError: A name is missing.
    """
    missed = wanted - found
    if missed:
        raise FormattedKeyError(
            f"The dictionary passed into {what} does not cover requested {kind} keys defined in "
            f"the keras model.\n\tExpected keys: {_set(wanted)}\n\t{what} keys: {_set(given)}\n\t"
            f"Missed keys: {_set(missed)}"
        )


def _set(keys: set[str]) -> str:
    """Formats a set as Python does, but sorted."""
    return "{" + ", ".join(sorted(map(repr, keys))) + "}"


def as_tensors(given: Structure) -> Structure:
    """Replaces NumPy arrays by constants.

    Args:
      given: Tensors and arrays, or lists, tuples and dicts of them.
    """
    return tf.nest.map_structure(
        lambda value: tf.constant(value) if isinstance(value, np.ndarray) else value, given
    )


def split_features(features: Structure) -> tuple[Structure, Structure]:
    """Returns the model's features and the sample weights.

    Args:
      features: The features of input_fn; with sample weights a dict of `features` and
        `sample_weights`.

    Returns:
      The features, and the weights or None.
    """
    if isinstance(features, Mapping) and set(features) == {_FEATURES, _SAMPLE_WEIGHTS}:
        return features[_FEATURES], features[_SAMPLE_WEIGHTS]
    return features, None


class MissingLabelsError(tf.errors.InvalidArgumentError, ValueError):
    """Error for an input_fn without labels while the model has a loss."""


def find_labels(
    labels: Structure, names: Names, wanted: Sequence[str], outputs: Mapping[str, tf.Tensor]
) -> dict[str, Any]:
    """Returns labels by output name, with the ranks and dtypes of the outputs.

    Args:
      labels: The labels of input_fn: a tensor if one output needs labels, or a list, tuple or dict
        of tensors.
      names: The names of the model's outputs.
      wanted: The outputs that have a loss or metrics.
      outputs: The model's outputs by name.

    Raises:
      FormattedKeyError: A dict of labels lacks an output.
      MissingLabelsError: There are no labels, and an output needs some.
    """
    if not wanted:
        return {}
    if labels is None:
        raise MissingLabelsError(
            None,
            None,
            f"The Keras model was compiled with a loss or metrics of its outputs {list(wanted)}, "
            "but input_fn returned no labels. Return (features, labels).",
        )
    if len(wanted) == 1 and isinstance(labels, (tf.Tensor, tf.Variable)):
        labels = {wanted[0]: labels}
    given = names.pick(labels, "labels", "outputs", wanted)
    return {name: _align(given[name], outputs[name]) for name in wanted}


def find_weights(sample_weights: Structure, names: Names) -> dict[str, Any]:
    """Returns sample weights by output name; None for an output without weights.

    Args:
      sample_weights: None; a tensor of shape [batch] (or of an output's shape without its last
        dimension), for a model of one output; or a list, tuple or dict of these by output.
      names: The names of the model's outputs.

    Raises:
      TypeError: There is one tensor for several outputs.
      ValueError: A dict has unknown names, or a list another length.
    """
    several = len(names.names) > 1
    if several and isinstance(sample_weights, (tf.Tensor, tf.Variable)):
        raise TypeError(
            f"The model has multiple outputs, so `{_SAMPLE_WEIGHTS}` should be either a list or a "
            f"dict. Provided `{_SAMPLE_WEIGHTS}` type not understood: {sample_weights}"
        )
    return names.spread(sample_weights, _SAMPLE_WEIGHTS)


def _align(label: Any, output: tf.Tensor) -> Any:  # Any: also sparse and ragged tensors.
    """Casts a label to the output's dtype within floats or integers; [batch] becomes [batch, 1]."""
    if not isinstance(label, (tf.Tensor, tf.Variable)):
        return label
    if label.shape.rank == 1 and output.shape.rank == 2:
        label = tf.expand_dims(label, -1)
    floats = label.dtype.is_floating and output.dtype.is_floating
    integers = label.dtype.is_integer and output.dtype.is_integer
    return tf.cast(label, output.dtype) if floats or integers else label


def check_export_outputs(given: Mapping[str, type] | None) -> dict[str, type]:
    """Returns output names to classes of ExportOutput.

    Raises:
      TypeError: `given` is not a dict, or one of its values cannot be called.
    """
    if not given:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"export_outputs must be a dict, got {given!r}.")
    for name, cls in given.items():
        if not callable(cls):
            raise TypeError(
                f"export_outputs['{name}'] must be a class such as "
                f"estimator_train.export.PredictOutput, got {cls!r}."
            )
    return dict(given)


def make_export_outputs(
    classes: Mapping[str, type], names: Names, outputs: Mapping[str, tf.Tensor]
) -> dict[str, export.ExportOutput]:
    """Makes the default signature of all outputs, and one signature for each name in `classes`.

    Args:
      classes: Output names to classes of ExportOutput.
      names: The names of the model's outputs.
      outputs: The outputs by name.

    Raises:
      FormattedKeyError: The model has no output of a given name.
    """
    classes_by_name = names.resolve_aliases(classes)
    check_covers(set(outputs), set(classes_by_name), set(outputs), "outputs", "export_outputs")
    return {
        _DEFAULT_SIGNATURE: export.PredictOutput(dict(outputs)),
        **{name: cls(outputs[name]) for name, cls in classes_by_name.items()},
    }


def check_checkpoint_format(checkpoint_format: str | None) -> None:
    """Checks the name of a format of checkpoints; None is the format "saver".

    Raises:
      ValueError: The format is unknown.
    """
    if checkpoint_format not in (None, CHECKPOINT, SAVER):
        raise ValueError(
            f'Checkpoint format must be one of "checkpoint" or "saver". Got {checkpoint_format}'
        )
