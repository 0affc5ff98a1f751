"""Encoder of exports: the ids of TensorFlow, computed with NumPy alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from estimator_train.engine.tf_internals import column_types
from estimator_train.export.portable import conversion, encoder
from estimator_train.export.portable.fingerprints import fingerprint
from estimator_train.export.portable.rows import describe_column

fc = tf.feature_column
RANDOM = np.random.default_rng(0)
WORDS = ["red", "green", "blue", "Ωmega", "a" * 70]
SPECS = {
    "word": tf.TensorSpec([None], tf.string),
    "place": tf.TensorSpec([None, 3], tf.string),
    "code": tf.TensorSpec([None], tf.int64),
    "size": tf.TensorSpec([None, 2], tf.float32),
}


def make_features(rows: int) -> dict[str, Any]:
    """Returns features with known, unknown and missing values; NaN among the numbers."""
    unknown = [f"unknown {i}" for i in range(20)]
    size = RANDOM.normal(size=[rows, 2]).astype(np.float32)
    size[0] = np.nan, np.inf
    return {
        "word": RANDOM.choice([*WORDS, *unknown, ""], rows).astype(object),
        "place": RANDOM.choice([*WORDS, "", "x"], [rows, 3]).astype(object),
        "code": RANDOM.integers(-2, 12, rows),
        "size": size,
    }


def compute_ids(column: Any, features: dict[str, Any]) -> list[list[tuple[int, float]]]:
    """Returns the ids that TensorFlow computes for each example, with their weights."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tensors = {name: tf.constant(value) for name, value in features.items()}
        cache = column_types.FeatureTransformationCache(tensors)
        pair = column.get_sparse_tensors(cache, None)
        session.run(tf.compat.v1.tables_initializer())
        ids, weights = session.run([pair.id_tensor, pair.weight_tensor or ()])
    values = [1.0] * len(ids.values) if weights == () else weights.values
    rows: list[list[tuple[int, float]]] = [[] for _ in range(ids.dense_shape[0])]
    for place, found, weight in zip(ids.indices, ids.values, values, strict=True):
        if found >= 0:
            rows[place[0]].append((int(found), float(weight)))
    return rows


def encode(column: Any, features: dict[str, Any]) -> list[list[tuple[int, float]]]:
    entry = {"kind": "ids", "name": "ids", "column": describe_column(column, SPECS)}
    description = json.loads(json.dumps({"inputs": [{**entry, "weights": "weights"}]}))
    found = encoder.Encoder(description).encode(features)
    weights = found.get("weights", np.ones(found["ids"].shape))
    return [
        [(int(i), float(w)) for i, w in zip(ids, row, strict=True) if i >= 0]
        for ids, row in zip(found["ids"], weights, strict=True)
    ]


def make_columns(folder: Path) -> dict[str, Any]:
    file = folder / "words.txt"
    file.write_bytes("\r\n".join(WORDS).encode())
    word = fc.categorical_column_with_vocabulary_list("word", WORDS, num_oov_buckets=3)
    plain = fc.categorical_column_with_vocabulary_list("word", WORDS)
    code = fc.categorical_column_with_vocabulary_list("code", [7, 1, 3], num_oov_buckets=5)
    buckets = fc.bucketized_column(fc.numeric_column("size", shape=2), [-1.0, 0.1, 0.5])
    pair = fc.crossed_column(["word", "place"], 97)
    return {
        "list": plain,
        "default": fc.categorical_column_with_vocabulary_list("place", WORDS, default_value=2),
        "oov": word,
        "file": fc.categorical_column_with_vocabulary_file("place", str(file), num_oov_buckets=2),
        "part": fc.categorical_column_with_vocabulary_file("word", str(file), 2),
        "integers": code,
        "hash": fc.categorical_column_with_hash_bucket("place", 1000),
        "hash of integers": fc.categorical_column_with_hash_bucket("code", 10, tf.int64),
        "identity": fc.categorical_column_with_identity("code", 9, default_value=4),
        "buckets": buckets,
        "cross": pair,
        "cross with a key": fc.crossed_column(["word", "code"], 1000, hash_key=12345),
        "cross of columns": fc.crossed_column([buckets, plain, code, "place"], 10_000),
        "cross of crosses": fc.crossed_column([pair, buckets], 500, hash_key=3),
    }


KINDS = [
    "list",
    "default",
    "oov",
    "file",
    "part",
    "integers",
    "hash",
    "hash of integers",
    "identity",
    "buckets",
    "cross",
    "cross with a key",
    "cross of columns",
    "cross of crosses",
]


@pytest.mark.parametrize("kind", KINDS)
def test_ids_are_those_of_tensorflow(kind: str, tmp_path: Path) -> None:
    column, features = make_columns(tmp_path)[kind], make_features(200)
    wanted = compute_ids(column, features)
    assert any(wanted)
    assert encode(column, features) == wanted


def test_weights_belong_to_values() -> None:
    likes = fc.categorical_column_with_hash_bucket("place", 50)
    column = fc.weighted_categorical_column(likes, "size")
    features = {
        "place": np.array([["a", "b"], ["", ""], ["c", ""]], object),
        "size": np.array([[0.5, 2.0], [0, 0], [3.0, 0]], np.float32),
    }
    wanted = compute_ids(column, features)
    assert [len(row) for row in wanted] == [2, 0, 1]
    assert encode(column, features) == wanted
    features["size"][1, 0] = 1.0
    with pytest.raises(ValueError, match="'size' must have a weight for each value of 'place'"):
        encode(column, features)


