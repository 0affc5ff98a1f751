"""Softmax regression: a tiny step, whose time is mostly work of the host."""

import dataclasses

from benchmarks.benchmark import ORIGINAL
from benchmarks.training import LOOP, make_training_benchmark
from benchmarks.training.replicas import LINEAR

BENCHMARK = make_training_benchmark(
    "linear",
    "train: linear 784-10, SGD, batch 32",
    dataclasses.replace(LINEAR, steps=10_000),
    {ORIGINAL: 3.0, LOOP: 0.95},
)
