"""Makes the function that `keras.model_fn` returns from a function that builds a Keras model."""

import dataclasses
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import tensorflow as tf
import tf_keras

from estimator_train.engine.comparison import have_equal_values
from estimator_train.engine.job import call_with_known, list_argument_names, requires
from estimator_train.engine.keras_3_errors import allow_keras_3
from estimator_train.estimator_spec import EstimatorSpec
from estimator_train.keras.build_settings import (
    BuildSettings,
    CompileArguments,
    enter_eager_scope,
    use_policy,
)
from estimator_train.keras.family import ModelFn, find_family
from estimator_train.keras.model_io import SAVER, Structure, check_checkpoint_format
from estimator_train.run_config import RunConfig

_RESULT = "model_builder's result"
_BUILDER_ARGUMENTS = {"params", "mode", "config"}
# One optimizer, a function that returns one, or a dict of several.
Optimizers: TypeAlias = Any


def model_fn(
    model_builder: Callable[..., Any],
    loss: Structure = None,
    optimizer: Optimizers = "rmsprop",
    metrics: Structure = None,
    *,
    loss_weights: Structure = None,
    weighted_metrics: Structure = None,
    gradient_accumulation_steps: int = 1,
    mixed_precision: str | None = None,
    checkpoint_format: str = SAVER,
    custom_objects: Mapping[str, Any] | None = None,
    metric_names_map: Mapping[str, str] | None = None,
    export_outputs: Mapping[str, type] | None = None,
) -> "BuiltModelFn":
    """Makes a model_fn for an Estimator from a function that builds a tf_keras model.

    `Estimator(keras.model_fn(build, "mse", "adam"), model_dir)`. The model is built eagerly, once
    for each params, and rebuilt in each graph; training starts from its weights. Features, labels
    and sample weights have the form of `model_to_estimator`. Optimizers of `tf_keras.optimizers`
    compute the same steps as in `fit`, with clipping and weight decay.

    Args:
      model_builder: Takes any of `params`, `mode` and `config` and returns a tf_keras Model, whose
        compile() is ignored. A subclassed model needs no get_config().
      loss: As for `Model.compile`; None if layers add all losses.
      optimizer: A name; an optimizer of tf_keras or tf.compat.v1.train; a function of any of
        `params` and `config` that returns one; or a dict from regular expressions to several of
        these: the first expression that matches a variable's name selects its optimizer.
      metrics: As for `Model.compile`.
      loss_weights: As for `Model.compile`.
      weighted_metrics: As for `Model.compile`.
      gradient_accumulation_steps: Number of steps whose mean gradient makes one update of the
        weights; each counts as a global step. For optimizers of `tf_keras.optimizers`.
      mixed_precision: The Keras policy under which the model is built, such as
        "mixed_bfloat16"; with "mixed_float16" the loss is scaled. By default the global policy.
      checkpoint_format: "saver": checkpoints name variables as the graph does; "checkpoint": by
        their places in the model, for `Model.load_weights` (Functional and Sequential models
        only).
      custom_objects: Names to classes and functions that the model's config needs.
      metric_names_map: As for `model_to_estimator`.
      export_outputs: As for `model_to_estimator`.

    Returns:
      A model_fn.

    Raises:
      ValueError: gradient_accumulation_steps is not positive, checkpoint_format is unknown, or
        model_builder needs other arguments.
      TypeError: model_builder is not a function.
    """
    if isinstance(model_builder, tf_keras.Model) or not callable(model_builder):
        raise TypeError(
            f"model_builder must be a function that returns a tf_keras Model, got {model_builder!r}"
            ". For a compiled model use keras.model_to_estimator."
        )
    names = set(list_argument_names(model_builder)) - _BUILDER_ARGUMENTS
    unknown = sorted(name for name in names if requires(model_builder, name))
    if unknown:
        raise ValueError(
            f"model_builder ({model_builder}) needs the arguments {unknown}, but it can get only "
            "params, mode and config. Bind others with functools.partial."
        )
    if gradient_accumulation_steps < 1:
        raise ValueError(
            f"gradient_accumulation_steps must be 1 or more, got {gradient_accumulation_steps}."
        )
    check_checkpoint_format(checkpoint_format)
    if mixed_precision is not None:
        tf_keras.mixed_precision.Policy(mixed_precision)  # Raises ValueError for an unknown policy.
    settings = BuildSettings(
        CompileArguments(optimizer, loss, loss_weights, metrics, weighted_metrics),
        gradient_accumulation_steps,
        mixed_precision,
        dict(custom_objects or {}),
        checkpoint_format,
        {"metric_names_map": metric_names_map, "export_outputs": export_outputs},
    )
    return BuiltModelFn(model_builder, settings)


@dataclasses.dataclass(eq=False, repr=False)
class BuiltModelFn:
    """The model_fn that `model_fn` returns; builds the model once for each params."""

    _builder: Callable[..., Any]
    _settings: BuildSettings

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._model_fns: list[tuple[dict[str, Any], ModelFn]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        """Makes copies and pickles of an Estimator begin without built models."""
        return type(self), (self._builder, self._settings)

    @tf.autograph.experimental.do_not_convert
    def __call__(
        self,
        features: Structure,
        labels: Structure,
        mode: str,
        config: RunConfig,
        params: object = None,
    ) -> EstimatorSpec:
        """Builds the model in the default graph; takes the arguments of every model_fn."""
        allow_keras_3()  # Its errors in building or compiling the model need no other Keras.
        keras_model_fn = self._find_or_make(mode, params, config)
        with use_policy(self._settings.policy):
            return keras_model_fn(features, labels, mode, config)

    def _find_or_make(self, mode: str, params: object, config: RunConfig) -> ModelFn:
        """Returns the model_fn for a mode and params; builds its model at most once."""
        available = {"params": params, "mode": mode, "config": config}
        optimizers = self._settings.compiled.list_optimizers()
        functions = [self._builder, *filter(_is_function, optimizers)]
        names = {name for function in functions for name in list_argument_names(function)}
        given = {name: value for name, value in available.items() if name in names}
        with self._lock:
            for arguments, known in self._model_fns:
                if have_equal_values(arguments, given):
                    return known
            with enter_eager_scope():
                made = self._make(available)
            self._model_fns.append((given, made))
        return made

    def _build(self, available: Mapping[str, Any]) -> Any:
        """Calls the builder, and returns its tf_keras or Keras 3 model."""
        seed = available["config"].tf_random_seed
        with use_policy(self._settings.policy):
            if seed is not None:
                tf.random.set_seed(seed)
            model = call_with_known(self._builder, available)
        find_family(model, _RESULT)  # Raises an error if it is no model.
        return model

    def _make(self, available: Mapping[str, Any]) -> ModelFn:
        model = self._build(available)
        compiled = self._settings.compiled.map_optimizers(
            lambda one: call_with_known(one, available) if _is_function(one) else one
        )
        settings = dataclasses.replace(self._settings, compiled=compiled)
        return find_family(model, _RESULT).read_built(
            model, lambda: self._build(available), settings
        )


def _is_function(optimizer: Any) -> bool:
    return callable(optimizer) and not hasattr(optimizer, "apply_gradients")
