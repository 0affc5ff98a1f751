"""What heads make of right and wrong shapes, which the graph knows in full, in part or not at all.

An answer is the loss, or the kind of error and what its assertion says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
Shape = tuple[int, ...]
# Which of a tensor's sizes the graph knows.
KNOWN: dict[str, Callable[[Shape], Any]] = {
    "all": lambda shape: shape,
    "rank": lambda shape: [None] * len(shape),
    "nothing": lambda shape: None,
}


def questions(heads: Any) -> dict[str, Callable[[], float]]:
    """Returns all questions by name.

    Args:
        heads: The module with the heads' classes.
    """
    kinds: dict[str, tuple[Callable[..., Any], int, int]] = {
        "binary": (heads.BinaryClassHead, 1, 1),
        "multi-class": (lambda **more: heads.MultiClassHead(3, **more), 3, 1),
        "multi-label": (lambda **more: heads.MultiLabelHead(3, **more), 3, 3),
        "regression of two": (lambda **more: heads.RegressionHead(2, **more), 2, 2),
    }
    calls: dict[str, Callable[[], float]] = {}
    for kind, (make, logits, labels) in kinds.items():
        for name, shapes in _shapes(logits, labels):
            full = kind in ("binary", "regression of two")
            for known in _KNOWN_OF[len(shapes)][0 if full else -1 :]:
                calls[f"{kind}: {name}, known: {', '.join(known)}"] = _call(make, shapes, known)
        for shape in ((2, 1), (2,), (1, 1), (2, 2), (2, 3), (2, 1, 1)):
            for known in ("all", "nothing"):
                calls[f"{kind}: losses {shape}, known: {known}"] = _with_loss_fn(
                    make, {"labels": (2, labels), "logits": (2, logits)}, shape, known
                )
    return calls


_KNOWN_OF = {
    2: [
        ("all", "all"),
        ("rank", "rank"),
        ("rank", "nothing"),
        ("nothing", "rank"),
        ("nothing", "nothing"),
    ],
    3: [("all", "all", "all"), ("rank", "rank", "rank"), ("nothing", "nothing", "nothing")],
}


def _shapes(logits: int, labels: int) -> Iterator[tuple[str, dict[str, Shape]]]:
    """Yields names of cases, and the shapes of labels, logits and maybe weights."""
    for given, outputs in (
        ((2, labels), (2, logits)),
        ((2,), (2, logits)),
        ((), (2, logits)),
        ((1, labels), (2, logits)),
        ((2, 1, labels), (2, logits)),
        ((2, labels + 1), (2, logits)),
        ((2, labels), (logits,)),
        ((2, labels), (2, logits + 1)),
        ((2, labels), (2, 2, logits)),
        ((2, 2), (2, 2, logits)),
        ((2, 1, labels), (2, 2, logits)),
        ((2, 2, labels), (2, 2, logits)),
    ):
        yield f"labels {given}, logits {outputs}", {"labels": given, "logits": outputs}
    for weights in ((2,), (2, 1), (2, labels), (1,), (1, 1), (), (2, 5), (2, 1, 1)):
        shapes = {"labels": (2, labels), "logits": (2, logits), "weights": weights}
        yield f"logits {shapes['logits']}, weights {weights}", shapes
    for weights in ((2,), (2, 1), (2, 2, 1)):
        shapes = {"labels": (2, 2, labels), "logits": (2, 2, logits), "weights": weights}
        yield f"logits {shapes['logits']}, weights {weights}", shapes


def _call(
    make: Callable[..., Any], shapes: dict[str, Shape], known: tuple[str, ...]
) -> Callable[[], float]:
    def call() -> float:
        feeds = {}
        tensors = {}
        for (name, shape), what in zip(shapes.items(), known, strict=True):
            array = _values(name, shape)
            tensors[name] = v1.placeholder(tf.float32, KNOWN[what](shape), name=name)
            feeds[tensors[name]] = array
        head = make(weight_column="w") if "weights" in shapes else make()
        return _loss(head, tensors, feeds)

    return call


def _with_loss_fn(
    make: Callable[..., Any], shapes: dict[str, Shape], shape: Shape, known: str
) -> Callable[[], float]:
    """Returns a loss_fn that returns losses of a shape."""

    def loss_fn(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        del labels, logits
        losses = tf.constant(_values("losses", shape))
        return v1.placeholder_with_default(losses, KNOWN[known](shape))

    def call() -> float:
        arrays = {name: _values(name, of) for name, of in shapes.items()}
        tensors = {
            name: v1.placeholder(tf.float32, KNOWN[known](shapes[name]), name=name)
            for name in arrays
        }
        feeds = {tensors[name]: arrays[name] for name in arrays}
        return _loss(make(loss_fn=loss_fn), tensors, feeds)

    return call


def _loss(head: Any, tensors: dict[str, tf.Tensor], feeds: dict[tf.Tensor, Any]) -> float:
    labels = tensors["labels"]
    if "MultiClass" in type(head).__name__ or "MultiLabel" in type(head).__name__:
        labels = tf.cast(labels, tf.int64)
    features = {"w": tensors["weights"]} if "weights" in tensors else {}
    loss = head.loss(labels, tensors["logits"], features=features)
    with v1.Session() as session:
        return float(session.run(loss, feeds))


def _values(name: str, shape: Shape) -> np.ndarray:
    numbers = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    return numbers % 2 if name == "labels" else 0.25 * numbers + 0.5


def answer(call: Callable[[], float]) -> float | list[str]:
    """Calls in a new graph: the loss, or the error's class and what its assertion says, if any."""
    with tf.Graph().as_default():
        try:
            return call()
        except Exception as error:  # noqa: BLE001  whatever comes is the answer
            said = re.search(r"assertion failed: (.*)", str(error))
            return [type(error).__name__, said[1] if said else ""]
