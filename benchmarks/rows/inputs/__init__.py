"""Benchmarks of `input_fns`, in examples per second."""

from benchmarks.rows.inputs import arrays, csv, object_store, parquet, pictures, tfrecords

BENCHMARKS = (
    *pictures.BENCHMARKS,
    *arrays.BENCHMARKS,
    tfrecords.BENCHMARK,
    csv.BENCHMARK,
    parquet.BENCHMARK,
    *object_store.BENCHMARKS,
)
