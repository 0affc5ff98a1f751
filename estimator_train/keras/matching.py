"""Matches the variables of a Keras model with those of a checkpoint, by names and shapes."""

import dataclasses
import difflib
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph

from estimator_train.engine.checkpoints.integrity import latest_checkpoint

OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_STEPS = ("global_step", "estimator_global_step")
# Names of optimizers and their scopes, within or at the end of a variable's name.
_OPTIMIZERS = (
    r"Adadelta|Adafactor|Adagrad|Adam|AdamW|Adamax|Ftrl|Lion|Momentum|Nadam|RMSProp|RMSprop|SGD"
    # Of Keras 3.
    r"|adadelta|adafactor|adagrad|adam|adamw|adamax|ftrl|lamb|lion|muon|nadam|rm_?sprop|sgd"
    r"|loss_scale_optimizer"
)
_OF_OPTIMIZERS = re.compile(
    rf"(^|/)(training|accumulated|current_loss_scale|good_steps|beta\d_power(_\d+)?"
    rf"|({_OPTIMIZERS})(_\d+)?)(/|$)"
)
# An Estimator, a model_dir or a path prefix.
Source: TypeAlias = Any
Shapes = Mapping[str, tuple[int, ...]]
_KINDS = {
    "kernel": ("kernel", "weights", "weight", "w"),
    "bias": ("bias", "biases", "b"),
    "embeddings": ("embeddings", "embedding", "embedding_weights"),
    "gamma": ("gamma", "scale"),
    "beta": ("beta", "offset"),
    "moving_mean": ("moving_mean",),
    "moving_variance": ("moving_variance", "moving_var"),
}
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names}
_ALIKE = 0.6
_LOG = tf.get_logger()


