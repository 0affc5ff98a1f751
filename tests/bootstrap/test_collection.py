"""When Python collects garbage among the objects of TensorFlow."""

import gc
import subprocess
import sys

from estimator_train.bootstrap import collection

PROGRAM = """
import gc, weakref
import tensorflow as tf
from estimator_train import bootstrap

class Node:
    def __init__(self):
        self.itself = self

old = Node()
gc.disable()
kept = [[] for _ in range(500_000)]  # Enough new objects for a full collection.
while gc.get_count()[2] < 10:  # The next collection but one would be full.
    gc.collect(1)
before = gc.get_stats()[2]["collections"]
gc.enable()
bootstrap.prepare_tensorflow()
more = [[] for _ in range(20_000)]
print("full collections:", gc.get_stats()[2]["collections"] - before)
print("frozen objects:", gc.get_freeze_count())
garbage = weakref.ref(old)
del old
gc.collect()
print("collected:", garbage() is None)
"""


def test_the_full_collection_is_postponed_and_all_objects_stay_collectable():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "full collections: 0",
        "frozen objects: 0",
        "collected: True",
    ], done.stderr


def test_objects_that_the_program_froze_stay_frozen():
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        collection.postpone_full_collection()
        assert gc.get_freeze_count() == frozen
    finally:
        gc.unfreeze()