def test_lists_of_different_lengths() -> None:
    column = fc.categorical_column_with_vocabulary_list("place", WORDS)
    assert encode(column, {"place": [["red", "blue"], [], [b"green"]]}) == [
        [(0, 1.0), (2, 1.0)],
        [],
        [(1, 1.0)],
    ]


@pytest.mark.parametrize("kind", ["oov", "hash", "cross of columns", "file"])
def test_a_row_without_values(kind: str, tmp_path: Path) -> None:
    column = make_columns(tmp_path)[kind]
    features = {name: value[:1] for name, value in make_features(2).items()}
    features["word"][:], features["place"][:], features["code"][:] = "", "", -1
    assert encode(column, features) == compute_ids(column, features)


@pytest.mark.parametrize("rows", [3, 100])
def test_ids_without_a_default_and_without_missing_values(rows: int) -> None:
    identity = fc.categorical_column_with_identity("code", 9)
    codes = np.arange(rows) % 9
    wanted = [[(code, 1.0)] for code in codes]
    assert encode(identity, {"code": codes}) == wanted
    assert encode(identity, {"code": [[int(code)] for code in codes]}) == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_batch_has_no_rows(kind: str, tmp_path: Path) -> None:
    column = make_columns(tmp_path)[kind]
    features = {name: value[:0] for name, value in make_features(2).items()}
    entry = {"kind": "ids", "name": "ids", "column": describe_column(column, SPECS)}
    found = encoder.Encoder({"inputs": [entry]}).encode(features)
    assert found["ids"].shape == (0, 1)
    assert found["ids"].dtype == np.int64


def test_wrong_features_are_named() -> None:
    identity = fc.categorical_column_with_identity("code", 9)
    with pytest.raises(ValueError, match="Feature 'code' has the id 9; expected 0 to 8"):
        encode(identity, {"code": [3, 9]})
    for codes in ([0.5], np.full(40, 0.5)):
        with pytest.raises(ValueError, match="'code' must be integers, got values of type float"):
            encode(identity, {"code": codes})
    with pytest.raises(ValueError, match="'word' must be strings, got values of type NoneType"):
        encode(fc.categorical_column_with_hash_bucket("word", 9), {"word": ["a", None]})
    with pytest.raises(ValueError, match="'code' must have a value for each example, got 3"):
        encode(identity, {"code": 3})
    with pytest.raises(KeyError, match="Feature 'code' is missing; the batch has \\['age'\\]"):
        encode(identity, {"age": [3]})


def test_fingerprints_of_all_lengths() -> None:
    strings = [RANDOM.bytes(length) for length in range(260) for _ in range(3)]
    wanted = tf.strings.to_hash_bucket_fast(strings, 2**63 - 1).numpy()
    parts = [strings[place : place + 5] for place in range(0, len(strings), 5)]
    by_parts = np.concatenate([*map(fingerprint, parts)])
    for found in (fingerprint(strings), by_parts):
        assert found.dtype == np.uint64
        np.testing.assert_array_equal((found % np.uint64(2**63 - 1)).astype(np.int64), wanted)


def test_rows_are_encoded_like_batches(tmp_path: Path) -> None:
    # The encoder computes small batches with Python, and large ones with NumPy.
    features = make_features(60)
    for column in make_columns(tmp_path).values():
        rows = [{name: v[i : i + 1] for name, v in features.items()} for i in range(60)]
        assert [encode(column, row)[0] for row in rows] == encode(column, features)


@pytest.mark.long
def test_a_million_strings() -> None:
    lengths = RANDOM.integers(0, 200, 1_000_000)
    strings = np.array([RANDOM.bytes(length) for length in lengths], object)
    features = {"word": strings, "place": strings[::-1, None], "code": np.arange(len(strings))}
    word = fc.categorical_column_with_vocabulary_list("word", WORDS, num_oov_buckets=1000)
    for column in (
        fc.categorical_column_with_hash_bucket("word", 10**6),
        word,
        fc.crossed_column(["word", "place", "code"], 10**7, hash_key=99),
    ):
        assert encode(column, features) == compute_ids(column, features)


def test_the_file_needs_numpy_alone(tmp_path: Path) -> None:
    column = fc.crossed_column(["word", "place"], 1000)
    entry = {"kind": "ids", "name": "ids", "column": describe_column(column, SPECS)}
    conversion.write_encoder(str(tmp_path), {"inputs": [entry]})
    program = (
        "import sys; sys.modules['tensorflow'] = sys.modules['estimator_train'] = None\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        f"import encoder; e = encoder.Encoder({str(tmp_path / 'encoder.json')!r})\n"
        "print(e.encode({'word': ['red', 'x'], 'place': [['a'], ['b']]})['ids'].tolist())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    features = {"word": np.array(["red", "x"], object), "place": np.array([["a"], ["b"]], object)}
    wanted = [[i for i, _ in row] for row in compute_ids(column, features)]
    assert done.stdout.strip() == str(wanted), done.stderr
