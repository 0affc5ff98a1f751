"""Encodes the features of an exported model: strings become ids, as in TensorFlow.

An export contains a copy of this file, with `fingerprints.py` in it, and an `encoder.json` that
describes the columns. The copy needs NumPy, and neither TensorFlow nor estimator_train:

    encoder = Encoder("exported/encoder.json")
    inputs = encoder.encode({"age": [39.0, 50.0], "occupation": ["Sales", "Craft-repair"]})
    answers = onnxruntime.InferenceSession("exported/model.onnx").run(None, inputs)

Values stay in Python lists as long as a column does not need arithmetic on many of them, because
one call of NumPy takes as long as a lookup of 50 words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

# Exports contain that module in place of this line.
from estimator_train.export.portable.fingerprints import (
    FEW,
    hash_texts,
    join_hashes,
    take_modulo,
    to_unsigned,
)

Array = Any  # np.ndarray; the file also runs with versions of NumPy without types.

_PADDING = -1
_NO_STEP = -2  # Fills up sequences, whose steps without an id are _PADDING.
_INTEGERS = (int, np.integer, np.bool_)


class Values(NamedTuple):
    """Values of a batch.

    Attributes:
      values: A list or array of the values, example after example.
      counts: Array with the number of values of each example; None if each has one.
      batch: Number of examples.
    """

    values: Any
    counts: Array | None
    batch: int

    def get_counts(self) -> Array:
        """Returns the number of values of each example."""
        return np.ones(self.batch, np.int64) if self.counts is None else self.counts

    def select(self, kept: Array) -> Values:
        """Returns the values where a boolean array is True."""
        rows = np.repeat(np.arange(self.batch), self.get_counts())
        counts = np.bincount(rows[kept], minlength=self.batch)
        if isinstance(self.values, list):
            pairs = zip(self.values, kept.tolist(), strict=True)
            return Values([value for value, keep in pairs if keep], counts, self.batch)
        return Values(self.values[kept], counts, self.batch)


class Encoder:
    """Encoder of the features of an exported model.

    Args:
      description: Path of the file encoder.json, or its content.
    """

    def __init__(self, description: str | Mapping[str, Any]) -> None:
        if isinstance(description, Mapping):
            content = description
        else:
            with open(description, encoding="utf-8") as file:
                content = json.load(file)
        self._inputs: list[dict[str, Any]] = content["inputs"]
        self._tables: dict[int, dict[Any, int]] = {}

    def encode(self, features: Mapping[str, Any]) -> dict[str, Array]:
        """Returns the inputs of the model.

        Args:
          features: Maps feature names to arrays [batch] or [batch, values], or to a list with a
            list of values for each example. "" among strings and -1 among integers mean that a
            value is missing, as in TensorFlow.

        Returns:
          Input name to array. Ids are int64 [batch, values], filled up with -1. Those of sequences
          have a place for each step, -1 for a step without an id, and are filled up with -2.

        Raises:
          KeyError: A feature is missing.
          ValueError: A feature has values of the wrong type, or an id that its column refuses.
        """
        encoded: dict[str, Array] = {}
        batch = _Batch(features)
        for entry in self._inputs:
            if entry["kind"] == "feature":
                value = np.asarray(batch.get(entry["feature"]), entry["dtype"])
                # A column of numbers also takes one number for each example, without a dimension.
                shape = entry.get("shape")
                if shape is not None and len(shape) == value.ndim + 1 and shape[-1] in (1, None):
                    value = value[..., None]
                encoded[entry["name"]] = value
                continue
            if entry.get("sequence"):
                encoded[entry["name"]] = self._encode_sequence(entry["column"], features)
                continue
            ids, weights = self._encode_column(entry["column"], batch)
            known = _find_known(ids.values)
            encoded[entry["name"]] = _pad(ids, known, _PADDING, np.int64)
            if weights is not None:
                weighted = Values(weights, ids.counts, ids.batch)
                encoded[entry["weights"]] = _pad(weighted, known, 0.0, np.float32)
        return encoded

    def _encode_column(
        self, column: Mapping[str, Any], batch: _Batch
    ) -> tuple[Values, Array | None]:
        """Returns the ids of a column, and their weights or None."""
        kind = column["kind"]
        if kind == "weighted":
            ids, _ = self._encode_column(column["column"], batch)
            return ids, _read_weights(column, ids, batch)
        if kind == "cross":
            keys = [self._encode_column(key, batch)[0] for key in column["keys"]]
            return _cross(keys, column["buckets"], column["hash_key"]), None
        name = column["feature"]
        if kind == "buckets":
            return _assign_buckets(batch.get(name), column["boundaries"]), None
        # A cross hashes "" and -1 like all other values.
        words, found = batch.read(name, column["dtype"], keep_missing=kind == "fingerprint")
        is_hashed = kind == "fingerprint" and column["dtype"] == "string"
        convert: dict[str, Callable[[], Any]] = {
            "hash": lambda: take_modulo(batch.hash(words), column["buckets"]),
            # A cross joins the fingerprints of strings, and integers as they are.
            "fingerprint": lambda: batch.hash(words) if is_hashed else words,
            "identity": lambda: _check_range(words, column),
            "vocabulary": lambda: self._look_up(words, column),
        }
        ids = convert[kind]()
        if found.values is not words:
            ids = np.asarray(ids, np.uint64 if is_hashed else np.int64)[found.values]
        return found._replace(values=ids), None

    def _encode_sequence(self, column: Mapping[str, Any], features: Mapping[str, Any]) -> Array:
        """Returns the id of each step of sequences, int64 [batch, time]."""
        name = column["feature"]
        feature = _Batch(features).get(name)
        _check_batch(name, feature)
        missing: tuple[Any, ...] = ()
        if not _is_ragged(feature):
            missing = ("", b"") if column["dtype"] == "string" else (-1,)
            rows = feature if isinstance(feature, (list, tuple)) else np.asarray(feature).tolist()
            feature = [_cut_end(row, missing) for row in rows]
        known = [[word for word in row if word not in missing] for row in feature]
        found = iter(self._encode_column(column, _Batch({name: known}))[0].values)
        ids = [
            _PADDING if word in missing else max(next(found), _PADDING)
            for row in feature
            for word in row
        ]
        counts = np.array([len(row) for row in feature], np.int64)
        return _pad(Values(ids, counts, len(feature)), None, _NO_STEP, np.int64)

    def _look_up(self, values: list[Any], column: Mapping[str, Any]) -> list[int]:
        """Returns the position of each value in a vocabulary."""
        table = self._tables.get(id(column))
        if table is None:
            words = column["vocabulary"]
            table = {word: position for position, word in enumerate(words)}
            if column["dtype"] == "string":
                encoded = (word.encode("utf-8", "surrogateescape") for word in words)
                table |= {word: position for position, word in enumerate(encoded)}
            self._tables[id(column)] = table
        if not column["oov_buckets"]:
            default = column["default"]
            return [table.get(value, default) for value in values]
        unknown = [value for value in values if value not in table]
        hashes = hash_texts([_to_bytes(value) for value in unknown])
        buckets = iter(take_modulo(hashes, column["oov_buckets"]))
        size = len(column["vocabulary"])
        return [table[v] if v in table else size + int(next(buckets)) for v in values]


class _Batch:
    """Features of a batch; each is read and hashed once, also if several columns use it."""

    def __init__(self, features: Mapping[str, Any]) -> None:
        self._features = features
        self._found: dict[tuple[str, bool], tuple[list[Any], Values]] = {}
        self._hashes: dict[int, Any] = {}  # By the id of a list in `_found`.

    def get(self, name: str) -> Any:
        """Returns a feature."""
        if name not in self._features:
            raise KeyError(f"Feature '{name}' is missing; the batch has {sorted(self._features)}.")
        return self._features[name]

    def read(self, name: str, dtype: str, *, keep_missing: bool) -> tuple[list[Any], Values]:
        """Reads a feature.

        Args:
          name: Its name.
          dtype: "string" or "int64".
          keep_missing: Whether to keep values that mean a missing value.

        Returns:
          A list of words, and the values of the examples: this list, or for a large batch an array
          with the place of each value in the list, which has each word once.
        """
        key = name, keep_missing
        if key not in self._found:
            self._found[name, True], self._found[name, False] = _read(name, self.get(name), dtype)
        return self._found[key]

    def hash(self, words: list[Any]) -> Any:
        """Returns the fingerprints of words that `read` returned: a list, or an array for many."""
        if id(words) not in self._hashes:
            texts = [_to_bytes(word) for word in words]
            self._hashes[id(words)] = hash_texts(texts)
        return self._hashes[id(words)]


def _read(name: str, feature: Any, dtype: str) -> tuple[Any, Any]:
    """Returns the words and values of a feature with missing values, and those without."""
    _check_batch(name, feature)
    is_ragged = _is_ragged(feature)
    words, counts = _flatten(feature, is_ragged)
    missing = ("", b"") if dtype == "string" else (-1,)
    if len(words) < FEW:
        _check_types(name, words, dtype)
        found = Values(words, counts, len(feature))
        if is_ragged or not any(word in missing for word in words):
            return (words, found), (words, found)
        known = found.select(np.array([word not in missing for word in words]))
        return (words, found), (known.values, known)
    # The missing values come first, so that they can be cut off.
    front = () if is_ragged else missing
    places = {word: place for place, word in enumerate(dict.fromkeys((*front, *words)))}
    found = Values(np.array([places[word] for word in words]), counts, len(feature))
    words, first = list(places), len(front)
    _check_types(name, words, dtype)
    if is_ragged:
        return (words, found), (words, found)
    kept = found.values >= first
    known = found if kept.all() else found.select(kept)
    return (words, found), (words[first:], known._replace(values=known.values - first))


def _flatten(feature: Any, is_ragged: bool) -> tuple[list[Any], Array | None]:
    """Returns the values of all examples, and the number of each; None if each has one."""
    if is_ragged:
        counts = np.array([len(row) for row in feature], np.int64)
        return [value for row in feature for value in row], counts
    if isinstance(feature, (list, tuple)):
        return list(feature), None
    array = np.asarray(feature)
    size = array.size // max(1, len(array))
    return array.ravel().tolist(), None if array.ndim == 1 else np.full(len(array), size)


def _cut_end(row: Any, missing: Sequence[Any]) -> list[Any]:
    """Returns the steps of a sequence up to the last that is not missing."""
    steps = row if isinstance(row, list) else [row]
    size = max((place + 1 for place, word in enumerate(steps) if word not in missing), default=0)
    return steps[:size]


def _check_types(name: str, words: list[Any], dtype: str) -> None:
    wanted, kind = ((str, bytes), "strings") if dtype == "string" else (_INTEGERS, "integers")
    wrong = [found for found in set(map(type, words)) if not issubclass(found, wanted)]
    if wrong:
        raise ValueError(
            f"Feature '{name}' must be {kind}, got values of type {wrong[0].__name__}."
        )


def _check_batch(name: str, feature: Any) -> None:
    if isinstance(feature, (str, bytes)) or not hasattr(feature, "__len__"):
        raise ValueError(f"Feature '{name}' must have a value for each example, got {feature!r}.")


def _is_ragged(feature: Any) -> bool:
    return isinstance(feature, (list, tuple)) and any(
        isinstance(row, (list, tuple, np.ndarray)) for row in feature
    )


def _read_weights(column: Mapping[str, Any], ids: Values, batch: _Batch) -> Array:
    """Returns a weight for each id of a column. Without lists, a weight of 0 belongs to no id."""
    feature = batch.get(column["weights"])
    _check_batch(column["weights"], feature)
    if _is_ragged(feature):
        weights = np.array([weight for row in feature for weight in row], np.float32)
        counts = np.array([len(row) for row in feature])
    else:
        array = np.asarray(feature, np.float32)
        array = array.reshape(len(array), array.size // max(1, len(array)))
        weights, counts = array[array != 0], (array != 0).sum(1)
    if not np.array_equal(counts, ids.get_counts()):
        raise ValueError(
            f"Feature '{column['weights']}' must have a weight for each value of "
            f"'{column['column']['feature']}', got {len(weights)} weights that are "
            f"not 0 for {len(ids.values)} values."
        )
    return weights


def _to_bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return value.encode() if isinstance(value, str) else b"%d" % value


def _check_range(values: list[int], column: Mapping[str, Any]) -> list[int]:
    size, default = column["buckets"], column["default"]
    if not values or (min(values) >= 0 and max(values) < size):
        return values
    if default is not None:
        return [value if 0 <= value < size else default for value in values]
    wrong = next(value for value in values if not 0 <= value < size)
    raise ValueError(f"Feature '{column['feature']}' has the id {wrong}; expected 0 to {size - 1}.")


def _assign_buckets(feature: Any, boundaries: Sequence[float]) -> Values:
    numbers = np.asarray(feature, np.float32).ravel()
    batch = len(feature)
    ids = np.searchsorted(np.asarray(boundaries, np.float32), numbers, side="right")
    if len(numbers) == batch:
        return Values(ids, None, batch)
    size = len(numbers) // max(1, batch)
    ids += np.tile(np.arange(size) * (len(boundaries) + 1), batch)  # Each position has buckets.
    return Values(ids, np.full(batch, size), batch)


def _cross(keys: Sequence[Values], buckets: int, hash_key: int) -> Values:
    """Returns the hash of each combination of values, one from each key."""
    batch = keys[0].batch
    if batch < FEW and all(key.counts is None for key in keys):
        found = [hash_key] * batch
        for key in keys:
            found = [join_hashes(a, int(b)) for a, b in zip(found, key.values, strict=True)]
        return Values([value % buckets for value in found], None, batch)
    rows = np.arange(batch)
    hashes = np.full(batch, hash_key, np.uint64)
    for key in keys:
        values = to_unsigned(key.values)
        if key.counts is not None:
            counts = key.counts
            starts = np.cumsum(counts) - counts
            repeats = counts[rows]
            first = np.repeat(np.cumsum(repeats) - repeats, repeats)
            places = np.repeat(starts[rows], repeats) + np.arange(repeats.sum()) - first
            rows, hashes, values = (
                np.repeat(rows, repeats),
                np.repeat(hashes, repeats),
                values[places],
            )
        else:
            values = values[rows]
        hashes = join_hashes(hashes, values)
    return Values(take_modulo(hashes, buckets), np.bincount(rows, minlength=batch), batch)


def _find_known(ids: Any) -> Array | None:
    """Returns a boolean array that marks ids of known values, or None if all are."""
    if not len(ids) or (min(ids) if isinstance(ids, list) else ids.min()) >= 0:
        return None
    return np.asarray(ids) >= 0


def _pad(values: Values, kept: Array | None, filler: float, dtype: Any) -> Array:
    """Returns the kept values as an array [batch, values], at least one value wide."""
    if kept is not None:
        values = values.select(kept)
    found = np.asarray(values.values, dtype)
    if values.counts is None:
        return found.reshape(values.batch, 1)
    if values.batch == 1 and len(found):
        return found.reshape(1, -1)
    counts, batch = values.counts, values.batch
    padded = np.full((batch, max(1, counts.max(initial=0))), filler, dtype)
    rows = np.repeat(np.arange(batch), counts)
    padded[rows, np.arange(len(rows)) - (np.cumsum(counts) - counts)[rows]] = found
    return padded
