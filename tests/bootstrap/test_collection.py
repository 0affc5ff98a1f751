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


def test_a_program_that_run_starts_imports_tensorflow_without_collections(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import gc\n"
        "before = [one['collections'] for one in gc.get_stats()]\n"
        "import tensorflow as tf\n"
        "after = [one['collections'] for one in gc.get_stats()]\n"
        "print(after[2] - before[2], after[1] - before[1] < 10, gc.isenabled())\n"
    )
    command = [sys.executable, "-m", "estimator_train", "run", str(script)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "0 True True\n", done.stderr


def test_a_pause_keeps_collections_off_if_the_program_has_turned_them_off():
    gc.disable()
    try:
        with collection.pause_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
    with collection.pause_collection():
        assert not gc.isenabled()
    assert gc.isenabled()
