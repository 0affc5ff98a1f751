"""Makes an Estimator that continues the training of `fit`."""

import os
from collections.abc import Mapping
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.engine.checkpoints.integrity import has_checkpoint
from estimator_train.estimator import EstimatorV2
from estimator_train.estimator.config_defaults import complete_config
from estimator_train.keras.compiled.compile_arguments import read_compile_arguments
from estimator_train.keras.graph.rebuilding import Blueprint
from estimator_train.keras.initial_checkpoint import write_initial_checkpoint
from estimator_train.keras.model_checks import check_kind, is_keras_3
from estimator_train.keras.model_fn import (
    SAVER,
    KerasModelFn,
    check_checkpoint_format,
    make_graph_optimizers,
)
from estimator_train.optimizers.optimizer_pair import list_optimizers
from estimator_train.optimizers.state import make_slots
from estimator_train.run_config import RunConfig

_LOG = tf.get_logger()


def estimator_from_fit(
    model: tf_keras.Model,
    model_dir: str | os.PathLike[str] | None = None,
    config: RunConfig | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    checkpoint_format: str = SAVER,
    metric_names_map: Mapping[str, str] | None = None,
    export_outputs: Mapping[str, type] | None = None,
) -> EstimatorV2:
    """Makes an Estimator that continues the training of a model where `fit` stopped.

    Writes the weights and the optimizer's state, learning rate and count of steps to model_dir as
    the checkpoint of that step. The Estimator computes the same steps as `fit`. The model does not
    change. If model_dir has a checkpoint, the Estimator continues from that checkpoint.

    The model is a compiled Keras model that was trained, or at least called. `checkpoint_format`
    is as for `keras.model_fn`; the other arguments are those of `model_to_estimator`.

    Returns:
      An Estimator.

    Raises:
      ValueError: The model is not compiled, has no variables yet, or checkpoint_format is unknown.
      TypeError: The model is not a Keras model.
    """
    settings: dict[str, Any] = {
        "metric_names_map": metric_names_map,
        "export_outputs": export_outputs,
    }
    if is_keras_3(model):
        from estimator_train.keras.keras3.model_fn import Keras3ModelFn
        from estimator_train.keras.keras3.trained_by_fit import write_state_after_fit

        model_fn: Any = Keras3ModelFn(model, custom_objects, **settings)
    else:
        model_fn = _make_model_fn(model, custom_objects, checkpoint_format, **settings)
    config = complete_config(config, model_dir)
    if config.is_chief and not has_checkpoint(config.model_dir):
        tf.io.gfile.makedirs(config.model_dir)
        if is_keras_3(model):
            path = write_state_after_fit(model, config.model_dir)
        else:
            last, _ = list_optimizers(model, model.optimizer)[-1]
            path = os.path.join(config.model_dir, f"model.ckpt-{int(last.iterations)}")
            write_initial_checkpoint(model_fn.builder, path, config, model)
        tf.compat.v1.train.update_checkpoint_state(config.model_dir, path)
        _LOG.info("The state of the model after fit is in %s", path)
    return EstimatorV2(model_fn, config=config)


def _make_model_fn(
    model: tf_keras.Model,
    custom_objects: Mapping[str, Any] | None,
    checkpoint_format: str,
    **settings: Any,
) -> KerasModelFn:
    check_kind(model, "model")
    check_checkpoint_format(checkpoint_format)
    compiled = read_compile_arguments(model)
    if not model.built:
        raise ValueError(f"The Keras model '{model.name}' has no variables yet: train it first.")
    graph_optimizer = make_graph_optimizers(model, compiled.optimizer, original_names=False)
    for optimizer, variables in list_optimizers(model, model.optimizer):
        make_slots(optimizer, variables)
    return KerasModelFn(
        Blueprint(model, custom_objects),
        compiled,
        graph_optimizer,
        checkpoint_format,
        **settings,
    )
