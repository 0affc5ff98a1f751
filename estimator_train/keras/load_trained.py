"""Loads an Estimator's checkpoint into a Keras model."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.engine.checkpoints.integrity import has_checkpoint
from estimator_train.keras.checkpoints.matching import match_variables
from estimator_train.keras.checkpoints.object_checkpoints import list_keys
from estimator_train.keras.checkpoints.saved_variables import (
    SavedVariables,
    Source,
    read_saved_variables,
)
from estimator_train.keras.graph.model_operations import list_variables
from estimator_train.keras.graph.structures import Optimizer
from estimator_train.keras.model_checks import check_kind, is_keras_3
from estimator_train.keras.model_files import load_model_file
from estimator_train.optimizers.optimizer_pair import list_optimizers
from estimator_train.optimizers.state import (
    compute_slot_scale,
    find_inner_optimizer,
    find_saved_slot_names,
    find_slots,
    get_iterations,
    get_learning_rate,
    make_slots,
)

_LOG = tf.get_logger()


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
    matched = _match(model, saved, name_map)
    if is_keras_3(model):
        from estimator_train.keras.keras3.load_trained import load_keras_3

        load_keras_3(model, saved, matched)
        return model
    names = list(matched.values())
    for variable, name in zip(list_variables(model), names, strict=True):
        variable.assign(saved.value(name))
    if getattr(model, "optimizer", None) is not None:
        _load_optimizer(model, saved, names)
    return model


def propose_name_map(
    model: tf_keras.Model, source: Source, name_map: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Returns which variable of a checkpoint `load_trained` loads into each variable of a model.

    Arguments and errors are those of `load_trained`.

    Returns:
      Names of the model's variables to names in the checkpoint.
    """
    return _match(model, read_saved_variables(source), name_map)


def _match(
    model: tf_keras.Model, saved: SavedVariables, name_map: Mapping[str, str] | None
) -> dict[str, str]:
    """Maps the names of the model's variables, in its order, to names in the checkpoint."""
    if not is_keras_3(model):
        check_kind(model, "model")
    if not (model.built and model.variables):
        raise ValueError(
            f"The Keras model '{model.name}' has no variables yet. Call it once on features, or "
            "give it an Input."
        )
    if is_keras_3(model):
        from estimator_train.keras.keras3.load_trained import match_keras_3

        return match_keras_3(model, saved, name_map)
    names = _list_names(model)
    shapes = dict(zip(names, (tuple(v.shape) for v in list_variables(model)), strict=True))
    by_place = _pair_by_place(model, names, shapes, saved)
    return match_variables(model.name, shapes, saved, name_map, by_place)


def _list_names(model: tf_keras.Model) -> list[str]:
    """Returns the names of a model's variables, and numbers equal names."""
    names: list[str] = []
    for variable in list_variables(model):
        plain = variable.name.partition(":")[0]
        seen = sum(name == plain or name.startswith(f"{plain}#") for name in names)
        names.append(f"{plain}#{seen}" if seen else plain)
    return names


def _pair_by_place(
    model: tf_keras.Model, names: list[str], wanted: Mapping[str, Any], saved: SavedVariables
) -> dict[str, str]:
    """Matches variables that have the same place in the model and in an object-based checkpoint."""
    if not saved.is_object_based:
        return {}
    theirs = {key: name for name, key in saved.keys.items()}
    places = list_keys(model)
    found = {}
    for name, variable in zip(names, list_variables(model), strict=True):
        other = theirs.get(places.get(id(variable), ""))
        if other is not None and saved.shapes[other] == wanted[name]:
            found[name] = other
    return found


def _load_optimizer(model: tf_keras.Model, saved: SavedVariables, names: list[str]) -> None:
    """Loads the optimizer's state; warns of slots that the checkpoint lacks."""
    position = {id(variable): i for i, variable in enumerate(list_variables(model))}
    absent = []
    optimizers = list_optimizers(model, model.optimizer)
    for optimizer, trained in optimizers:
        make_slots(optimizer, trained)
        for (slot, i), variable in find_slots(optimizer, trained).items():
            name = names[position[id(trained[i])]]
            found = find_saved_slot_names(optimizer, slot, name, saved.shapes)
            if found:
                scale = compute_slot_scale(optimizer, found[0])
                variable.assign(scale * saved.value(found[0]))
            else:
                absent.append(f"{slot} of {name}")
    if absent:
        _LOG.warning("%s has no optimizer state for %s.", saved.path, ", ".join(absent[:5]))
    _load_scalars([optimizer for optimizer, _ in optimizers], saved)


def _load_scalars(optimizers: Sequence[Optimizer], saved: SavedVariables) -> None:
    """Loads the counts of steps and the learning rates of one optimizer or of two."""
    counts = [name for name in saved.keys if name.endswith("/iteration")]
    step = int(saved.value(counts[0])) if counts else saved.global_step
    rates = [name for name in saved.keys if name.rpartition("/")[2] == "learning_rate"]
    for optimizer in optimizers:
        iterations, rate = get_iterations(optimizer), get_learning_rate(optimizer)
        if iterations is not None and step is not None:
            iterations.assign(step)
        inner = find_inner_optimizer(optimizer)
        if len(optimizers) > 1:  # The second of two with equal names has a number.
            scope = re.compile(
                rf"(?:^|/){re.escape(inner.get_config()['name'])}(?:_1)?/learning_rate$"
            )
            found = next(filter(scope.search, sorted(rates)), None)
        else:
            found = next(iter(rates), None)
        scheduled = getattr(inner, "_current_learning_rate", None) is not None
        if found is None or rate is None:
            continue
        rates.remove(found)
        if not scheduled:
            rate.assign(saved.value(found))


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
