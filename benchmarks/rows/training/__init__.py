"""Benchmarks of training speed."""

from benchmarks.rows.training import (
    boosted_trees,
    callbacks,
    census,
    convnet,
    linear,
    mirrored,
    mlp,
)

BENCHMARKS = (
    linear.BENCHMARK,
    mlp.BENCHMARK,
    convnet.BENCHMARK,
    census.BENCHMARK,
    mirrored.BENCHMARK,
    boosted_trees.BENCHMARK,
    *callbacks.BENCHMARKS,
)