@dataclasses.dataclass(frozen=True)
class SavedVariables:
    """Variables of a checkpoint.

    Attributes:
      path: The checkpoint's path prefix.
      keys: Variable names to keys in the checkpoint.
      shapes: Variable names to shapes.
      is_object_based: Whether keys are the places of variables in a model.
    """

    path: str
    keys: dict[str, str]
    shapes: dict[str, tuple[int, ...]]
    is_object_based: bool

    def value(self, name: str) -> np.ndarray:
        """Returns a variable's value."""
        return tf.train.load_variable(self.path, self.keys[name])

    @property
    def of_models(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of models' variables, without steps and state of optimizers."""
        names = set(self.shapes)
        return {
            name: shape
            for name, shape in self.shapes.items()
            if name not in _STEPS
            and not _OF_OPTIMIZERS.search(name)
            # "kernel/ExponentialMovingAverage" belongs to "kernel".
            and not any(name[: m.start()] in names for m in re.finditer("/", name))
        }

    @property
    def global_step(self) -> int | None:
        """The number of training steps; None if the checkpoint does not have it."""
        return next((int(self.value(name)) for name in _STEPS if name in self.keys), None)


def _find_checkpoint(source: Source) -> str:
    """Returns the path prefix of a checkpoint."""
    latest = getattr(source, "latest_checkpoint", None)
    if latest is not None:
        found, where = latest(), f"the model_dir {source.model_dir}"
    else:
        path = where = os.fspath(source)
        is_prefix = tf.io.gfile.exists(f"{path}.index")
        found = path if is_prefix else latest_checkpoint(path)
    if not found:
        raise ValueError(
            f"There is no checkpoint in {where}. Give an Estimator that was trained, its "
            "model_dir, or the path of a checkpoint such as DIR/model.ckpt-1000."
        )
    return found


def read_saved_variables(source: Source) -> SavedVariables:
    """Reads which variables a checkpoint has.

    Args:
      source: An Estimator, a model_dir or a checkpoint's path prefix.

    Raises:
      ValueError: There is no checkpoint.
    """
    path = _find_checkpoint(source)
    shapes = {key: tuple(shape) for key, shape in tf.train.list_variables(path)}
    if OBJECT_GRAPH not in shapes:
        return SavedVariables(path, {name: name for name in shapes}, shapes, False)
    graph = TrackableObjectGraph.FromString(tf.train.load_variable(path, OBJECT_GRAPH))
    keys = {
        # A model that was saved by eager code has names of which several may be equal.
        attribute.full_name or attribute.checkpoint_key: attribute.checkpoint_key
        for node in graph.nodes
        for attribute in node.attributes
        if attribute.checkpoint_key in shapes
    }
    keys.update({key.split("/")[0]: key for key in shapes if key.split("/")[0] in _STEPS})
    return SavedVariables(path, keys, {name: shapes[key] for name, key in keys.items()}, True)


def propose_names(wanted: Shapes, saved: Shapes, known: Mapping[str, str]) -> dict[str, str]:
    """Finds the variables of a checkpoint that belong to those of a model.

    Equal names are matched first. All others are matched by shape, by kind (a "kernel" may also be
    called "weights" or "w"), by the layers that are matched already, by the numbers in names, and
    by the similarity of names. A variable with several equally good matches is left out.

    Args:
      wanted: Names and shapes in the model, in its order.
      saved: Names and shapes in the checkpoint.
      known: Model's names to the checkpoint's, where they are known.

    Returns:
      Model's names to the checkpoint's.
    """
    matching = _Matching(wanted, saved, known)
    matching.take({n: n for n in matching.open if n in matching.free and wanted[n] == saved[n]})
    while matching.take(matching.match_only_candidates()) or matching.take(
        matching.match_by_order_or_likeness()
    ):
        pass
    return matching.found


class _Matching:
    def __init__(self, wanted: Shapes, saved: Shapes, known: Mapping[str, str]) -> None:
        self._wanted, self._saved = wanted, saved
        self.found = dict(known)
        self._layers = {_find_layer(ours): _find_layer(theirs) for ours, theirs in known.items()}

    @property
    def open(self) -> list[str]:
        return [name for name in self._wanted if name not in self.found]

    @property
    def free(self) -> list[str]:
        taken = set(self.found.values())
        return [name for name in self._saved if name not in taken]

    def take(self, pairs: Mapping[str, str]) -> bool:
        self.found.update(pairs)
        self._layers.update(
            {_find_layer(ours): _find_layer(theirs) for ours, theirs in pairs.items()}
        )
        return bool(pairs)

    def match_only_candidates(self) -> dict[str, str]:
        """Returns a variable with one candidate that no other variable has."""
        candidates = {name: self._list_candidates(name) for name in self.open}
        for name, fitting in candidates.items():
            rivals = [other for other in candidates if set(candidates[other]) & set(fitting)]
            if len(fitting) == 1 and rivals == [name]:
                return {name: fitting[0]}
        return {}

    def match_by_order_or_likeness(self) -> dict[str, str]:
        """Matches variables with the same candidates by number, or the two most similar names."""
        candidates = {name: self._list_candidates(name) for name in self.open}
        for fitting in candidates.values():
            group = [name for name in candidates if candidates[name] == fitting]
            if len(group) == len(fitting) and _is_numbered(fitting):
                return dict(zip(group, sorted(fitting, key=_make_natural_key), strict=True))
        scores = [
            (_compute_likeness(ours, theirs), ours, theirs)
            for ours, fitting in candidates.items()
            for theirs in fitting
        ]
        scores.sort(reverse=True)
        if not scores or scores[0][0] < _ALIKE:
            return {}
        best, ours, theirs = scores[0]
        rivals = [s for s in scores[1:] if (s[1] == ours or s[2] == theirs) and s[0] >= best]
        return {} if rivals else {ours: theirs}

    def _list_candidates(self, name: str) -> list[str]:
        kind = _find_kind(name)
        fitting = [free for free in self.free if self._saved[free] == self._wanted[name]]
        layer = self._layers.get(_find_layer(name))
        of_kind = [free for free in fitting if _find_kind(free) == kind]
        of_layer = [free for free in of_kind if _find_layer(free) == layer]
        unclear = [free for free in fitting if kind is None or _find_kind(free) is None]
        return of_layer or of_kind or unclear


def _find_kind(name: str) -> str | None:
    return _KIND_OF.get(name.rpartition("/")[2].lower())


def _find_layer(name: str) -> str:
    return name.rpartition("/")[0]


def _make_natural_key(name: str) -> list[tuple[int, str]]:
    """Returns a key that sorts "dense" before "dense_1", and "dense_2" before "dense_10"."""
    key: list[tuple[int, str]] = []
    for part in name.split("/"):
        stem, number = re.fullmatch(r"(.*?)_?(\d*)", part, re.DOTALL).groups()  # type: ignore[union-attr]
        key += [(0, stem), (int(number or 0), "")]
    return key


def _is_numbered(names: Sequence[str]) -> bool:
    """Returns whether names differ only by numbers."""
    return len({re.sub(r"_?\d+", "", name) for name in names}) == 1


def _compute_likeness(ours: str, theirs: str) -> float:
    return difflib.SequenceMatcher(
        None, _find_layer(ours).lower(), _find_layer(theirs).lower()
    ).ratio()


def match_names(
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
