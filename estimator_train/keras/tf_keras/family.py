"""The protocol `Family` for models of tf_keras."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras

from estimator_train.engine import storage
from estimator_train.engine.checkpoints.integrity import has_checkpoint
from estimator_train.engine.checkpoints.warm_start import WarmStartSettings
from estimator_train.engine.job import make_together
from estimator_train.estimator_spec import ModeKeys
from estimator_train.keras.build_settings import BuildSettings, enter_eager_scope
from estimator_train.keras.model_io import Optimizer, check_checkpoint_format
from estimator_train.keras.tf_keras.blueprint import TfKerasBlueprint
from estimator_train.keras.tf_keras.checkpoints import (
    load_variables,
    match_variables,
    predict_checkpoint,
)
from estimator_train.keras.tf_keras.graph_builder import GraphBuilder
from estimator_train.keras.tf_keras.graph_calls import keep_layer_classes
from estimator_train.keras.tf_keras.losses_and_metrics import read_compile_arguments
from estimator_train.keras.tf_keras.model_fn import TfKerasModelFn, check_model_has_format
from estimator_train.optimizers.base import GraphOptimizer, make_slots
from estimator_train.optimizers.graph_optimizers import make_graph_optimizer
from estimator_train.optimizers.several_optimizers import (
    OptimizerPair,
    SeveralOptimizers,
    list_optimizers,
)
from estimator_train.run_config import RunConfig

__all__ = [
    "load_variables",
    "match_variables",
    "predict_checkpoint",
    "read_built",
    "read_compiled",
    "read_trained",
    "write_initial_weights",
    "write_state_after_fit",
]
_LOG = tf.get_logger()
_HALF = "mixed_float16"
_INITIAL_WEIGHTS = os.path.join("keras", "keras_model.ckpt")


def read_compiled(
    model: tf_keras.Model,
    custom_objects: Mapping[str, Any] | None,
    checkpoint_format: str | None,
    **reports: Any,
) -> TfKerasModelFn:
    """Makes the model_fn of a compiled model, which is read now and never changed.

    Raises:
      ValueError: The model is not compiled, cannot be built again in a graph, has an optimizer that
        cannot be used, or is subclassed and checkpoint_format is "checkpoint".
    """
    compiled = read_compile_arguments(model)
    _warn_of_overridden_steps(model)
    optimizer = _make_graph_optimizers(model, compiled.optimizer)
    blueprint = TfKerasBlueprint(model, custom_objects)
    model_fn = TfKerasModelFn(blueprint, compiled, optimizer, checkpoint_format, **reports)
    check_model_has_format(blueprint, checkpoint_format)
    return model_fn


def read_trained(
    model: tf_keras.Model,
    custom_objects: Mapping[str, Any] | None,
    checkpoint_format: str | None,
    **reports: Any,
) -> TfKerasModelFn:
    """Makes the model_fn that continues the training of a model by `fit`.

    Raises:
      ValueError: The model is not compiled or has no variables yet, or checkpoint_format is
        unknown.
    """
    check_checkpoint_format(checkpoint_format)
    compiled = read_compile_arguments(model)
    if not model.built:
        raise ValueError(f"The Keras model '{model.name}' has no variables yet: train it first.")
    graph_optimizer = _make_graph_optimizers(model, compiled.optimizer, original_names=False)
    for optimizer, variables in list_optimizers(model, model.optimizer):
        make_slots(optimizer, variables)
    return TfKerasModelFn(
        TfKerasBlueprint(model, custom_objects),
        compiled,
        graph_optimizer,
        checkpoint_format,
        **reports,
    )


def read_built(
    model: tf_keras.Model, build: Callable[[], tf_keras.Model], settings: BuildSettings
) -> TfKerasModelFn:
    """Makes the model_fn of a model that a user's function built.

    Raises:
      ValueError: The model has its own steps, or is subclassed and the settings ask for
        object-based checkpoints.
    """
    _refuse_overridden_steps(model)
    scales_loss = (settings.policy or model.dtype_policy.name) == _HALF
    compiled = settings.compiled.map_optimizers(lambda one: _make_optimizer(one, scales_loss))
    blueprint = TfKerasBlueprint(model, settings.custom_objects, build)
    check_model_has_format(blueprint, settings.checkpoint_format)
    graph_form = compiled.map_optimizers(
        lambda one: make_graph_optimizer(
            one, original_names=False, accumulated_steps=settings.accumulated_steps
        )
    ).optimizer
    if isinstance(graph_form, dict):
        graph_form = SeveralOptimizers(graph_form)
    return TfKerasModelFn(
        blueprint, compiled, graph_form, settings.checkpoint_format, **settings.reports
    )


def write_initial_weights(model_fn: TfKerasModelFn, config: RunConfig) -> WarmStartSettings | None:
    """Writes the model's weights for the start of training; returns settings to start from them.

    Among synchronous workers only the chief starts from the file; the others receive the weights by
    its broadcasts. A worker that also found the file would skip the broadcasts, and both would wait
    for each other.
    """
    receives_weights = make_together(config).receives_initial_values
    if not model_fn.builder.blueprint.is_functional or receives_weights:
        return None
    path = os.path.join(config.model_dir, _INITIAL_WEIGHTS)
    if config.is_chief and not has_checkpoint(config.model_dir):
        tf.io.gfile.makedirs(os.path.dirname(path))
        _write_checkpoint(model_fn.builder, path, config)
    index = f"{path}.index"
    # A fault taken for a missing file would start with other weights, without a word.
    is_there = storage.retry_storage_faults(lambda: storage.is_file(index), f"find {index}")
    return WarmStartSettings(path) if is_there else None


def write_state_after_fit(
    model: tf_keras.Model, model_fn: TfKerasModelFn, config: RunConfig
) -> str:
    """Writes the state of a model after `fit` as a checkpoint; returns its path prefix."""
    last, _ = list_optimizers(model, model.optimizer)[-1]
    path = os.path.join(config.model_dir, f"model.ckpt-{int(last.iterations)}")
    _write_checkpoint(model_fn.builder, path, config, model)
    return path


def _write_checkpoint(
    builder: GraphBuilder, path: str, config: RunConfig, trained: tf_keras.Model | None = None
) -> None:
    """Writes the checkpoint that training would write at step 0.

    Args:
      builder: Builds the model's graph.
      path: The checkpoint's path prefix.
      config: The estimator's configuration.
      trained: The eager model; the state of its optimizer and its count of steps are written too.
        None writes those of a new optimizer.

    Raises:
      ValueError: The model's inputs are not known.
    """
    with keep_layer_classes(), tf.Graph().as_default():
        global_step = tf.compat.v1.train.create_global_step()
        built, feeds = builder.build_model(builder.blueprint.make_placeholders(), ModeKeys.PREDICT)
        optimizer = None
        trainable = built.model.trainable_weights
        if trainable:
            # Any loss of all variables makes the optimizer create its slots.
            loss = tf.add_n([tf.cast(tf.reduce_sum(v), tf.float32) for v in trainable])
            optimizer = builder.minimize(built.model, loss).trackable
        object_based = builder.make_saver(built, optimizer, config)
        saver = object_based or tf.compat.v1.train.Saver(save_relative_paths=True)
        values: list[tuple[tf.Variable, np.ndarray]] = []
        if trained is not None:
            model = builder.observe(built, optimizer, None)
            last, _ = list_optimizers(trained, trained.optimizer)[-1]
            count = (global_step, last.iterations)
            pairs = [*model.pair_weights(trained), *model.pair_scalars(trained), count]
            with enter_eager_scope():
                values = [(variable, source.numpy()) for variable, source in pairs]
        with tf.compat.v1.Session(config=_make_session_config()) as session:
            session.run(tf.compat.v1.global_variables_initializer(), feeds)
            for variable, value in values:
                # Its initializer is an assignment that the graph already has.
                session.run(variable.initializer, {variable.initializer.inputs[1]: value})
            saver.save(session, path, write_meta_graph=object_based is None)


def _make_session_config() -> tf.compat.v1.ConfigProto:
    """Returns the settings of a session that runs each operation once, without optimizing them."""
    config = tf.compat.v1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = tf.compat.v1.OptimizerOptions.L0
    return config


def _make_graph_optimizers(
    model: tf_keras.Model, given: Optimizer, *, original_names: bool = True
) -> GraphOptimizer | OptimizerPair:
    """Returns the graph form of a compiled model's optimizer, or of its two optimizers.

    Args:
      model: The compiled model.
      given: Its optimizer, or for a WideDeepModel a list of two.
      original_names: As for `make_graph_optimizer`.

    Raises:
      ValueError: A setting of an optimizer cannot be read, or has no effect in a graph.
      TypeError: It is not an optimizer.
    """
    if isinstance(model, tf_keras.experimental.WideDeepModel) and isinstance(given, (list, tuple)):
        linear, deep = (make_graph_optimizer(one, original_names=original_names) for one in given)
        return OptimizerPair(linear, deep)
    return make_graph_optimizer(given, original_names=original_names)


def _make_optimizer(given: Any, scales_loss: bool) -> Any:
    """Returns the optimizer object of a name, config or object."""
    optimizer = tf_keras.optimizers.get(given)
    if scales_loss and not hasattr(optimizer, "inner_optimizer"):
        return tf_keras.mixed_precision.LossScaleOptimizer(optimizer)
    return optimizer


def _list_overridden_steps(model: tf_keras.Model, names: Sequence[str]) -> list[str]:
    """Returns those of the named methods that a user's class overrides.

    Args:
      model: A tf_keras Model.
      names: Names of methods of tf_keras Models.
    """
    wide_and_deep = tf_keras.experimental.WideDeepModel
    base = wide_and_deep if isinstance(model, wide_and_deep) else tf_keras.Model
    return [name for name in names if getattr(type(model), name) is not getattr(base, name)]


def _warn_of_overridden_steps(model: tf_keras.Model) -> None:
    """Warns that an Estimator does not call a model's own train_step and its like."""
    overridden = _list_overridden_steps(model, ("train_step", "test_step", "predict_step"))
    if overridden:
        _LOG.warning(
            "%s has its own %s, which an Estimator does not call: it trains and evaluates with the "
            "loss, metrics and optimizer of compile().",
            type(model).__name__,
            " and ".join(overridden),
        )


def _refuse_overridden_steps(model: tf_keras.Model) -> None:
    """Raises ValueError if the model has its own train_step or its like."""
    names = ("train_step", "test_step", "predict_step", "compute_loss", "compute_metrics")
    overridden = _list_overridden_steps(model, names)
    if overridden:
        raise ValueError(
            f"{type(model).__name__} has its own {' and '.join(overridden)}, written for eager "
            "tensors and fit(), which an Estimator's graph cannot call. Put the extra loss into "
            "the model by add_loss(), extra metrics by add_metric(), several optimizers into "
            "model_fn(optimizer={pattern: optimizer}), or write a model_fn."
        )
