"""Matches the variables of a model and a checkpoint by their names and shapes."""

import difflib
import re
from collections.abc import Mapping, Sequence

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
