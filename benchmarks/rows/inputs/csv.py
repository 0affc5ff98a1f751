"""A CSV file with 20 columns, compared with TensorFlow's reader."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.input_speed import make_input_benchmark

_ROWS, _COLUMNS = 30_000, 20


def _write(folder: Path) -> None:
    values = np.random.default_rng(0).normal(size=[_ROWS, _COLUMNS])
    lines = [",".join(f"c{number}" for number in range(_COLUMNS))]
    lines += [",".join(f"{value:.5f}" for value in row) for row in values]
    (folder / "table.csv").write_text("\n".join(lines) + "\n")


def _ours(folder: Path) -> Any:
    import input_fns

    return input_fns.csv(f"{folder}/*", "c19", batch_size=128, shuffle=True)


def _theirs(folder: Path) -> Any:
    import tensorflow as tf

    return tf.data.experimental.make_csv_dataset(f"{folder}/*", 128, label_name="c19")


BENCHMARK = make_input_benchmark(
    "input_csv",
    "input: CSV of 20 columns, shuffled, batch 128",
    "make_csv_dataset",
    128,
    _write,
    _ours,
    _theirs,
    goal=12.0,
)
