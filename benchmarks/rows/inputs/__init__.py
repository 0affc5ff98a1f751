"""Examples a second of `input_fns`."""

from benchmarks.rows.inputs import arrays, csv, pictures, tfrecords

BENCHMARKS = (
    *pictures.BENCHMARKS,
    *arrays.BENCHMARKS,
    tfrecords.BENCHMARK,
    csv.BENCHMARK,
)
