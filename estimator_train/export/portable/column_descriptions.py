"""Describes for an encoder without TensorFlow how feature columns convert values to ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf


class UnsupportedModelError(ValueError):
    """Error for a model that cannot be converted; its message names the part and a way out."""


def describe_column(column: Any, specs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the description of a categorical column, for `encoder.json`.

    Args:
      column: The column.
      specs: Feature name to its TensorSpec or SparseTensorSpec.

    Raises:
      UnsupportedModelError: An encoder cannot compute the column.
    """
    if hasattr(column, "weight_feature_key"):
        return {
            "kind": "weighted",
            "column": describe_column(column.categorical_column, specs),
            "weights": column.weight_feature_key,
        }
    column = getattr(column, "categorical_column", column)
    if hasattr(column, "hash_key"):
        # TensorFlow's operation hashes the dense keys after all others.
        keys = sorted(_list_leaves(column), key=lambda key: _is_dense(key, specs))
        return {
            "kind": "cross",
            "keys": [_describe_key(key, column.name, specs) for key in keys],
            "buckets": column.hash_bucket_size,
            # TensorFlow's default for crosses without a key.
            "hash_key": 0xDECAFCAFFE if column.hash_key is None else column.hash_key,
        }
    if hasattr(column, "boundaries"):
        return _describe_buckets(column)
    described = {"feature": column.key}
    if hasattr(column, "number_buckets"):
        default = column.default_value
        return described | {
            "kind": "identity",
            "dtype": "int64",
            "buckets": column.number_buckets,
            "default": default,
        }
    described["dtype"] = "string" if column.dtype == tf.string else "int64"
    if hasattr(column, "hash_bucket_size"):
        return described | {"kind": "hash", "buckets": column.hash_bucket_size}
    return described | {
        "kind": "vocabulary",
        "vocabulary": _read_vocabulary(column),
        "oov_buckets": column.num_oov_buckets,
        "default": -1 if column.default_value is None else column.default_value,
    }


def _list_leaves(column: Any) -> list[Any]:
    """Returns the keys of a cross; a cross among them is replaced by its keys."""
    leaves: list[Any] = []
    for key in column.keys:
        leaves += _list_leaves(key) if hasattr(key, "hash_key") else [key]
    return leaves


def _is_dense(key: Any, specs: Mapping[str, Any]) -> bool:
    return isinstance(key, str) and not isinstance(specs[key], tf.SparseTensorSpec)


def _describe_key(key: Any, cross: str, specs: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(key, str):
        dtype = "string" if specs[key].dtype == tf.string else "int64"
        return {"kind": "fingerprint", "feature": key, "dtype": dtype}
    if not hasattr(key, "num_buckets"):
        raise UnsupportedModelError(
            f"Column '{cross}' crosses {key!r}, which an encoder outside of TensorFlow cannot "
            "compute. Export with --to=saved_model."
        )
    return describe_column(key, specs)


def _describe_buckets(column: Any) -> dict[str, Any]:
    if column.source_column.normalizer_fn is not None:
        raise UnsupportedModelError(
            f"A cross uses the buckets of '{column.source_column.key}', whose normalizer_fn is "
            "Python code that an encoder cannot run. Move the normalizer_fn to the input_fn, or "
            "export with --to=saved_model."
        )
    boundaries = [float(boundary) for boundary in column.boundaries]
    return {"kind": "buckets", "feature": column.source_column.key, "boundaries": boundaries}


def _read_vocabulary(column: Any) -> list[Any]:
    is_text = column.dtype == tf.string
    if hasattr(column, "vocabulary_list"):
        words = column.vocabulary_list
    else:
        with tf.io.gfile.GFile(column.vocabulary_file, "rb") as file:
            lines = file.read().split(b"\n")
        words = [line.removesuffix(b"\r") for line in lines[:-1] + [w for w in lines[-1:] if w]]
        words = words[: column.vocabulary_size]
    if is_text:
        return [
            word.decode("utf-8", "surrogateescape") if isinstance(word, bytes) else str(word)
            for word in words
        ]
    return [int(word) for word in words]
