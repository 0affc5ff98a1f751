"""The benchmarks, one file each; a new one is added to the list here."""

from benchmarks.benchmark import Benchmark
from benchmarks.rows import (
    convnet,
    evaluation,
    input_arrays,
    input_csv,
    input_images,
    input_jpeg_cache,
    input_jpeg_colour,
    input_jpeg_full,
    input_jpeg_grey,
    input_tfrecords,
    linear,
    memory,
    mirrored,
    mlp,
    predict_one,
    predict_rows,
    predictor,
    saving,
    start,
)

_ROWS = (
    linear,
    mlp,
    convnet,
    mirrored,
    predict_one,
    predictor,
    predict_rows,
    evaluation,
    saving,
    start,
    memory,
    input_jpeg_grey,
    input_jpeg_colour,
    input_jpeg_full,
    input_jpeg_cache,
    input_images,
    input_arrays,
    input_tfrecords,
    input_csv,
)

BENCHMARKS: dict[str, Benchmark] = {row.BENCHMARK.name: row.BENCHMARK for row in _ROWS}
