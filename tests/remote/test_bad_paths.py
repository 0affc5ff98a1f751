"""Paths that cannot work: one line each, with the next step.

These tests cover `remote/callbacks.py`, `remote/checks.py` and `remote/schemes.py`.
"""

import datetime
import logging
import os
import re
import threading
import time
from importlib.machinery import EXTENSION_SUFFIXES

import fsspec
import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train import remote
from estimator_train.remote import lease, registration


def train(model_dir):
    columns = [tf.feature_column.numeric_column("x")]
    estimator = est.LinearRegressor(columns, model_dir)
    data = ({"x": [[1.0]]}, [[2.0]])
    return estimator.train(lambda: tf.data.Dataset.from_tensors(data).repeat(), steps=1)


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("s3://", "model_dir 's3://' names no bucket. Use s3://BUCKET/PATH."),
        ("s3:///run", "model_dir 's3:///run' names no bucket. Use s3://BUCKET/PATH."),
        ("none://b/run", "No file system is known for none://."),
        ("s3://no-such-bucket/run", "bucket 'no-such-bucket' does not exist. Create it"),
    ],
)
def test_a_model_dir_that_cannot_work_is_an_error_with_a_next_step(store, path, message):
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        train(path)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.long
def test_a_model_dir_that_is_an_object_is_an_error(store, bucket):
    store.client.put_object(Bucket=bucket, Key="run", Body=b"x")
    with pytest.raises(ValueError, match="is a file. Use the path of a directory"):
        train(f"s3://{bucket}/run")


def test_one_slash_is_a_local_directory_and_a_warning(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.warns(UserWarning, match="Did you mean 's3://bucket/run'"):
        est.LinearRegressor([tf.feature_column.numeric_column("x")], "s3:/bucket/run")


def test_a_missing_driver_is_named(monkeypatch):
    monkeypatch.setattr(registration, "is_installed", lambda driver: False)
    with pytest.raises(ImportError, match=r"az:// needs a package: pip install 'estimator-train"):
        remote.register("az")


def test_without_library_and_compiler_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(registration, "_LIBRARY", "_no_such_library")
    assert registration.find_built_library() is None
    with pytest.raises(ImportError, match="apt-get install gcc"):
        registration.find_or_compile_library.__wrapped__()


def test_the_library_is_compiled_once_for_each_source(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(registration, "_LIBRARY", "_no_such_library")
    built = registration.find_or_compile_library.__wrapped__()
    assert registration.find_built_library() == built
    assert [path.name for path in (tmp_path / "estimator_train").iterdir()] == [
        built.rpartition("/")[2]
    ]


def test_a_library_of_another_source_is_not_loaded(monkeypatch, tmp_path):
    # Its callbacks have other arguments: it would write into foreign memory.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(registration, "_LIBRARY", "_of_another_source")
    monkeypatch.syspath_prepend(tmp_path)
    stale = tmp_path / f"_of_another_source{EXTENSION_SUFFIXES[-1]}"
    stale.write_bytes(b"ELF source 0123456789abcdef")
    assert registration.find_built_library() is None
    assert registration.find_or_compile_library.__wrapped__() != str(stale)
    stale.write_bytes(b"ELF source " + registration._DIGEST.encode())
    assert registration.find_built_library() == str(stale)


@pytest.mark.long
def test_two_jobs_in_one_directory_warn_of_each_other(store, bucket, monkeypatch, caplog):
    remote.register("s3")
    monkeypatch.setattr(lease, "CHECK_SECS", 0.1)
    monkeypatch.setattr(logging.getLogger("tensorflow"), "propagate", True)
    directory = f"s3://{bucket}/run"
    both_run = threading.Barrier(2, timeout=200)

    def list_warnings():
        messages = [record.getMessage() for record in caplog.records]
        return [text for text in messages if "is in use by another job (process " in text]

    def run():
        with remote.hold_lease(directory, refuses_others=False):
            both_run.wait()
            deadline = time.monotonic() + 200
            while len(list_warnings()) < 2 and time.monotonic() < deadline:
                time.sleep(0.05)

    other = threading.Thread(target=run)
    other.start()
    run()
    other.join()
    assert len(list_warnings()) == 2
    assert all(text.startswith(f"{directory} is in use") for text in list_warnings())


def test_a_second_job_is_refused_while_the_first_renews_its_lease(monkeypatch, tmp_path):
    remote.register("memory")
    monkeypatch.setattr(lease, "CHECK_SECS", 0.1)
    monkeypatch.setattr(lease, "STALE_SECS", 20.0)
    directory = f"memory:/{tmp_path}/run"
    with remote.hold_lease(directory, refuses_others=True):
        # It is this process: as if another machine had written it.
        monkeypatch.setattr(lease.platform, "node", lambda: "another")
        config = est.RunConfig(model_dir=directory, allow_shared_model_dir=False)
        columns = [tf.feature_column.numeric_column("x")]
        estimator = est.LinearRegressor(columns, config=config)
        with pytest.raises(ValueError, match=rf"{directory} is in use by another job \(process "):
            estimator.train(lambda: tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[2.0]])))


