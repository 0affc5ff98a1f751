"""Encodes the features of an exported model: strings become ids, as in TensorFlow.

An export contains a copy of this file and an `encoder.json` that describes the columns. The file
needs NumPy, and neither TensorFlow nor estimator_train:

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

Array = Any  # np.ndarray; the file also runs with versions of NumPy without types.

# Numbers modulo 2**64: the functions of fingerprints take Python integers and uint64 arrays alike.
_MASK = 2**64 - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
_CROSS_MULTIPLIER = 0xC6A4A7935BD1E995
_PADDING = -1
_NO_STEP = -2  # Fills up sequences, whose steps without an id are _PADDING.
_FEW = 24  # Python hashes fewer strings faster than NumPy.
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
            "hash": lambda: _take_modulo(batch.hash(words), column["buckets"]),
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
        buckets = iter(_take_modulo(_hash([_to_bytes(v) for v in unknown]), column["oov_buckets"]))
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
            self._hashes[id(words)] = _hash(texts)
        return self._hashes[id(words)]


def fingerprint(strings: Sequence[bytes]) -> Array:
    """Returns the FarmHash Fingerprint64 of each string, uint64.

    The function is defined by FarmHash (Geoff Pike, Google, 2014), `farmhashna::Hash64`. Strings of
    one length are hashed together.

    Args:
      strings: The strings as bytes.
    """
    if len(strings) < _FEW:
        return np.array([_fingerprint_one(text) for text in strings], np.uint64)
    result = np.empty(len(strings), np.uint64)
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    order = np.argsort(lengths, kind="stable")
    found, starts = np.unique(lengths[order], return_index=True)
    for length, places in zip(found.tolist(), np.split(order, starts[1:]), strict=True):
        joined = b"".join([strings[place] for place in places.tolist()])
        text = np.frombuffer(joined, np.uint8).reshape(len(places), length)
        result[places] = _fingerprint_many(text, length)
    return result


def _fingerprint_one(text: bytes) -> int:
    def fetch(start: int, size: int = 8) -> int:
        return int.from_bytes(text[start : start + size], "little")

    found: int = _fingerprint_fetched(fetch, len(text)) & _MASK
    return found


def _fingerprint_many(text: Array, length: int) -> Array:
    def fetch(start: int, size: int = 8) -> Array:
        part = np.ascontiguousarray(text[:, start : start + size])
        return part.view(f"<u{size}")[:, 0].astype(np.uint64)

    return _fingerprint_fetched(fetch, length)


def _fingerprint_fetched(fetch: Callable[..., Any], length: int) -> Any:
    """Returns fingerprints from the numbers of `size` bytes that `fetch(start, size)` returns."""
    if length > 64:
        return _fingerprint_long(fetch, length)
    multiplier = _K2 + 2 * length
    if length == 0:
        return _K2
    if length < 4:
        first, middle, last = (fetch(i, 1) for i in (0, length >> 1, length - 1))
        return _shift_mix((first + (middle << 8)) * _K2 ^ (length + (last << 2)) * _K0) * _K2
    if length < 8:
        return _mix(length + (fetch(0, 4) << 3), fetch(length - 4, 4), multiplier)
    if length <= 16:
        a, b = fetch(0) + _K2, fetch(length - 8)
        c = _rotate(b, 37) * multiplier + a
        return _mix(c, (_rotate(a, 25) + b) * multiplier, multiplier)
    a = fetch(0) * (_K1 if length <= 32 else _K2)
    b, c = fetch(8), fetch(length - 8) * multiplier
    y = _rotate(a + b, 43) + _rotate(c, 30) + fetch(length - 16) * _K2
    z = _mix(y, a + _rotate(b + _K2, 18) + c, multiplier)
    if length <= 32:
        return z
    e, f = fetch(16) * multiplier, fetch(24)
    g, h = (y + fetch(length - 32)) * multiplier, (z + fetch(length - 24)) * multiplier
    first = _rotate(e + f, 43) + _rotate(g, 30) + h
    return _mix(first, e + _rotate(f + a, 18) + g, multiplier)


def _fingerprint_long(fetch: Callable[..., Any], length: int) -> Any:
    """Returns the fingerprints of strings of more than 64 bytes, from rounds of 64 bytes."""
    zero = fetch(0) & 0  # A number like those of the text: an integer or an array.
    v, w = (zero, zero), (zero, zero)
    x, y = (81 * _K2 & _MASK) + fetch(0), zero + (81 * _K1 + 113 & _MASK)
    z = _shift_mix(y * _K2 + 113) * _K2

    def mix_32(start: int, a: Any, b: Any) -> tuple[Any, Any]:
        words = [fetch(start + offset) for offset in (0, 8, 16, 24)]
        a = a + words[0] & _MASK
        b = _rotate(b + a + words[3], 21)
        total = a + words[1] + words[2]
        return total + words[3], b + _rotate(total, 44) + a

    def mix_64(start: int, factor: Any, last: bool) -> None:
        nonlocal x, y, z, v, w
        nine = 9 if last else 1
        x = _rotate(x + y + v[0] + fetch(start + 8), 37) * factor
        y = _rotate(y + v[1] + fetch(start + 48), 42) * factor
        x, y = x ^ w[1] * nine, y + v[0] * nine + fetch(start + 40)
        z = _rotate(z + w[0], 33) * factor
        v = mix_32(start, v[1] * factor, x + w[0])
        w = mix_32(start + 32, z + w[1], y + fetch(start + 16))
        x, z = z, x

    for start in range(0, (length - 1) // 64 * 64, 64):
        mix_64(start, _K1, last=False)
    factor = _K1 + ((z & 0xFF) << 1)
    w = w[0] + (length - 1 & 63), w[1]
    v = v[0] + w[0], v[1]
    w = w[0] + v[0], w[1]
    mix_64(length - 64, factor, last=True)
    first = _mix(v[0], w[0], factor) + _shift_mix(y) * _K0 + z
    return _mix(first, _mix(v[1], w[1], factor) + x, factor)


def _rotate(value: Any, bits: int) -> Any:
    value = value & _MASK
    return (value >> bits) | (value << (64 - bits))


def _shift_mix(value: Any) -> Any:
    value = value & _MASK
    return value ^ (value >> 47)


def _mix(u: Any, v: Any, multiplier: Any) -> Any:
    a = _shift_mix((u ^ v) * multiplier)
    return _shift_mix((v ^ a) * multiplier) * multiplier


def _read(name: str, feature: Any, dtype: str) -> tuple[Any, Any]:
    """Returns the words and values of a feature with missing values, and those without."""
    _check_batch(name, feature)
    is_ragged = _is_ragged(feature)
    words, counts = _flatten(feature, is_ragged)
    missing = ("", b"") if dtype == "string" else (-1,)
    if len(words) < _FEW:
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


def _hash(texts: list[bytes]) -> Any:
    """Returns fingerprints: a list, or an array for many."""
    if len(texts) < _FEW:
        return [_fingerprint_one(text) for text in texts]
    return fingerprint(texts)


def _to_bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return value.encode() if isinstance(value, str) else b"%d" % value


def _take_modulo(hashes: Any, buckets: int) -> Any:
    if isinstance(hashes, list):
        return [value % buckets for value in hashes]
    return (hashes % np.uint64(buckets)).astype(np.int64)


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
    if batch < _FEW and all(key.counts is None for key in keys):
        found = [hash_key] * batch
        for key in keys:
            found = [_join_hashes(a, int(b)) for a, b in zip(found, key.values, strict=True)]
        return Values([value % buckets for value in found], None, batch)
    rows = np.arange(batch)
    hashes = np.full(batch, hash_key, np.uint64)
    for key in keys:
        values = _to_unsigned(key.values)
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
        hashes = _join_hashes(hashes, values)
    return Values(_take_modulo(hashes, buckets), np.bincount(rows, minlength=batch), batch)


def _to_unsigned(values: Any) -> Array:
    """Returns integers modulo 2**64."""
    if isinstance(values, list):
        return np.array([value & _MASK for value in values], np.uint64)
    return values.astype(np.uint64)


def _join_hashes(first: Any, second: Any) -> Any:
    """Returns the fingerprint of two fingerprints, as TensorFlow's crosses compute it."""
    mixed = _shift_mix(second * _CROSS_MULTIPLIER) * _CROSS_MULTIPLIER & _MASK
    joined = (first ^ _CROSS_MULTIPLIER ^ mixed) * _CROSS_MULTIPLIER
    return _shift_mix(_shift_mix(joined) * _CROSS_MULTIPLIER)


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
