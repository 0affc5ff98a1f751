"""Locks and threads under load, and ends of a process with open writers."""

import sys
from pathlib import Path

import pytest
import tensorflow as tf
from processes import run_process

PROGRAM = Path(__file__).with_name("busy_process.py")


@pytest.mark.long
def test_many_threads_neither_hang_nor_fail():
    command = [sys.executable, "-X", "faulthandler", PROGRAM, "memory://stress", 20, "return"]
    assert run_process(command, timeout=500).stdout == "ready\n"


@pytest.mark.long
def test_exceptions_of_signal_handlers_neither_are_lost_nor_break_a_call():
    program = PROGRAM.with_name("signalled_process.py")
    command = [sys.executable, "-X", "faulthandler", program, "memory://signals", 100]
    assert run_process(command, timeout=500).stdout == "ready\n"


# Registers a second scheme after another process has compiled another source.
ANOTHER_LIBRARY = """
import hashlib
import tensorflow as tf
from estimator_train import remote
from estimator_train.remote import registration

remote.register("memory")
registration._LIBRARY = "_no_such_library"
registration._CONTENT += b"// edited"
registration._DIGEST = hashlib.sha256(registration._CONTENT).hexdigest()[:16]
registration.find_or_compile_library.cache_clear()
remote.register("local")
print(tf.io.gfile.exists("memory://none"), tf.io.gfile.exists("local:///"))
"""


@pytest.mark.long
def test_a_process_keeps_the_library_that_it_loaded(tmp_path):
    command = [sys.executable, "-X", "faulthandler", "-c", ANOTHER_LIBRARY]
    assert run_process(command, XDG_CACHE_HOME=str(tmp_path)).stdout == "False True\n"


@pytest.mark.long
@pytest.mark.parametrize(
    ("way", "code"), [("return", 0), ("exception", 1), ("SystemExit", 7), ("fork", 0)]
)
def test_open_event_files_are_complete_after_the_end(store, bucket, tmp_path, way, code):
    command = [sys.executable, PROGRAM, f"s3://{bucket}/run", 1, way]
    run_process(command, exit_code=code, timeout=500)
    (key,) = store.list_keys(bucket, "run/events/")
    local = tmp_path / "events"
    local.write_bytes(store.read(bucket, key))
    steps = [event.step for event in tf.compat.v1.train.summary_iterator(str(local))]
    assert steps[-10:] == list(range(1000, 1010))
