"""From a model that `fit` trained to an Estimator that continues its training."""

import os
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_train.estimator import EstimatorV2
from estimator_train.estimator.config_defaults import complete_config
from estimator_train.keras.compiled.compile_arguments import compile_arguments
from estimator_train.keras.graph.rebuilding import Blueprint
from estimator_train.keras.model_checks import check_kind
from estimator_train.keras.model_fn import SAVER, KerasModelFn
from estimator_train.optimizers.graph_optimizers import graph_optimizer
from estimator_train.optimizers.state import make_slots
from estimator_train.run_config import RunConfig

_LOG = tf.get_logger()


def estimator_from_fit(
    model: Any,
    model_dir: str | os.PathLike[str] | None = None,
    config: RunConfig | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    checkpoint_format: str = SAVER,
    metric_names_map: Mapping[str, str] | None = None,
    export_outputs: Mapping[str, type] | None = None,
) -> EstimatorV2:
    """Makes an Estimator that continues the training of a model where `fit` stopped.

    The weights and the optimizer's state, learning rate and count of steps are written to model_dir
    as the checkpoint of that step, and the Estimator computes the same steps that `fit` would. The
    model itself stays as it is. If model_dir has a checkpoint already, the Estimator continues from
    that.

    The model is a compiled tf_keras Model that was trained, or at least called. `checkpoint_format`
    is as for `keras.model_fn`; the other arguments are those of `model_to_estimator`.

    Returns:
      An Estimator.

    Raises:
      ValueError: The model is not compiled, or has no variables yet.
      TypeError: It is not a tf_keras Model.
    """
    check_kind(model, "model")
    compiled = compile_arguments(model)
    if not model.built:
        raise ValueError(f"The Keras model '{model.name}' has no variables yet: train it first.")
    make_slots(model.optimizer, model.trainable_variables)
    config = complete_config(config, model_dir)
    model_fn = KerasModelFn(
        Blueprint(model, custom_objects),
        compiled,
        graph_optimizer(compiled.optimizer, original_names=False),
        checkpoint_format=checkpoint_format,
        metric_names_map=metric_names_map,
        export_outputs=export_outputs,
    )
    if config.is_chief and tf.train.latest_checkpoint(config.model_dir) is None:
        _write(model, model_fn, config)
    return EstimatorV2(model_fn, config=config)


def _write(model: Any, model_fn: KerasModelFn, config: RunConfig) -> None:
    step = int(model.optimizer.iterations.numpy())
    path = os.path.join(config.model_dir, f"model.ckpt-{step}")
    tf.io.gfile.makedirs(config.model_dir)
    model_fn.write_initial_weights(path, config, model)
    tf.compat.v1.train.update_checkpoint_state(config.model_dir, path)
    _LOG.info("The model as fit left it is in %s", path)
