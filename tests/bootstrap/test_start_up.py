"""The start of a process: garbage collection, log lines, seeds of tf_keras on Python 3.12."""

import gc
import importlib
import io
import logging
import os
import random
import sys

import pytest
from absl import logging as absl_logging
from processes import run_process

from estimator_train.bootstrap import start_up
from estimator_train.bootstrap.start_up import drop_second_lines, hide_loading_lines

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
KNOWN = [
    "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR",
    "I0000 00:00:17.04    15 port.cc:153] oneDNN custom operations are on.",
    "2026-01-01 10:00:00.1: I tensorflow/core/util/port.cc:113] oneDNN custom operations are on.",
    "I0000 00:00:17.04    15 cudart_stub.cc:31] Could not find cuda drivers on your machine",
    "I0000 00:00:17.04    15 cpu_feature_guard.cc:227] This TensorFlow binary is optimized",
    "To enable the following instructions: AVX2 FMA, in other operations, rebuild TensorFlow",
]
OTHERS = [
    "E0000 00:00:17.04    15 cuda_platform.cc:52] failed call to cuInit",
    "a line of a library",
]
# Calls `randint` like tf_keras 2.16; since Python 3.12 a float raises TypeError.
DRAWS = """
import random

generator = None


def set_random_seed(seed):
    global generator
    random.seed(seed)
    generator = random.Random(seed)


def draws():
    return generator.randint(1, 1e9), random.randint(1, 1e9)
"""


@pytest.mark.long
def test_the_first_full_collection_leaves_out_the_objects_of_the_imports():
    done = run_process([sys.executable, "-c", PROGRAM])
    assert done.stdout.splitlines() == [
        "frozen: True",
        "collected: [False, True] frozen: 0",
        "collected: [True, True] frozen: 0",
    ], done.stderr


def test_objects_that_the_program_freezes_later_stay_frozen(monkeypatch):
    monkeypatch.setattr(gc, "callbacks", [])
    start_up.speed_up_full_collection()
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
        start_up.speed_up_full_collection()
        assert gc.get_freeze_count() == frozen
    finally:
        gc.unfreeze()


@pytest.mark.long
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
        with start_up.pause_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
    with start_up.pause_collection():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_known_lines_are_hidden_and_others_keep_their_order(capfd):
    with hide_loading_lines():
        os.write(2, "\n".join([OTHERS[0], *KNOWN, OTHERS[1], ""]).encode())
    # A thread of an earlier test may write, too.
    shown = capfd.readouterr().err.splitlines()
    assert [line for line in shown if line in (*KNOWN, *OTHERS)] == OTHERS


def test_lines_before_an_error_are_shown(capfd):
    def fail():
        os.write(2, b"no such library\n")
        raise ImportError

    with pytest.raises(ImportError), hide_loading_lines():
        fail()
    assert "no such library" in capfd.readouterr().err.splitlines()


@pytest.fixture
def tensorflows():
    """A handler with TensorFlow's format on its logger, and no handlers of the root logger."""
    logger, root = logging.getLogger("tensorflow"), logging.getLogger()
    before = list(logger.handlers), list(root.handlers), logger.level
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
    logger.handlers, root.handlers = [handler], []
    logger.setLevel("INFO")
    drop_second_lines()
    drop_second_lines()
    yield handler
    (logger.handlers, root.handlers), level = before[:2], before[2]
    logger.setLevel(level)


def log_with(*roots):
    """Logs a line while the root logger has handlers."""
    logging.getLogger().handlers = list(roots)
    logging.getLogger("tensorflow").info("text")


def test_a_line_comes_once_whichever_handlers_there_are(tensorflows, monkeypatch):
    assert len(tensorflows.filters) == 1
    stream = tensorflows.stream
    monkeypatch.setattr(sys, "stderr", stream)  # Where absl logs until flags are parsed.
    log_with()
    log_with(logging.StreamHandler(stream))
    log_with(absl_logging.ABSLHandler(absl_logging.PythonFormatter()))
    lines = [line for line in stream.getvalue().splitlines() if line.endswith("text")]
    assert lines[:2] == ["INFO:tensorflow:text", "text"]
    assert len(lines) == 3
    assert lines[2].startswith("I")
    assert lines[2].endswith("] text")


def test_a_line_that_the_root_logger_does_not_write_there_is_kept(tensorflows):
    errors_only = logging.StreamHandler(tensorflows.stream)
    errors_only.setLevel("ERROR")
    log_with(logging.StreamHandler(io.StringIO()), errors_only)
    logging.getLogger("tensorflow").propagate = False
    log_with(logging.StreamHandler(tensorflows.stream))
    logging.getLogger("tensorflow").propagate = True
    assert tensorflows.stream.getvalue() == "INFO:tensorflow:text\n" * 2


def test_a_line_that_the_root_logger_writes_to_the_same_file_comes_once(tensorflows, tmp_path):
    """Hydra logs to standard output, which a job often joins with standard error."""
    with open(tmp_path / "log", "a") as output, open(tmp_path / "log", "a") as errors:
        tensorflows.stream = errors
        log_with(logging.StreamHandler(output))
        with open(tmp_path / "other", "a") as other:
            log_with(logging.StreamHandler(other))
    assert (tmp_path / "log").read_text() == "text\nINFO:tensorflow:text\n"
    assert (tmp_path / "other").read_text() == "text\n"


@pytest.fixture
def name(tmp_path, monkeypatch):
    (tmp_path / "draws_seeds.py").write_text(DRAWS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "version_info", (3, 12, 0))
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    yield "draws_seeds"
    del sys.modules["draws_seeds"]


@pytest.mark.parametrize("is_imported_first", [False, True])
def test_float_seeds_give_the_numbers_of_integer_seeds(name, is_imported_first):
    state = random.getstate()
    finders = len(sys.meta_path)
    if is_imported_first:
        importlib.import_module(name)
    start_up.repair_keras_seeds(name)
    module = importlib.import_module(name)
    module.set_random_seed(7)
    expected = random.Random(7).randint(1, 10**9)
    assert module.draws() == (expected, expected)
    assert type(module.draws()[0]) is int
    assert module.random.Random is not random.Random
    assert len(sys.meta_path) == finders
    random.setstate(state)
