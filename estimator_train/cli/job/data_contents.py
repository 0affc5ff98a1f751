"""Describes the first batches of a dataset."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import tensorflow as tf

from estimator_train.cli import results
from estimator_train.cli.errors import UsageError

_MAX_CLASSES = 100
_MAX_SHOWN_CLASSES = 20
_MAX_PICTURES = 64
# Nested dicts and tuples of arrays, tensors or specs.
Structure: TypeAlias = Any
# Name, spec, and the values in each batch of a tensor.
Leaf: TypeAlias = tuple[str, Any, list[Any]]
_MAX_WORDS = 20
_MAX_BUCKETS = 10_000_000


@dataclasses.dataclass(frozen=True)
class Contents:
    """The first batches of a dataset.

    Attributes:
      spec: The element_spec of the dataset.
      batches: Elements with NumPy arrays instead of dense tensors.
    """

    spec: Structure
    batches: list[Structure]


def read_batches(dataset: tf.data.Dataset, count: int) -> Contents:
    """Reads the first batches.

    Args:
      dataset: An eager dataset.
      count: Maximum number of batches.

    Raises:
      UsageError: The dataset is empty.
    """
    batches = [tf.nest.map_structure(_to_array, element) for element in dataset.take(count)]
    if not batches:
        raise UsageError("the dataset of the input_fn is empty.")
    return Contents(dataset.element_spec, batches)


def _to_array(
    tensor: tf.Tensor | tf.SparseTensor | tf.RaggedTensor,
) -> np.ndarray | tf.SparseTensor | tf.RaggedTensor:
    return tensor.numpy() if isinstance(tensor, tf.Tensor) else tensor


def format_contents(contents: Contents) -> str:
    """Returns lines about each tensor, and about the classes if the labels are classes."""
    rows = {}
    for name, spec, values in _list_leaves(contents):
        dtype = getattr(spec, "dtype", None)
        shape = "of any shape" if _get_rank(spec) is None else f"{tuple(spec.shape)}"
        kind = "" if isinstance(spec, tf.TensorSpec) else f" {type(spec).__name__[:-4]}"
        values_text = _describe_values(values)
        rows[name] = f"{dtype.name if dtype else ''}{kind} {shape}  {values_text}".rstrip()
    examples = sum(_count_examples(batch) for batch in contents.batches)
    return "\n".join(
        [
            f"{len(contents.batches)} batches with {examples} examples:",
            results.format_table(rows),
            *_describe_classes(contents),
        ]
    )


def _list_leaves(contents: Contents) -> list[Leaf]:
    spec, batches = contents.spec, contents.batches
    if not (isinstance(spec, tuple) and len(spec) == 2):
        return _flatten("features", spec, batches)
    features = _flatten("features", spec[0], [batch[0] for batch in batches])
    return features + _flatten("labels", spec[1], [batch[1] for batch in batches])


def _flatten(path: str, spec: Structure, batches: list[Structure]) -> list[Leaf]:
    if isinstance(spec, dict):
        keys = [(f"{path}[{key}]", key) for key in spec]
    elif isinstance(spec, tuple):
        keys = [(f"{path}[{index}]", index) for index in range(len(spec))]
    else:
        return [(path, spec, batches)]
    return [
        leaf
        for name, key in keys
        for leaf in _flatten(name, spec[key], [batch[key] for batch in batches])
    ]


def _get_rank(spec: tf.TypeSpec) -> int | None:
    return getattr(getattr(spec, "shape", None), "rank", None)


def _count_examples(batch: Structure) -> int:
    shape = tf.nest.flatten(batch)[0].shape
    return int(shape[0]) if len(shape) else 1


def _describe_values(values: list[Structure]) -> str:
    arrays = [v for v in values if isinstance(v, np.ndarray) and v.size]
    if not arrays:
        return ""
    if arrays[0].dtype.kind == "O":
        return f"such as {arrays[0].flat[0]!r}"
    low, high = min(a.min() for a in arrays), max(a.max() for a in arrays)
    if arrays[0].dtype.kind == "f":
        mean = sum(float(a.sum()) for a in arrays) / sum(a.size for a in arrays)
        num_bad = sum(int((~np.isfinite(a)).sum()) for a in arrays)
        note = f", {num_bad} not finite" if num_bad else ""
        return f"{low:.4g} to {high:.4g}, mean {mean:.4g}{note}"
    return f"{low} to {high}"


def _describe_classes(contents: Contents) -> list[str]:
    labels = [leaf for leaf in _list_leaves(contents) if leaf[0] == "labels"]
    if not labels or not all(isinstance(v, np.ndarray) for v in labels[0][2]):
        return []
    classes = _find_classes(labels[0][2])
    if classes is None:
        return []
    numbers, counts = np.unique(classes, return_counts=True)
    if len(numbers) > _MAX_CLASSES:
        return []
    shown = list(zip(numbers, counts, strict=True))[:_MAX_SHOWN_CLASSES]
    rows = {str(number): f"{count}  {count / len(classes):.1%}" for number, count in shown}
    more = len(numbers) - _MAX_SHOWN_CLASSES
    lines = ["", f"examples of each of {len(numbers)} classes:", results.format_table(rows)]
    if more > 0:
        lines.append(f"and {more} more")
    if counts.max() >= 10 * counts.min():
        lines.append(
            "The classes are unbalanced: use weights in the loss, or sample rare classes more "
            "often."
        )
    return lines


def _find_classes(labels: list[np.ndarray]) -> np.ndarray | None:
    """Returns the class of each example if labels are class numbers, names or one-hot vectors."""
    all_labels = np.concatenate([np.atleast_1d(v) for v in labels])
    is_matrix = all_labels.ndim == 2 and all_labels.shape[1] > 1
    if is_matrix and np.all((all_labels == 0) | (all_labels == 1)):
        return all_labels.argmax(1) if np.all(all_labels.sum(1) == 1) else None
    if all_labels.ndim > 2 or all_labels.size != len(all_labels):
        return None
    return all_labels.reshape(-1) if all_labels.dtype.kind in "iubO" else None


def write_contact_sheet(contents: Contents, path: str) -> int:
    """Writes the first pictures to a PNG file, arranged in a square.

    Args:
      contents: The first batches.
      path: The file.

    Returns:
      The number of pictures in the file.

    Raises:
      UsageError: There are no pictures among the features.
    """
    for name, spec, values in _list_leaves(contents):
        is_features = name.startswith("features")
        if is_features and _get_rank(spec) == 4 and spec.shape[-1] in (1, 3, 4):
            pictures = np.concatenate(values)[:_MAX_PICTURES].astype(np.float64)
            break
    else:
        raise UsageError(
            "--contact_sheet: no feature has shape (batch, height, width, channels) with 1, 3 or "
            "4 channels."
        )
    low, high = min(0.0, pictures.min()), pictures.max()
    scale = 255.0 if spec.dtype == tf.uint8 else max(high - low, 1e-12)
    shades = np.clip((pictures - low) / scale * 255, 0, 255).astype(np.uint8)
    columns = math.ceil(math.sqrt(len(shades)))
    rows = math.ceil(len(shades) / columns)
    # One white pixel separates the pictures.
    height, width, channels = shades.shape[1] + 1, shades.shape[2] + 1, shades.shape[3]
    sheet = np.full([rows * height, columns * width, channels], 255, np.uint8)
    for number, picture in enumerate(shades):
        top, left = number // columns * height, number % columns * width
        sheet[top : top + height - 1, left : left + width - 1] = picture
    with tf.io.gfile.GFile(path, "wb") as file:
        file.write(tf.io.encode_png(sheet).numpy())
    return len(shades)


def propose_columns(contents: Contents) -> str:
    """Returns Python code with a feature column for each feature, by the values in the batches.

    Args:
      contents: The first batches of a table.
    """
    has_labels = isinstance(contents.spec, tuple)
    features = [batch[0] if has_labels else batch for batch in contents.batches]
    if not isinstance(features[0], Mapping):
        return ""
    lines = [f"    {_propose(name, [batch[name] for batch in features])}" for name in features[0]]
    head = "feature columns by these values, to copy (num_buckets must be above all values):"
    return "\n".join(["", head, "fc = tf.feature_column", "columns = [", *lines, "]"])


def _propose(name: str, batches: list[Any]) -> str:
    if not isinstance(batches[0], np.ndarray):
        kind = "ragged" if isinstance(batches[0], tf.RaggedTensor) else "sparse"
        return f"# {name!r} is {kind}: use its to_sparse() or padding"
    values = np.concatenate(batches)
    if values.dtype.kind == "O":
        return f"fc.{_propose_words(name, values)},"
    if values.ndim > 1:
        return f"fc.numeric_column({name!r}, shape={values.shape[1:]}),"
    if values.dtype.kind == "b":
        return f"# {name!r} has bools: cast it to an integer"
    distinct = len(np.unique(values))
    is_id = values.dtype.kind in "iu" and values.min() >= 0 and values.max() < _MAX_BUCKETS
    if is_id and distinct <= max(2, len(values) / 2):
        return f"fc.categorical_column_with_identity({name!r}, {int(values.max()) + 1}),"
    return f"fc.numeric_column({name!r}),"


def _propose_words(name: str, values: np.ndarray) -> str:
    words = sorted({word.decode(errors="replace") for word in values.flat})
    if len(words) <= _MAX_WORDS:
        return f"categorical_column_with_vocabulary_list({name!r}, {words})"
    # Ten times as many buckets as words: few words share a bucket.
    buckets = 10 ** math.ceil(math.log10(10 * len(words)))
    return f"categorical_column_with_hash_bucket({name!r}, {buckets})"
