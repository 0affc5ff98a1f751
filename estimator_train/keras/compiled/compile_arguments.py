"""The arguments of `Model.compile`."""

import dataclasses

import tf_keras

from estimator_train.keras.graph.structures import Optimizer, Structure

_UNCOMPILED = (
    "The given keras model has not been compiled yet. Please compile the model with "
    "`model.compile()` before calling `model_to_estimator()`."
)


@dataclasses.dataclass(frozen=True)
class CompileArguments:
    """Arguments that `Model.compile` was called with.

    Attributes:
      optimizer: The optimizer object; names are resolved.
      loss: A loss (name, function or object), a list or dict of losses by output, or None.
      loss_weights: None, a number, or a list or dict of numbers by output.
      metrics: None, a metric, or a list or dict of metrics by output.
      weighted_metrics: The same, for metrics that take the sample weights into account.
    """

    optimizer: Optimizer
    loss: Structure
    loss_weights: Structure
    metrics: Structure
    weighted_metrics: Structure


def read_compile_arguments(model: tf_keras.Model) -> CompileArguments:
    """Returns the arguments that a model was compiled with.

    Args:
      model: A tf_keras Model.

    Raises:
      ValueError: The model is not compiled.
    """
    # The public get_compile_config() serializes the arguments, which loses functions and objects
    # that are not registered.
    compiled = getattr(model, "_compile_config", None)
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None and hasattr(model, "_compile_metrics"):
        # A model made after `disable_v2_behavior()` is of another class, with these attributes.
        return CompileArguments(
            optimizer,
            model.loss,
            model.loss_weights,
            model._compile_metrics,
            model._compile_weighted_metrics,
        )
    if compiled is None or optimizer is None:
        raise ValueError(_UNCOMPILED)
    given = compiled.config
    return CompileArguments(
        optimizer,
        given.get("loss"),
        given.get("loss_weights"),
        given.get("metrics"),
        given.get("weighted_metrics"),
    )
