"""When Python collects garbage among the objects of TensorFlow."""

import gc
import sys

from processes import run_process

from estimator_train.bootstrap import collection

PROGRAM = """
import gc, weakref
import tensorflow as tf
from estimator_train import bootstrap

class Node:
    def __init__(self):
        self.itself = self

gc.disable()
old = Node()
before = len(gc.get_objects())
bootstrap.prepare_tensorflow()
print("frozen:", gc.get_freeze_count() > 0.9 * before)
new = Node()
garbage = [weakref.ref(old), weakref.ref(new)]
del old, new
for _ in range(2):
    gc.collect()
    print("collected:", [node() is None for node in garbage], "frozen:", gc.get_freeze_count())
"""


def test_the_first_full_collection_leaves_out_the_objects_of_the_imports():
    done = run_process([sys.executable, "-c", PROGRAM])
    assert done.stdout.splitlines() == [
        "frozen: True",
        "collected: [False, True] frozen: 0",
        "collected: [True, True] frozen: 0",
    ], done.stderr


def test_objects_that_the_program_freezes_later_stay_frozen(monkeypatch):
    monkeypatch.setattr(gc, "callbacks", [])
    collection.speed_up_full_collection()
    kept = [[] for _ in range(5_000)]
    gc.freeze()
    frozen = gc.get_freeze_count()
    try:
        for callback in gc.callbacks:
            callback("stop", {"generation": 2})
        assert gc.get_freeze_count() == frozen > len(kept)
    finally:
        gc.unfreeze()


def test_objects_that_the_program_froze_stay_frozen():
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        collection.speed_up_full_collection()
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
    done = run_process(command)
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
