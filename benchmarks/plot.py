"""The plot of training speed: estimator_train and its peers beside tf.estimator."""

import io
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmarks.benchmark import ORIGINAL, OURS
from benchmarks.rows import BENCHMARKS

_GROUPS = {
    BENCHMARKS["keras_linear"].title: "linear 784→10,\nbatch 32",
    BENCHMARKS["keras_mlp"].title: "MLP 784-64-10,\nbatch 32",
    BENCHMARKS["keras_convnet"].title: "ConvNet,\nbatch 128",
}
_WIDTH = 0.2


def times_the_original(
    some_rows: Sequence[Mapping[str, Any]],
) -> dict[str, dict[str, float]]:
    """How many times as fast as tf.estimator everyone trains the Keras models.

    Args:
      some_rows: The rows of a run, as in its JSON file.

    Returns:
      Model to peer to the median of the ratios of the rounds; without the models that were not
      measured beside tf.estimator.
    """
    figures: dict[str, dict[str, Sequence[float]]] = {}
    for row in some_rows:
        if row["benchmark"] in _GROUPS:
            figures.setdefault(_GROUPS[row["benchmark"]], {})[row["peer"]] = row["figures"]
    return {
        model: {
            peer: median(a / b for a, b in zip(seen, peers[ORIGINAL], strict=True))
            for peer, seen in peers.items()
        }
        for model, peers in figures.items()
        if ORIGINAL in peers
    }


def draw(some_rows: Sequence[Mapping[str, Any]]) -> bytes | None:
    """Draws the speeds as bars.

    Args:
      some_rows: The rows of a run, as in its JSON file.

    Returns:
      A PNG file, or None where the run has not measured them.
    """
    ratios = times_the_original(some_rows)
    if not ratios:
        return None
    figure = Figure(figsize=(8.0, 4.0), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    peers = sorted({peer for seen in ratios.values() for peer in seen}, key=_ours_first)
    for number, peer in enumerate(peers):
        places = [model + (number - (len(peers) - 1) / 2) * _WIDTH for model in range(len(ratios))]
        heights = [seen.get(peer, 0.0) for seen in ratios.values()]
        bars = axes.bar(places, heights, _WIDTH * 0.9, label=_label(peer))
        axes.bar_label(bars, fmt="%.2f", fontsize=8)
    axes.set_xticks(range(len(ratios)), list(ratios))
    axes.set_ylabel("training steps a second,\ntf.estimator 2.15 = 1")
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    axes.legend()
    file = io.BytesIO()
    figure.savefig(file, dpi=120)
    return file.getvalue()


def _ours_first(peer: str) -> tuple[bool, bool, str]:
    return peer != OURS, peer != ORIGINAL, peer


def _label(peer: str) -> str:
    return "tf.estimator 2.15" if peer == ORIGINAL else peer
