"""The plot of training speed."""

import io

import matplotlib.image
import pytest

from benchmarks import plot, table
from benchmarks.benchmark import ORIGINAL, OURS
from benchmarks.rows import BENCHMARKS

ROWS = [
    *table.make_rows(
        BENCHMARKS["keras_mlp"], {OURS: [20.0, 60.0, 30.0], ORIGINAL: [10.0, 10.0, 10.0]}
    ),
    *table.make_rows(BENCHMARKS["keras_linear"], {OURS: [20.0]}),
    *table.make_rows(BENCHMARKS["keras_start"], {OURS: [20.0], ORIGINAL: [10.0]}),
]


def test_speedups_are_the_ratios_of_rounds() -> None:
    (ratios,) = plot.compute_speedups(ROWS).values()
    assert ratios == {OURS: [2.0, 6.0, 3.0], ORIGINAL: [1.0, 1.0, 1.0]}


def test_a_run_is_plotted_only_if_it_measured_tf_estimator() -> None:
    assert plot.draw(ROWS[2:]) is None
    picture = plot.draw(ROWS)
    assert picture is not None
    pixels = matplotlib.image.imread(io.BytesIO(picture), format="png")
    assert pixels.shape[:2] == (480, 960)
    # Bars, a white ground and black letters.
    assert pixels[..., :3].min() == pytest.approx(0.0, abs=0.01)
    assert pixels[..., :3].max() == 1.0
