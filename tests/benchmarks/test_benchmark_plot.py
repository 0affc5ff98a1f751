"""The plot of training speed."""

import io

import matplotlib.image
import pytest

from benchmarks import plot, table
from benchmarks.benchmark import ORIGINAL, OURS
from benchmarks.rows import BENCHMARKS

ROWS = [
    *table.rows(BENCHMARKS["keras_mlp"], {OURS: [20.0, 60.0, 30.0], ORIGINAL: [10.0, 10.0, 10.0]}),
    *table.rows(BENCHMARKS["keras_linear"], {OURS: [20.0]}),
    *table.rows(BENCHMARKS["keras_start"], {OURS: [20.0], ORIGINAL: [10.0]}),
]


def test_speeds_are_medians_of_the_rounds_ratios_to_the_original() -> None:
    (ratios,) = plot.times_the_original(ROWS).values()
    assert ratios == {OURS: 3.0, ORIGINAL: 1.0}


def test_a_run_is_drawn_only_where_it_has_speeds_beside_the_original() -> None:
    assert plot.draw(ROWS[2:]) is None
    picture = plot.draw(ROWS)
    assert picture is not None
    pixels = matplotlib.image.imread(io.BytesIO(picture), format="png")
    assert pixels.shape[:2] == (480, 960)
    # Bars, a white ground and black letters.
    assert pixels[..., :3].min() == pytest.approx(0.0, abs=0.01)
    assert pixels[..., :3].max() == 1.0
