"""Plots the training speed of estimator_train and its peers, relative to tf.estimator."""

import io
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from matplotlib.figure import Figure

from benchmarks.benchmark import ORIGINAL, OURS
from benchmarks.rows import BENCHMARKS

_GROUPS = {
    BENCHMARKS["keras_linear"].title: "linear 784→10,\nbatch 32",
    BENCHMARKS["keras_mlp"].title: "MLP 784-64-10,\nbatch 32",
    BENCHMARKS["keras_convnet"].title: "ConvNet,\nbatch 128",
}
_GROUP_WIDTH = 0.85


def compute_speedups(
    some_rows: Sequence[Mapping[str, Any]],
) -> dict[str, dict[str, list[float]]]:
    """Computes the speed of training the Keras models relative to tf.estimator.

    Args:
      some_rows: The rows in the JSON file of a run.

    Returns:
      The ratios of the rounds, by model and peer, for models that tf.estimator trained too.
    """
    figures: dict[str, dict[str, Sequence[float]]] = {}
    for row in some_rows:
        if row["benchmark"] in _GROUPS:
            figures.setdefault(_GROUPS[row["benchmark"]], {})[row["peer"]] = row["figures"]
    return {
        model: {
            peer: [a / b for a, b in zip(speeds, peers[ORIGINAL], strict=True)]
            for peer, speeds in peers.items()
        }
        for model, peers in figures.items()
        if ORIGINAL in peers
    }


def draw(some_rows: Sequence[Mapping[str, Any]]) -> bytes | None:
    """Plots the speeds as bars of the medians, with lines from the minimum to the maximum.

    Args:
      some_rows: The rows in the JSON file of a run.

    Returns:
      A PNG file, or None if the run did not measure the speeds.
    """
    ratios = compute_speedups(some_rows)
    if not ratios:
        return None
    figure = Figure(figsize=(8.0, 4.0), layout="constrained")
    axes = figure.add_subplot()
    peers = sorted({peer for by_peer in ratios.values() for peer in by_peer}, key=_sort_key)
    width = _GROUP_WIDTH / len(peers)
    for number, peer in enumerate(peers):
        offset = (number - (len(peers) - 1) / 2) * width
        measured = [
            (x + offset, by_peer[peer])
            for x, by_peer in enumerate(ratios.values())
            if peer in by_peer
        ]
        positions, rounds = zip(*measured, strict=True)
        heights = [median(found) for found in rounds]
        below = [height - min(found) for height, found in zip(heights, rounds, strict=True)]
        above = [max(found) - height for height, found in zip(heights, rounds, strict=True)]
        bars = axes.bar(
            positions, heights, width * 0.9, label=_label(peer), yerr=(below, above), ecolor="0.3"
        )
        axes.bar_label(bars, fmt="%.2f", fontsize=7)
    axes.set_xticks(range(len(ratios)), list(ratios))
    axes.set_ylabel("training steps per second,\ntf.estimator 2.15 = 1")
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper center", ncols=2, fontsize=8)
    file = io.BytesIO()
    figure.savefig(file, dpi=120)
    return file.getvalue()


def _sort_key(peer: str) -> tuple[bool, bool, str]:
    """Sorts our figures first, then those of tf.estimator, then the others by name."""
    return peer != OURS, peer != ORIGINAL, peer


def _label(peer: str) -> str:
    return "tf.estimator 2.15" if peer == ORIGINAL else peer
