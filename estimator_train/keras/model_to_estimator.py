"""Makes Estimators from Keras models, and loads an Estimator's checkpoint into a Keras model."""

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.engine.checkpoints.integrity import has_checkpoint
from estimator_train.estimator import Estimator, EstimatorV2
from estimator_train.estimator.construction import complete_config
from estimator_train.keras.family import Family, find_family, load_model_file
from estimator_train.keras.matching import SavedVariables, Source, read_saved_variables
from estimator_train.keras.model_io import CHECKPOINT, SAVER, check_checkpoint_format
from estimator_train.run_config import RunConfig

_LOG = tf.get_logger()


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
    family = find_family(model, "model")
    model_fn = family.read_trained(
        model,
        custom_objects,
        checkpoint_format,
        metric_names_map=metric_names_map,
        export_outputs=export_outputs,
    )
    config = complete_config(config, model_dir)
    if config.is_chief and not has_checkpoint(config.model_dir):
        tf.io.gfile.makedirs(config.model_dir)
        path = family.write_state_after_fit(model, model_fn, config)
        tf.compat.v1.train.update_checkpoint_state(config.model_dir, path)
        _LOG.info("The state of the model after fit is in %s", path)
    return EstimatorV2(model_fn, config=config)


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
    family = find_family(keras_model, "keras_model")
    model_fn = family.read_compiled(keras_model, custom_objects, checkpoint_format, **settings)
    initial = family.write_initial_weights(model_fn, config)
    return cls(model_fn, config=config, warm_start_from=initial)


def _check_one_of(keras_model: object, keras_model_path: object) -> None:
    if keras_model is None and not keras_model_path:
        raise ValueError("Either `keras_model` or `keras_model_path` needs to be provided.")
    if keras_model is not None and keras_model_path:
        # "specity" is the text of tf.estimator, which programs may compare.
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


def load_trained(
    model: tf_keras.Model,
    source: Source,
    name_map: Mapping[str, str] | None = None,
) -> tf_keras.Model:
    """Loads the weights of a checkpoint into a Keras model, and its optimizer's state if compiled.

    Reads checkpoints of `model_to_estimator`, in both formats, and of `keras.model_fn`; in
    checkpoints of other model_fns, of this package or of tf.estimator, it finds variables by names
    and shapes.

    Args:
      model: A Keras model with variables: a Functional model, or a model that was called.
      source: An Estimator, a model_dir (its latest checkpoint) or a checkpoint's path prefix.
      name_map: Names of the model's variables to names in the checkpoint, for variables that are
        not found by themselves; `propose_name_map` shows which are found.

    Returns:
      The model.

    Raises:
      ValueError: There is no checkpoint, the model has no variables yet, or a variable of the model
        is not found or has another shape. The model does not change then.
      TypeError: model is not a Keras model.
    """
    saved = read_saved_variables(source)
    family = find_family(model, "model")
    family.load_variables(model, saved, _match(family, model, saved, name_map))
    return model


def propose_name_map(
    model: tf_keras.Model, source: Source, name_map: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Returns which variable of a checkpoint `load_trained` loads into each variable of a model.

    Arguments and errors are those of `load_trained`.

    Returns:
      Names of the model's variables to names in the checkpoint.
    """
    saved = read_saved_variables(source)
    return _match(find_family(model, "model"), model, saved, name_map)


def _match(
    family: Family, model: tf_keras.Model, saved: SavedVariables, name_map: Mapping[str, str] | None
) -> dict[str, str]:
    if not (model.built and model.variables):
        raise ValueError(
            f"The Keras model '{model.name}' has no variables yet. Call it once on features, or "
            "give it an Input."
        )
    return family.match_variables(model, saved, name_map)


def make_or_restore(
    model_builder: Callable[[], tf_keras.Model],
    directory: str | os.PathLike[str],
    custom_objects: Mapping[str, Any] | None = None,
) -> tf_keras.Model:
    """Returns the model that was saved last in a directory, or a new model without one.

    Args:
      model_builder: Function without arguments that returns a compiled tf_keras Model.
      directory: A model_dir, or a directory of ModelCheckpoint with models (`.keras`, HDF5,
        SavedModels) or weights (`.weights.h5`).
      custom_objects: Names to classes and functions that loading a model needs.

    Returns:
      The Keras model.

    Raises:
      ValueError: The saved weights do not fit the new model.
    """
    path = os.fspath(directory)
    if tf.io.gfile.isdir(path) and has_checkpoint(path):
        return load_trained(model_builder(), path)
    saved = _find_newest(path)
    if saved is None:
        return model_builder()
    _LOG.info("Restoring from %s", saved)
    if saved.endswith(".weights.h5"):
        model = model_builder()
        model.load_weights(saved)
        return model
    return load_model_file(saved, custom_objects)


def _find_newest(directory: str) -> str | None:
    """Returns the path of the model or weights that were written last, or None."""
    if not tf.io.gfile.isdir(directory):
        return None
    paths = [os.path.join(directory, name) for name in tf.io.gfile.listdir(directory)]
    saved = [
        path.rstrip("/")
        for path in paths
        if path.endswith((".keras", ".h5", ".hdf5")) or tf.saved_model.contains_saved_model(path)
    ]
    return max(saved, key=_compute_age, default=None)


def _compute_age(path: str) -> tuple[int, list[int]]:
    """Returns a key that sorts by time, and by the numbers in names if times are equal."""
    numbers = [int(number) for number in re.findall(r"\d+", os.path.basename(path))]
    return tf.io.gfile.stat(path).mtime_nsec, numbers
