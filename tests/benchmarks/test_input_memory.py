import numpy as np
import pytest
import tensorflow as tf

from benchmarks import input_memory

BATCHES = 2000
ALLOWED = 1800  # kB for 1,800 batches.


@pytest.mark.parametrize("source", ["arrays", "tfrecords"])
def test_memory_stays_flat(source):
    # The allocator may take memory once, for a thread that has just begun; a leak grows each time.
    sizes = [input_memory.measure_growth(source, BATCHES) for _ in range(2)]
    assert min(late - early for early, late in sizes) < ALLOWED


def test_a_leak_is_detected(monkeypatch):
    kept = []

    def leak(number):
        kept.append(np.ones(5000))
        return number

    def leaking(_):
        return tf.data.Dataset.range(BATCHES).map(
            lambda number: tf.numpy_function(leak, [number], tf.int64)
        )

    monkeypatch.setitem(input_memory.SOURCES, "leaking", leaking)
    early, late = input_memory.measure_growth("leaking", BATCHES)
    assert late - early > ALLOWED
