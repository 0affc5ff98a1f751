"""From an Estimator's checkpoint back to a Keras model."""

import os
import re
from collections.abc import Mapping
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.keras.checkpoints.name_map import proposed
from estimator_train.keras.checkpoints.object_checkpoints import keys_of
from estimator_train.keras.checkpoints.saved_variables import SavedVariables, saved_variables
from estimator_train.keras.graph.model_operations import variables_of
from estimator_train.keras.model_checks import check_kind
from estimator_train.optimizers.state import (
    inner_optimizer,
    iterations_of,
    learning_rate_of,
    make_slots,
    saved_slot_names,
    saved_slot_scale,
    slots_of,
)

_LOG = tf.get_logger()


def load_trained(
    model: Any,
    source: Any,
    name_map: Mapping[str, str] | None = None,
) -> Any:
    """Loads the weights of a checkpoint into a Keras model, and its optimizer's state if compiled.

    It reads checkpoints of `model_to_estimator`, in both formats, and of `keras.model_fn`; those of
    other model_fns, of this package or of tf.estimator, by the names and shapes of variables.

    Args:
      model: A tf_keras Model whose variables are made: a Functional one, or one that was called.
      source: An Estimator, a model_dir (of which the latest checkpoint is taken) or a checkpoint's
        path prefix.
      name_map: Names of the model's variables to those in the checkpoint, for those that are not
        found without; `propose_name_map` shows which are.

    Returns:
      The model.

    Raises:
      ValueError: There is no checkpoint, the model has no variables yet, or a variable of the model
        is not found or of another shape: then nothing is changed.
      TypeError: model is not a tf_keras Model.
    """
    saved = saved_variables(source)
    names = _matched(model, saved, name_map)
    for variable, name in zip(variables_of(model), names, strict=True):
        variable.assign(saved.value(name))
    if getattr(model, "optimizer", None) is not None:
        _load_optimizer(model, saved, names)
    return model


def propose_name_map(
    model: Any, source: Any, name_map: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Shows which variable of a checkpoint `load_trained` loads into each variable of a model.

    Arguments and errors are those of `load_trained`.

    Returns:
      Names of the model's variables to names in the checkpoint.
    """
    matched = _matched(model, saved_variables(source), name_map)
    return dict(zip(_names(model), matched, strict=True))


def _matched(model: Any, saved: SavedVariables, name_map: Mapping[str, str] | None) -> list[str]:
    """The checkpoint's names of the model's variables, in the model's order."""
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


def _names(model: Any) -> list[str]:
    """The names of a model's variables; equal ones are numbered."""
    names: list[str] = []
    for variable in variables_of(model):
        plain = variable.name.partition(":")[0]
        seen = sum(name == plain or name.startswith(f"{plain}#") for name in names)
        names.append(f"{plain}#{seen}" if seen else plain)
    return names


def _by_place(
    model: Any, names: list[str], wanted: Mapping[str, Any], saved: SavedVariables
) -> dict[str, str]:
    """Variables that have the same place in the model as in an object-based checkpoint."""
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
    model: Any, wanted: Mapping[str, Any], saved: SavedVariables, found: Mapping[str, str]
) -> None:
    """Raises an error if the checkpoint lacks variables, and warns if it has others."""
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
        "where only names differ."
    )


def _load_optimizer(model: Any, saved: SavedVariables, names: list[str]) -> None:
    """Loads the optimizer's state, and warns of what the checkpoint lacks."""
    optimizer, trained = model.optimizer, model.trainable_variables
    make_slots(optimizer, trained)
    position = {id(variable): i for i, variable in enumerate(variables_of(model))}
    absent = []
    for (slot, i), variable in slots_of(optimizer, trained).items():
        name = names[position[id(trained[i])]]
        found = saved_slot_names(optimizer, slot, name, saved.shapes)
        if found:
            scale = saved_slot_scale(optimizer, found[0])
            variable.assign(scale * saved.value(found[0]))
        else:
            absent.append(f"{slot} of {name}")
    if absent:
        _LOG.warning("%s has no optimizer state for %s.", saved.path, ", ".join(absent[:5]))
    _load_scalars(optimizer, saved)


def _load_scalars(optimizer: Any, saved: SavedVariables) -> None:
    counts = [name for name in saved.keys if name.endswith("/iteration")]
    step = int(saved.value(counts[0])) if counts else saved.global_step
    iterations, rate = iterations_of(optimizer), learning_rate_of(optimizer)
    if iterations is not None and step is not None:
        iterations.assign(step)
    rates = [name for name in saved.keys if name.rpartition("/")[2] == "learning_rate"]
    scheduled = getattr(inner_optimizer(optimizer), "_current_learning_rate", None) is not None
    if rate is not None and rates and not scheduled:
        rate.assign(saved.value(rates[0]))


def make_or_restore(
    model_builder: Any,
    directory: str | os.PathLike[str],
    custom_objects: Mapping[str, Any] | None = None,
) -> Any:
    """Returns the model that was saved last in a directory, or a new one if there is none.

    Args:
      model_builder: Function without arguments that returns a compiled tf_keras Model.
      directory: A model_dir, or where ModelCheckpoint saves: whole models (`.keras`, HDF5,
        SavedModels) or weights (`.weights.h5`).
      custom_objects: Names to classes and functions that loading a whole model needs.

    Returns:
      The tf_keras Model.

    Raises:
      ValueError: The saved weights do not fit the new model.
    """
    path = os.fspath(directory)
    if tf.io.gfile.isdir(path) and tf.train.latest_checkpoint(path):
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
    """The model or weights that were written last in a directory, or None."""
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
    """A key to sort by time, and by the numbers in names if the file system's times are equal."""
    numbers = [int(number) for number in re.findall(r"\d+", os.path.basename(path))]
    return tf.io.gfile.stat(path).mtime_nsec, numbers
