"""What the first batches of a dataset hold."""

import dataclasses
import math
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.cli.output import results
from estimator_train.cli.output.errors import UsageError

_MOST_CLASSES = 100
_SHOWN_CLASSES = 20
_MOST_PICTURES = 64


@dataclasses.dataclass(frozen=True)
class Contents:
    """The first batches of a dataset.

    Attributes:
      spec: Its element_spec.
      batches: Elements, their tensors as arrays; sparse and ragged ones as they are.
    """

    spec: Any
    batches: list[Any]


def look(dataset: tf.data.Dataset, count: int) -> Contents:
    """Reads the first batches.

    Args:
      dataset: Made eagerly.
      count: How many, at most.

    Raises:
      UsageError: There are no pictures.
    """
    batches = [tf.nest.map_structure(_array, element) for element in dataset.take(count)]
    if not batches:
        raise UsageError("the input_fn delivers nothing: its dataset is empty.")
    return Contents(dataset.element_spec, batches)


def _array(tensor: Any) -> Any:
    return tensor.numpy() if isinstance(tensor, tf.Tensor) else tensor


def report(contents: Contents) -> str:
    """Returns lines about each tensor, and about the classes if labels are classes."""
    rows = {}
    for name, spec, values in _leaves(contents):
        dtype = getattr(spec, "dtype", None)
        shape = "of any shape" if _rank(spec) is None else f"{tuple(spec.shape)}"
        kind = "" if isinstance(spec, tf.TensorSpec) else f" {type(spec).__name__[:-4]}"
        rows[name] = f"{dtype.name if dtype else ''}{kind} {shape}  {_range(values)}".rstrip()
    examples = sum(_size(batch) for batch in contents.batches)
    lines = [f"{len(contents.batches)} batches with {examples} examples:", results.table(rows)]
    return "\n".join([*lines, *_class_lines(contents)])


def _leaves(contents: Contents) -> list[tuple[str, Any, list[Any]]]:
    """Returns (name, spec, values by batch) of each tensor."""
    spec, batches = contents.spec, contents.batches
    if not (isinstance(spec, tuple) and len(spec) == 2):
        return _flat("features", spec, batches)
    features = _flat("features", spec[0], [batch[0] for batch in batches])
    return features + _flat("labels", spec[1], [batch[1] for batch in batches])


def _flat(path: str, spec: Any, batches: list[Any]) -> list[tuple[str, Any, list[Any]]]:
    if isinstance(spec, dict):
        keys = [(f"{path}[{key}]", key) for key in spec]
    elif isinstance(spec, tuple):
        keys = [(f"{path}[{place}]", place) for place in range(len(spec))]
    else:
        return [(path, spec, batches)]
    return [
        leaf for name, key in keys for leaf in _flat(name, spec[key], [b[key] for b in batches])
    ]


def _rank(spec: Any) -> int | None:
    return getattr(getattr(spec, "shape", None), "rank", None)


def _size(batch: Any) -> int:
    shape = tf.nest.flatten(batch)[0].shape
    return int(shape[0]) if len(shape) else 1


def _range(values: list[Any]) -> str:
    arrays = [v for v in values if isinstance(v, np.ndarray) and v.size]
    if not arrays:
        return ""
    if arrays[0].dtype.kind == "O":
        return f"such as {arrays[0].flat[0]!r}"
    low, high = min(a.min() for a in arrays), max(a.max() for a in arrays)
    if arrays[0].dtype.kind == "f":
        mean = sum(float(a.sum()) for a in arrays) / sum(a.size for a in arrays)
        bad = sum(int((~np.isfinite(a)).sum()) for a in arrays)
        note = f", {bad} not finite" if bad else ""
        return f"{low:.4g} to {high:.4g}, mean {mean:.4g}{note}"
    return f"{low} to {high}"


def _class_lines(contents: Contents) -> list[str]:
    labels = [leaf for leaf in _leaves(contents) if leaf[0] == "labels"]
    if not labels or not all(isinstance(v, np.ndarray) for v in labels[0][2]):
        return []
    classes = _classes(labels[0][2])
    if classes is None:
        return []
    numbers, counts = np.unique(classes, return_counts=True)
    if len(numbers) > _MOST_CLASSES:
        return []
    rows = {
        str(number): f"{count}  {count / len(classes):.1%}"
        for number, count in zip(numbers[:_SHOWN_CLASSES], counts[:_SHOWN_CLASSES], strict=True)
    }
    more = len(numbers) - _SHOWN_CLASSES
    lines = ["", f"examples of each of {len(numbers)} classes:", results.table(rows)]
    if more > 0:
        lines.append(f"and {more} more")
    if counts.max() >= 10 * counts.min():
        lines.append(
            "The classes are far from balanced: weigh the loss, or draw rare ones oftener."
        )
    return lines


def _classes(labels: list[np.ndarray]) -> np.ndarray | None:
    """The class of each example, if labels are class numbers, names, or one-hot."""
    whole = np.concatenate([np.atleast_1d(v) for v in labels])
    if whole.ndim == 2 and whole.shape[1] > 1 and np.all((whole == 0) | (whole == 1)):
        return whole.argmax(1) if np.all(whole.sum(1) == 1) else None
    flat = whole.reshape(-1) if whole.ndim <= 2 and whole.size == len(whole) else None
    return flat if flat is not None and flat.dtype.kind in "iubO" else None


def write_contact_sheet(contents: Contents, path: str) -> int:
    """Writes the first pictures to a PNG file, in a square.

    Args:
      contents: The first batches.
      path: The file.

    Returns:
      How many pictures it holds.

    Raises:
      UsageError: There are no pictures among the features.
    """
    for name, spec, values in _leaves(contents):
        is_features = name.startswith("features")
        if is_features and _rank(spec) == 4 and spec.shape[-1] in (1, 3, 4):
            pictures = np.concatenate(values)[:_MOST_PICTURES].astype(np.float64)
            break
    else:
        raise UsageError(
            "--contact_sheet: no feature is of shape (batch, height, width, 1, 3 or 4 channels)."
        )
    low, high = min(0.0, pictures.min()), pictures.max()
    scale = 255.0 if spec.dtype == tf.uint8 else max(high - low, 1e-12)
    shades = np.clip((pictures - low) / scale * 255, 0, 255).astype(np.uint8)
    columns = math.ceil(math.sqrt(len(shades)))
    rows = math.ceil(len(shades) / columns)
    # A line of white between pictures.
    height, width, channels = shades.shape[1] + 1, shades.shape[2] + 1, shades.shape[3]
    sheet = np.full([rows * height, columns * width, channels], 255, np.uint8)
    for number, picture in enumerate(shades):
        top, left = number // columns * height, number % columns * width
        sheet[top : top + height - 1, left : left + width - 1] = picture
    with tf.io.gfile.GFile(path, "wb") as file:
        file.write(tf.io.encode_png(sheet).numpy())
    return len(shades)
