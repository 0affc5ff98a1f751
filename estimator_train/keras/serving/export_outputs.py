"""The export outputs of a Keras model."""

from collections.abc import Mapping

import tensorflow as tf

from estimator_train import export
from estimator_train.keras.graph.io_names import Names, check_covers

_DEFAULT_SIGNATURE = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY


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
