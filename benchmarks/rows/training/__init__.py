"""Training steps a second."""

from benchmarks.rows.training import callbacks, census, convnet, linear, mirrored, mlp

BENCHMARKS = (
    linear.BENCHMARK,
    mlp.BENCHMARK,
    convnet.BENCHMARK,
    census.BENCHMARK,
    mirrored.BENCHMARK,
    *callbacks.BENCHMARKS,
)
