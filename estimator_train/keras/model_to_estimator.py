"""Makes an Estimator from a Keras model."""

import os
from collections.abc import Mapping
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.engine.checkpoints import storage
from estimator_train.engine.checkpoints.integrity import has_checkpoint
from estimator_train.engine.checkpoints.warm_start import WarmStartSettings
from estimator_train.estimator import Estimator, EstimatorV2
from estimator_train.estimator.config_defaults import complete_config
from estimator_train.keras.initial_checkpoint import write_initial_checkpoint
from estimator_train.keras.model_checks import check_kind, is_keras_3
from estimator_train.keras.model_files import load_model_file
from estimator_train.keras.model_fn import (
    CHECKPOINT,
    SAVER,
    KerasModelFn,
    check_checkpoint_format,
    check_model_has_format,
)
from estimator_train.run_config import RunConfig
from estimator_train.run_config.topology import make_topology

_LOG = tf.get_logger()
_INITIAL_WEIGHTS = os.path.join("keras", "keras_model.ckpt")


def model_to_estimator(
    keras_model: tf_keras.Model | None = None,
    keras_model_path: str | os.PathLike[str] | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    model_dir: str | os.PathLike[str] | None = None,
    config: RunConfig | None = None,
    checkpoint_format: str | None = CHECKPOINT,
    metric_names_map: Mapping[str, str] | None = None,
    export_outputs: Mapping[str, type] | None = None,
) -> EstimatorV2:
    """Makes an Estimator of a compiled tf_keras model.

    The Estimator trains a copy, which starts with the weights of the model; the model itself stays
    as it is. The weights of a Functional or Sequential model are written to
    `keras/keras_model.ckpt` in model_dir, if there is no checkpoint yet.

    input_fn returns features as the model takes them (a tensor, or a list, tuple or dict by the
    names of the inputs), and labels in the same form by the names of the outputs. With sample
    weights, features are a dict of `features` and `sample_weights`.

    Args:
      keras_model: A compiled tf_keras Model: Functional, Sequential or subclassed.
      keras_model_path: Instead of keras_model, the path of one that `Model.save` wrote: HDF5,
        `.keras` or a SavedModel.
      custom_objects: Names to the classes and functions that loading or copying the model needs
        and tf_keras does not know.
      model_dir: Directory of checkpoints and event files; by default the config's, else a
        temporary one that stays.
      config: A RunConfig; by default one with the defaults.
      checkpoint_format: "checkpoint": checkpoints have variables under their places in the model,
        so that `tf.train.Checkpoint(model)` restores them into a Keras model (Functional and
        Sequential models only); "saver": under their names in the graph.
      metric_names_map: Keras's names of all metrics to the names to report them under.
      export_outputs: Output name to the subclass of `ExportOutput` to export it as, in a signature
        of its own. The default signature always has all outputs.

    Returns:
      An Estimator.

    Raises:
      ValueError: Both or none of keras_model and keras_model_path are given; the path is on Google
        Cloud Storage; the model is not compiled, or cannot be made again from its config; its
        optimizer has a setting that cannot be honoured; or checkpoint_format is unknown, or not for
        this model.
      TypeError: keras_model is not a tf_keras Model; a Keras 3 model is not one either.
      OSError: There is no file at keras_model_path.
    """
    return _make(
        EstimatorV2,
        keras_model=keras_model,
        keras_model_path=keras_model_path,
        custom_objects=custom_objects,
        model_dir=model_dir,
        config=config,
        checkpoint_format=checkpoint_format,
        metric_names_map=metric_names_map,
        export_outputs=export_outputs,
    )


def v1_model_to_estimator(
    keras_model: tf_keras.Model | None = None,
    keras_model_path: str | os.PathLike[str] | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    model_dir: str | os.PathLike[str] | None = None,
    config: RunConfig | None = None,
    checkpoint_format: str | None = SAVER,
    metric_names_map: Mapping[str, str] | None = None,
    export_outputs: Mapping[str, type] | None = None,
) -> Estimator:
    """Makes a v1 Estimator of a compiled tf_keras model; checkpoint_format is "saver" by default.

    Arguments and errors are those of `model_to_estimator`.
    """
    return _make(
        Estimator,
        keras_model=keras_model,
        keras_model_path=keras_model_path,
        custom_objects=custom_objects,
        model_dir=model_dir,
        config=config,
        checkpoint_format=checkpoint_format,
        metric_names_map=metric_names_map,
        export_outputs=export_outputs,
    )


def _make(
    cls: type[Any],
    keras_model: tf_keras.Model | None,
    keras_model_path: str | os.PathLike[str] | None,
    custom_objects: Mapping[str, Any] | None,
    model_dir: str | os.PathLike[str] | None,
    config: RunConfig | None,
    checkpoint_format: str | None,
    **settings: Any,
) -> Any:
    _check_one_of(keras_model, keras_model_path)
    check_checkpoint_format(checkpoint_format)
    config = complete_config(config, model_dir)
    if keras_model_path:
        keras_model = _load_model(os.fspath(keras_model_path), custom_objects)
    else:
        _LOG.info("Using the Keras model provided.")
    if is_keras_3(keras_model):
        from estimator_train.keras.keras3.model_fn import Keras3ModelFn

        return cls(Keras3ModelFn(keras_model, custom_objects, **settings), config=config)
    check_kind(keras_model, "keras_model")
    model_fn = KerasModelFn.from_compiled(
        keras_model, custom_objects, checkpoint_format=checkpoint_format, **settings
    )
    check_model_has_format(model_fn.builder.blueprint, checkpoint_format)
    initial = _write_initial_weights(model_fn, config)
    return cls(model_fn, config=config, warm_start_from=initial)


def _check_one_of(keras_model: object, keras_model_path: object) -> None:
    if keras_model is None and not keras_model_path:
        raise ValueError("Either `keras_model` or `keras_model_path` needs to be provided.")
    if keras_model is not None and keras_model_path:
        raise ValueError("Please specity either `keras_model` or `keras_model_path`, but not both.")


class RemotePathError(ValueError, TypeError):
    """Error for a model on storage from which tf_keras cannot load it."""


def _load_model(path: str, custom_objects: Mapping[str, Any] | None) -> Any:
    if path.startswith("gs://"):
        raise RemotePathError(
            f"keras_model_path '{path}' is on Google Cloud Storage. Copy the model to a local "
            "path, or load it yourself and pass it as keras_model."
        )
    _LOG.info("Loading models from %s", path)
    return load_model_file(path, custom_objects)


def _write_initial_weights(model_fn: KerasModelFn, config: RunConfig) -> WarmStartSettings | None:
    """Writes the model's weights for the start of training; returns settings to start from them.

    Among synchronous workers only the chief starts from the file; the others receive the weights by
    its broadcasts. A worker that also found the file would skip the broadcasts, and both would wait
    for each other.
    """
    is_other_synchronous = make_topology(config).is_synchronous and not config.is_chief
    if not model_fn.builder.blueprint.is_functional or is_other_synchronous:
        return None
    path = os.path.join(config.model_dir, _INITIAL_WEIGHTS)
    if config.is_chief and not has_checkpoint(config.model_dir):
        tf.io.gfile.makedirs(os.path.dirname(path))
        write_initial_checkpoint(model_fn.builder, path, config)
    index = f"{path}.index"
    # A fault taken for a missing file would start with other weights, without a word.
    is_there = storage.retry_storage_faults(lambda: storage.is_file(index), f"find {index}")
    return WarmStartSettings(path) if is_there else None