@pytest.fixture
def observed_lease(monkeypatch, tmp_path, caplog):
    """Provides the path of a lease that a job observes for up to 20 seconds, with its log."""
    remote.register("memory")
    monkeypatch.setattr(lease, "STALE_SECS", 20.0)
    monkeypatch.setattr(logging.getLogger("tensorflow"), "propagate", True)
    caplog.set_level(logging.INFO, "tensorflow")
    return f"memory:/{tmp_path}/run/.training"


def test_a_lease_that_is_empty_while_it_is_written_is_no_free_directory(observed_lease, caplog):
    path = observed_lease
    with tf.io.gfile.GFile(path, "w") as file:
        file.write("")  # SFTP and the memory store write the name first, then the bytes.

    def write_when_it_was_read():
        while "its lease is being written" not in caplog.text:
            time.sleep(0.01)
        lease._write(path, "process 1 on another, since now")

    writing = threading.Thread(target=write_when_it_was_read, daemon=True)
    writing.start()
    with (
        pytest.raises(ValueError, match=r"by another job \(process 1 on another, since now\)"),
        remote.hold_lease(os.path.dirname(path), refuses_others=True),
    ):
        raise AssertionError("it was taken")
    writing.join()


def test_a_running_job_whose_clock_is_five_minutes_late_keeps_its_lease(
    observed_lease, tmp_path, caplog
):
    path = observed_lease
    lease._write(path, "process 1 on another, since then")
    written = fsspec.filesystem("memory").store[f"{tmp_path}/run/.training"]
    written.created = written.modified = written.modified - datetime.timedelta(minutes=5)

    def write_when_it_was_read():
        while "whether a job still runs here" not in caplog.text and not has_ended.wait(0.01):
            pass
        lease._write(path, "process 1 on another, since now")

    has_ended = threading.Event()
    writing = threading.Thread(target=write_when_it_was_read, daemon=True)
    writing.start()
    try:
        with (
            pytest.raises(ValueError, match=r"by another job \(process 1 on another, since now\)"),
            remote.hold_lease(os.path.dirname(path), refuses_others=True),
        ):
            raise AssertionError("it was taken")
    finally:
        has_ended.set()
        writing.join()


@pytest.mark.long
def test_a_lease_that_is_renewed_while_it_is_read_has_a_holder(tmp_path):
    remote.register("memory")
    path = f"memory:/{tmp_path}/run/.training"
    holder = "process 1 on another, since then"
    lease._write(path, holder)
    has_ended = threading.Event()

    def renew():
        while not has_ended.is_set():
            lease._write(path, holder)

    renewing = threading.Thread(target=renew, daemon=True)
    renewing.start()
    try:
        found = {(lease._read(path) or "").partition("\n")[0] for _ in range(300)}
        is_lost = any(lease._read(path) is None for _ in range(300))
    finally:
        has_ended.set()
        renewing.join()
    assert holder in found
    assert not is_lost


def test_a_lease_that_nobody_renews_is_taken(monkeypatch, tmp_path):
    remote.register("memory")
    monkeypatch.setattr(lease, "STALE_SECS", 0.5)
    directory = f"memory:/{tmp_path}/run"
    with tf.io.gfile.GFile(f"{directory}/.training", "w") as file:
        file.write("process 1 on another, since 2026-11-28 12:00:00 (0123)\n1.0\n")
    with remote.hold_lease(directory, refuses_others=True):
        assert "on another" not in tf.io.gfile.GFile(f"{directory}/.training").read()
    assert not tf.io.gfile.exists(f"{directory}/.training")
