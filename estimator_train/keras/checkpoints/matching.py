"""Matches the variables of a Keras model with those of a checkpoint."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_train.keras.checkpoints.name_map import Shapes, propose_names
from estimator_train.keras.checkpoints.saved_variables import SavedVariables

_LOG = tf.get_logger()


def match_variables(
    model_name: str,
    shapes: Shapes,
    saved: SavedVariables,
    name_map: Mapping[str, str] | None,
    known: Mapping[str, str],
) -> dict[str, str]:
    """Maps the names of a model's variables, in its order, to names in a checkpoint.

    Args:
      model_name: The name of the model, for errors.
      shapes: Names and shapes of the model's variables, in its order.
      saved: The variables of the checkpoint.
      name_map: Model's names to the checkpoint's, by the user; or None.
      known: Model's names to the checkpoint's, where they are known.

    Raises:
      ValueError: A variable of the model has no match, or name_map has an unknown name.
    """
    given = _check_map(name_map or {}, shapes, saved)
    found = propose_names(shapes, saved.of_models, {**known, **given})
    _check_complete(model_name, shapes, saved, found)
    for ours, theirs in found.items():
        if ours != theirs:
            _LOG.info("%s is %s in the checkpoint.", ours, theirs)
    return {name: found[name] for name in shapes}


def _check_map(
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
    model_name: str,
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
        f"The checkpoint {saved.path} does not fit the Keras model '{model_name}':\n{table}\n"
        "Build the model that was trained, or give name_map={model's name: checkpoint's name} "
        "if only names differ."
    )
