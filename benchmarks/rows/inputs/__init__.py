"""Benchmarks of `input_fns`, in examples per second."""

from benchmarks.rows.inputs import arrays, csv, pictures, tfrecords

BENCHMARKS = (
    *pictures.BENCHMARKS,
    *arrays.BENCHMARKS,
    tfrecords.BENCHMARK,
    csv.BENCHMARK,
)
