"""Loads an Estimator's checkpoint into a Keras model."""

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.engine.checkpoints.integrity import has_checkpoint
from estimator_train.keras.checkpoints.name_map import proposed
from estimator_train.keras.checkpoints.object_checkpoints import keys_of
from estimator_train.keras.checkpoints.saved_variables import (
    SavedVariables,
    Source,
    saved_variables,
)
from estimator_train.keras.graph.model_operations import variables_of
from estimator_train.keras.graph.structures import Optimizer
from estimator_train.keras.model_checks import check_kind
from estimator_train.optimizers.state import (
    compute_slot_scale,
    find_saved_slot_names,
    find_slots,
    get_iterations,
    get_learning_rate,
    inner_optimizer,
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
      model: A tf_keras Model with variables: a Functional model, or a model that was called.
      source: An Estimator, a model_dir (its latest checkpoint) or a checkpoint's path prefix.
      name_map: Names of the model's variables to names in the checkpoint, for variables that are
        not found by themselves; `propose_name_map` shows which are found.

    Returns:
      The model.

    Raises:
      ValueError: There is no checkpoint, the model has no variables yet, or a variable of the model
        is not found or has another shape. The model does not change then.
      TypeError: model is not a tf_keras Model.
    """
    saved = saved_variables(source)
    names = _match(model, saved, name_map)
    for variable, name in zip(variables_of(model), names, strict=True):
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
    matched = _match(model, saved_variables(source), name_map)
    return dict(zip(_names(model), matched, strict=True))


def _match(
    model: tf_keras.Model, saved: SavedVariables, name_map: Mapping[str, str] | None
) -> list[str]:
    """Returns the checkpoint's names of the model's variables, in the model's order."""
    check_kind(model, "model")
    if not model.built:
        raise ValueError(
            f"The Keras model '{model.name}' has no variables yet. Call it once on features, or "
            "give it an Input."
        )
    names = _names(model)
    wanted = dict(zip(names, (tuple(v.shape) for v in variables_of(model)), strict=True))
    known = _checked_map(name_map or {}, wanted, saved)
    by_place = _by_place(model, names, wanted, saved)
    found = proposed(wanted, saved.of_models, {**by_place, **known})
    _check_complete(model, wanted, saved, found)
    for ours, theirs in found.items():
        if ours != theirs:
            _LOG.info("%s is %s in the checkpoint.", ours, theirs)
    return [found[name] for name in names]


def _names(model: tf_keras.Model) -> list[str]:
    """Returns the names of a model's variables, and numbers equal names."""
    names: list[str] = []
    for variable in variables_of(model):
        plain = variable.name.partition(":")[0]
        seen = sum(name == plain or name.startswith(f"{plain}#") for name in names)
        names.append(f"{plain}#{seen}" if seen else plain)
    return names


def _by_place(
    model: tf_keras.Model, names: list[str], wanted: Mapping[str, Any], saved: SavedVariables
) -> dict[str, str]:
    """Matches variables that have the same place in the model and in an object-based checkpoint."""
    if not saved.is_object_based:
        return {}
    theirs = {key: name for name, key in saved.keys.items()}
    places = keys_of(model)
    found = {}
    for name, variable in zip(names, variables_of(model), strict=True):
        other = theirs.get(places.get(id(variable), ""))
        if other is not None and saved.shapes[other] == wanted[name]:
            found[name] = other
    return found


def _checked_map(
    name_map: Mapping[str, str], wanted: Mapping[str, Any], saved: SavedVariables
) -> dict[str, str]:
    plain = {k.partition(":")[0]: v.partition(":")[0] for k, v in name_map.items()}
    unknown = [name for name in plain if name not in wanted]
    absent = [name for name in plain.values() if name not in saved.keys]
    if unknown:
        raise ValueError(
            f"name_map names {unknown}, which the model does not have. The model has "
            f"{sorted(wanted)}."
        )
    if absent:
        raise ValueError(
            f"name_map names {absent}, which {saved.path} does not have. It has "
            f"{sorted(saved.of_models)}."
        )
    return plain


def _check_complete(
    model: tf_keras.Model,
    wanted: Mapping[str, Any],
    saved: SavedVariables,
    found: Mapping[str, str],
) -> None:
    """Raises ValueError if the checkpoint lacks variables; warns if it has others."""
    misshaped = {
        name: f"{saved.shapes[found.get(name, name)]} there, {shape} in the model"
        for name, shape in wanted.items()
        if saved.shapes.get(found.get(name, name), shape) != shape
    }
    missing = [n for n in wanted if n not in found and n not in misshaped]
    of_models = saved.of_models
    unexpected = [n for n in of_models if n not in found.values() and n not in misshaped]
    if not missing and not misshaped:
        if unexpected:
            _LOG.warning("%s has variables that the model lacks: %s", saved.path, unexpected)
        return
    rows = [("missing", name, str(wanted[name])) for name in missing]
    rows += [("unexpected", name, str(of_models[name])) for name in unexpected]
    rows += [("misshaped", name, shapes) for name, shapes in misshaped.items()]
    table = "\n".join(f"  {kind:<10}  {name}  {shape}" for kind, name, shape in rows)
    raise ValueError(
        f"The checkpoint {saved.path} does not fit the Keras model '{model.name}':\n{table}\n"
        "Build the model that was trained, or give name_map={model's name: checkpoint's name} "
        "if only names differ."
    )


def _load_optimizer(model: tf_keras.Model, saved: SavedVariables, names: list[str]) -> None:
    """Loads the optimizer's state; warns of slots that the checkpoint lacks."""
    optimizer, trained = model.optimizer, model.trainable_variables
    make_slots(optimizer, trained)
    position = {id(variable): i for i, variable in enumerate(variables_of(model))}
    absent = []
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
    _load_scalars(optimizer, saved)


def _load_scalars(optimizer: Optimizer, saved: SavedVariables) -> None:
    counts = [name for name in saved.keys if name.endswith("/iteration")]
    step = int(saved.value(counts[0])) if counts else saved.global_step
    iterations, rate = get_iterations(optimizer), get_learning_rate(optimizer)
    if iterations is not None and step is not None:
        iterations.assign(step)
    rates = [name for name in saved.keys if name.rpartition("/")[2] == "learning_rate"]
    scheduled = getattr(inner_optimizer(optimizer), "_current_learning_rate", None) is not None
    if rate is not None and rates and not scheduled:
        rate.assign(saved.value(rates[0]))


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
      The tf_keras Model.

    Raises:
      ValueError: The saved weights do not fit the new model.
    """
    path = os.fspath(directory)
    if tf.io.gfile.isdir(path) and has_checkpoint(path):
        return load_trained(model_builder(), path)
    saved = _newest(path)
    if saved is None:
        return model_builder()
    _LOG.info("Restoring from %s", saved)
    if saved.endswith(".weights.h5"):
        model = model_builder()
        model.load_weights(saved)
        return model
    return tf_keras.models.load_model(
        saved, custom_objects=dict(custom_objects or {}), safe_mode=True
    )


def _newest(directory: str) -> str | None:
    """Returns the path of the model or weights that were written last, or None."""
    if not tf.io.gfile.isdir(directory):
        return None
    paths = [os.path.join(directory, name) for name in tf.io.gfile.listdir(directory)]
    saved = [
        path.rstrip("/")
        for path in paths
        if path.endswith((".keras", ".h5", ".hdf5")) or tf.saved_model.contains_saved_model(path)
    ]
    return max(saved, key=_age, default=None)


def _age(path: str) -> tuple[int, list[int]]:
    """Returns a key that sorts by time, and by the numbers in names if times are equal."""
    numbers = [int(number) for number in re.findall(r"\d+", os.path.basename(path))]
    return tf.io.gfile.stat(path).mtime_nsec, numbers
