"""Storage that fails while checkpoints are read: training resumes from the latest, or ends.

A real network file system cannot be had in a test. Faults are injected where TensorFlow's reader
returns to Python, at the reads of the index and of each shard, and at the reads of the directory
and the file `checkpoint`; damage is done to the files themselves.
"""

import errno
import os
import shutil

import forked
import numpy as np
import pytest
import tensorflow as tf
import tiers
from processes import run_process
from sleeps import replace_sleep

import estimator_train as est
from estimator_train.cli import errors
from estimator_train.engine import storage
from estimator_train.engine.checkpoints import integrity
from estimator_train.engine.checkpoints.model_dir import repair_checkpoint_list

tf1 = tf.compat.v1
FAULTS = {
    name: error(None, None, "NFS server not responding")
    for name, error in vars(tf.errors).items()
    if isinstance(error, type) and issubclass(error, tf.errors.OpError) and name != "OpError"
}
FAULTS["OpError of the reader"] = tf.errors.OpError(
    None, None, "/m/model.ckpt; Input/output error", tf.errors.UNKNOWN
)
FAULTS["OSError"] = OSError(5, "Input/output error")
FAULTS["PermissionError"] = PermissionError(13, "Permission denied")
PROOF = "DataLossError"


@pytest.fixture(autouse=True)
def pauses(monkeypatch):
    """Replaces waiting; returns the seconds of each wait."""
    waited = []
    replace_sleep(monkeypatch, waited.append)
    monkeypatch.setattr(integrity, "_known", {})
    return waited


def model_fn(features, labels, mode):
    """Builds a model with a variable in two parts, and variables on two devices: two shards."""
    w = tf1.get_variable("w", [8, 3], partitioner=tf1.fixed_size_partitioner(2))
    with tf.device("/cpu:1"):
        b = tf1.get_variable("b", [3])
    loss = tf.reduce_mean((features @ tf.concat(list(w), 0) + b - labels) ** 2)
    train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(loss, tf1.train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    x = np.random.RandomState(0).randn(8, 8).astype(np.float32)
    return tf.data.Dataset.from_tensors((x, x[:, :3])).repeat()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Returns a model_dir with checkpoints of steps 0, 10, 20 and 30."""
    model_dir = tmp_path_factory.mktemp("trained")
    config = est.RunConfig(save_checkpoints_steps=10, tf_random_seed=1)
    est.Estimator(model_fn, model_dir, config).train(input_fn, steps=30)
    assert len(list(model_dir.glob("model.ckpt-30.data-*-of-00002"))) == 2
    return model_dir


@pytest.fixture
def model_dir(trained, tmp_path):
    shutil.copytree(trained, tmp_path / "m")
    return tmp_path / "m"


def estimator(model_dir):
    return est.Estimator(model_fn, model_dir, est.RunConfig(save_checkpoints_steps=10))


def listed(model_dir):
    state = tf.train.get_checkpoint_state(str(model_dir))
    return [os.path.basename(path) for path in state.all_model_checkpoint_paths]


class Faults:
    """Raises an error at one kind of read of the latest checkpoint, a number of times."""

    def __init__(self, error, place, times):
        self.error, self.place, self.left = error, place, times
        self.reads = 0
        self._load = tf.train.load_checkpoint

    def maybe_raise(self, place):
        self.reads += 1
        if place == self.place and self.left:
            self.left -= 1
            raise self.error

    def load_checkpoint(self, path):
        if not path.endswith("-30"):
            return self._load(path)
        self.maybe_raise("index")
        return _FailingReader(self._load(path), self)


class _FailingReader:
    def __init__(self, reader, faults):
        self._reader, self._faults = reader, faults

    def __getattr__(self, name):
        return getattr(self._reader, name)

    def get_tensor(self, name):
        self._faults.maybe_raise(name)
        return self._reader.get_tensor(name)


EVERY = [
    (name, place, times)
    for name in FAULTS
    for place in ("index", "global_step", "w", "b")
    for times in (1, 3, None)
]


@pytest.mark.parametrize(("name", "place", "times"), tiers.every(4, EVERY))
def test_a_fault_at_any_read_loses_no_checkpoint(model_dir, monkeypatch, name, place, times):
    faults = Faults(FAULTS[name], place, 10**6 if times is None else times)
    monkeypatch.setattr(tf.train, "load_checkpoint", faults.load_checkpoint)
    before = (model_dir / "checkpoint").read_bytes()
    if times:
        repair_checkpoint_list(str(model_dir))
        assert integrity.latest_checkpoint(str(model_dir)) == str(model_dir / "model.ckpt-30")
        assert faults.left == 0
    elif name == PROOF:  # Every reading agrees that the content is wrong.
        repair_checkpoint_list(str(model_dir))
        assert listed(model_dir) == ["model.ckpt-0", "model.ckpt-10", "model.ckpt-20"]
        assert (model_dir / "model.ckpt-30.index").exists()
        return
    else:
        with pytest.raises(storage.StorageFaultError, match="checkpoints are left as they are"):
            repair_checkpoint_list(str(model_dir))
    assert (model_dir / "checkpoint").read_bytes() == before


@pytest.mark.parametrize("name", ["UnavailableError", "PermissionDeniedError", "OSError"])
def test_training_resumes_from_the_latest_after_temporary_faults(model_dir, monkeypatch, name):
    faults = Faults(FAULTS[name], "w", 3)
    monkeypatch.setattr(tf.train, "load_checkpoint", faults.load_checkpoint)
    estimator(model_dir).train(input_fn, steps=10)
    assert listed(model_dir) == [f"model.ckpt-{step}" for step in (0, 10, 20, 30, 40)]


@pytest.mark.parametrize("error", [IndexError, RuntimeError, MemoryError])
def test_other_error_of_the_reader_is_damage_if_the_bytes_can_be_read(
    model_dir, monkeypatch, caplog, error
):
    faults = Faults(error("Read less bytes than requested"), "index", 10**6)
    monkeypatch.setattr(tf.train, "load_checkpoint", faults.load_checkpoint)
    assert integrity.latest_checkpoint(str(model_dir)) == str(model_dir / "model.ckpt-20")
    assert "model.ckpt-30: Read less bytes than requested. Using" in caplog.text
    assert "model.ckpt-20 instead" in caplog.text


@pytest.mark.parametrize("error", [IndexError, RuntimeError])
def test_other_error_of_the_reader_is_a_fault_if_the_bytes_cannot_be_read(
    model_dir, monkeypatch, error
):
    faults = Faults(error("Read less bytes than requested"), "w", 10**6)
    monkeypatch.setattr(tf.train, "load_checkpoint", faults.load_checkpoint)

    def fail(path):
        raise FAULTS["OSError"]

    monkeypatch.setattr(storage, "check_readable", fail)
    with pytest.raises(storage.StorageFaultError, match="Input/output error"):
        integrity.latest_checkpoint(str(model_dir))


def test_lack_of_memory_for_a_variable_is_not_damage(model_dir, monkeypatch):
    faults = Faults(MemoryError("std::bad_alloc"), "w", 10**6)
    monkeypatch.setattr(tf.train, "load_checkpoint", faults.load_checkpoint)
    with pytest.raises(storage.StorageFaultError, match="bad_alloc"):
        integrity.latest_checkpoint(str(model_dir))


def failing(function, argument, error, times):
    """Returns the function, which fails for one argument so many times."""
    left = [times]

    def call(path, *args, **kwargs):
        if str(path).endswith(argument) and left[0]:
            left[0] -= 1
            raise error
        return function(path, *args, **kwargs)

    return call


# Errors that a file system gives while its server or its network fails.
CODES = ("EACCES", "EINTR", "EIO", "ENOLCK", "ENOMEM", "EPERM", "ESTALE", "ETIMEDOUT")
CALLS = {
    "stat": (os, "model.ckpt-30.index"),
    "listdir": (os, "m"),
    "GFile": (tf.io.gfile, "checkpoint"),
}


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("function", CALLS)
@pytest.mark.parametrize("code", tiers.first({"ESTALE", "EACCES"}, CODES))
def test_fault_of_the_directory_or_the_list_is_retried(
    model_dir, monkeypatch, function, code, times
):
    before = (model_dir / "checkpoint").read_bytes()
    module, argument = CALLS[function]
    number = getattr(errno, code)
    error = OSError(number, os.strerror(number))
    monkeypatch.setattr(
        module, function, failing(getattr(module, function), argument, error, times)
    )
    repair_checkpoint_list(str(model_dir))
    assert integrity.latest_checkpoint(str(model_dir)) == str(model_dir / "model.ckpt-30")
    assert (model_dir / "checkpoint").read_bytes() == before


@pytest.mark.parametrize("name", tiers.first({"UnavailableError", "NotFoundError"}, FAULTS))
def test_an_unreadable_checkpoint_list_starts_no_training_at_step_0(
    model_dir, monkeypatch, name, pauses
):
    fails = failing(tf.io.gfile.GFile, "checkpoint", FAULTS[name], 10**6)
    monkeypatch.setattr(tf.io.gfile, "GFile", fails)
    with pytest.raises(storage.StorageFaultError, match="could not|Could not read"):
        estimator(model_dir).train(input_fn, steps=1)
    assert pauses == list(storage.RETRY_DELAYS_SECS)
    monkeypatch.undo()
    assert listed(model_dir)[-1] == "model.ckpt-30"


def test_directory_listing_without_the_newest_files_changes_nothing(model_dir, monkeypatch):
    """A stale listing, as of an object store: files that are named are opened all the same."""
    names = os.listdir

    def stale(path):
        return [name for name in names(path) if "ckpt-30" not in name]

    monkeypatch.setattr(os, "listdir", stale)
    before = (model_dir / "checkpoint").read_bytes()
    repair_checkpoint_list(str(model_dir))
    assert integrity.latest_checkpoint(str(model_dir)) == str(model_dir / "model.ckpt-30")
    assert (model_dir / "checkpoint").read_bytes() == before


def test_shard_that_is_listed_but_cannot_be_opened_is_a_fault(model_dir, monkeypatch):
    shard = model_dir / "model.ckpt-30.data-00001-of-00002"
    shard.rename(model_dir / "away")
    names = os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: [*names(path), shard.name])
    with pytest.raises(storage.StorageFaultError, match="is listed but cannot be opened"):
        repair_checkpoint_list(str(model_dir))
    assert listed(model_dir)[-1] == "model.ckpt-30"


def test_shard_that_appears_late_is_waited_for(model_dir, monkeypatch):
    shard = model_dir / "model.ckpt-30.data-00000-of-00002"
    shard.rename(model_dir / "away")
    waits = []

    def sleep(secs):
        waits.append(secs)
        if len(waits) == 2:
            (model_dir / "away").rename(shard)

    replace_sleep(monkeypatch, sleep)
    repair_checkpoint_list(str(model_dir))
    assert integrity.latest_checkpoint(str(model_dir)) == str(model_dir / "model.ckpt-30")


def test_checkpoint_that_another_process_replaces_while_it_is_read_is_read_again(
    model_dir, monkeypatch
):
    index = model_dir / "model.ckpt-30.index"
    whole = index.read_bytes()
    index.write_bytes(whole[:40])
    load, reads = tf.train.load_checkpoint, []

    def load_and_replace(path):
        reads.append(path)
        try:
            return load(path)
        finally:
            if len(reads) == 4:  # At the last reading that would prove damage.
                (model_dir / "new").write_bytes(whole)
                (model_dir / "new").rename(index)

    monkeypatch.setattr(tf.train, "load_checkpoint", load_and_replace)
    repair_checkpoint_list(str(model_dir))
    assert len(reads) == 5
    assert listed(model_dir)[-1] == "model.ckpt-30"


def test_a_checkpoint_that_a_second_trainer_writes_during_a_repair_stays_the_latest(
    model_dir, monkeypatch
):
    (model_dir / "model.ckpt-30.index").write_bytes(b"torn")
    choose, written = integrity.choose_checkpoint, []

    def choose_and_write(directory, to_restore):
        chosen = choose(directory, to_restore)
        if not written:
            written.append(True)
            for path in model_dir.glob("model.ckpt-20.*"):
                shutil.copy(path, model_dir / path.name.replace("-20.", "-40."))
            tf1.train.update_checkpoint_state(directory, "model.ckpt-40")
        return chosen

    monkeypatch.setattr(integrity, "choose_checkpoint", choose_and_write)
    repair_checkpoint_list(str(model_dir))
    assert listed(model_dir) == ["model.ckpt-40"]


def test_list_that_a_trainer_replaces_while_its_checkpoints_are_read_is_read_again(
    model_dir, monkeypatch, caplog
):
    find_damage, read = integrity.find_damage, []

    def remove_and_find(path):
        read.append(os.path.basename(path))
        if len(read) == 1:  # As a trainer that keeps one checkpoint.
            for file in model_dir.glob("model.ckpt-30.*"):
                file.rename(model_dir / file.name.replace("-30.", "-40."))
            tf1.train.update_checkpoint_state(str(model_dir), "model.ckpt-40")
        return find_damage(path)

    monkeypatch.setattr(integrity, "find_damage", remove_and_find)
    assert integrity.latest_checkpoint(str(model_dir)) == str(model_dir / "model.ckpt-40")
    assert read == ["model.ckpt-30", "model.ckpt-20", "model.ckpt-40"]
    assert "instead" not in caplog.text


def test_a_reader_that_holds_the_files_open_does_not_hinder_a_repair(model_dir):
    (model_dir / "model.ckpt-30.index").write_bytes(b"torn")
    with open(model_dir / "checkpoint"), open(model_dir / "model.ckpt-30.index"):
        repair_checkpoint_list(str(model_dir))
    assert listed(model_dir) == ["model.ckpt-0", "model.ckpt-10", "model.ckpt-20"]


def test_damaged_files_are_kept_when_training_passes_their_step_again(model_dir, caplog):
    torn = b"torn" * 3
    (model_dir / "model.ckpt-30.index").write_bytes(torn)
    shard = (model_dir / "model.ckpt-30.data-00000-of-00002").read_bytes()
    config = est.RunConfig(save_checkpoints_steps=10, keep_checkpoint_max=2)
    est.Estimator(model_fn, model_dir, config).train(input_fn, max_steps=30)
    assert listed(model_dir)[-1] == "model.ckpt-30"
    assert integrity.find_damage(str(model_dir / "model.ckpt-30")) is None
    kept = model_dir / "damaged"
    assert (kept / "model.ckpt-30.index").read_bytes() == torn
    assert (kept / "model.ckpt-30.data-00000-of-00002").read_bytes() == shard
    assert (
        f"now names {model_dir}/model.ckpt-20 instead of {model_dir}/model.ckpt-30" in caplog.text
    )
    assert "All files of the damaged checkpoint are kept" in caplog.text


def test_damaged_files_outlive_the_retention_of_the_saver(model_dir):
    (model_dir / "model.ckpt-20.index").write_bytes(b"torn")
    (model_dir / "model.ckpt-30.index").write_bytes(b"torn")
    config = est.RunConfig(save_checkpoints_steps=3, keep_checkpoint_max=1)
    est.Estimator(model_fn, model_dir, config).train(input_fn, steps=7)
    assert listed(model_dir) == ["model.ckpt-17"]
    left = {path.name for path in model_dir.glob("*.index")}
    assert left == {"model.ckpt-17.index", "model.ckpt-20.index", "model.ckpt-30.index"}


def test_index_of_another_step_than_its_data_is_damage(model_dir, caplog):
    shutil.copy(model_dir / "model.ckpt-20.index", model_dir / "model.ckpt-30.index")
    assert integrity.latest_checkpoint(str(model_dir)) == str(model_dir / "model.ckpt-20")
    assert "model.ckpt-30: " in caplog.text
    assert f"Using {model_dir}/model.ckpt-20 instead" in caplog.text


def test_list_that_names_files_elsewhere_is_followed_with_a_warning(model_dir, tmp_path, caplog):
    (tmp_path / "elsewhere").mkdir()
    for path in model_dir.glob("model.ckpt-10.*"):
        shutil.copy(path, tmp_path / "elsewhere")
    named = str(tmp_path / "elsewhere" / "model.ckpt-10")
    tf1.train.update_checkpoint_state(str(model_dir), named)
    repair_checkpoint_list(str(model_dir))
    assert integrity.latest_checkpoint(str(model_dir)) == named
    assert f"continues from {named}" in caplog.text
    assert f"{model_dir}/model.ckpt-30 is later" in caplog.text


def test_list_that_names_missing_files_elsewhere_names_both_checkpoints(model_dir, caplog):
    tf1.train.update_checkpoint_state(str(model_dir), "/moved/away/model.ckpt-40")
    repair_checkpoint_list(str(model_dir))
    assert listed(model_dir)[-1] == "model.ckpt-30"
    assert "/moved/away/model.ckpt-40" in caplog.text
    assert f"Using {model_dir}/model.ckpt-30 instead" in caplog.text


class FailsToRestore:
    """Has the restore operation of sessions fail, a number of times."""

    def __init__(self, monkeypatch, error, times):
        self.left = times
        restore = tf1.train.Saver.restore

        def fail(saver, session, path):
            if self.left:
                self.left -= 1
                operation = session.graph.get_operation_by_name("save/RestoreV2")
                raise error(None, operation, "NFS server not responding")
            return restore(saver, session, path)

        monkeypatch.setattr(tf1.train.Saver, "restore", fail)


@pytest.mark.parametrize("error", [tf.errors.UnavailableError, tf.errors.PermissionDeniedError])
def test_fault_of_the_restore_itself_is_retried_and_then_ends_the_job(
    model_dir, monkeypatch, error
):
    FailsToRestore(monkeypatch, error, 3)
    estimator(model_dir).train(input_fn, steps=10)
    assert listed(model_dir)[-1] == "model.ckpt-40"
    FailsToRestore(monkeypatch, error, 10**6)
    with pytest.raises(storage.StorageFaultError, match="restore .*model.ckpt-40"):
        estimator(model_dir).train(input_fn, steps=10)


def test_fault_of_a_restore_for_evaluation_is_retried(model_dir, monkeypatch):
    faults = FailsToRestore(monkeypatch, tf.errors.UnavailableError, 3)
    assert estimator(model_dir).evaluate(input_fn, steps=1)["global_step"] == 30
    assert faults.left == 0


def test_exit_code_of_a_storage_that_fails_is_retryable():
    program = (
        "from estimator_train.engine import storage\n"
        "storage.RETRY_DELAYS_SECS = ()\n"
        "def read(): raise OSError(5, 'Input/output error')\n"
        "storage.retry_storage_faults(read, 'read /m/checkpoint')\n"
    )
    ended = run_process(forked.python("-c", program), exit_code=143)
    assert "Could not read /m/checkpoint: [Errno 5] Input/output error" in ended.stderr
    assert errors.get_exit_code(storage.StorageFaultError("x")) == 143


def test_a_caller_that_turns_retries_off_makes_one_attempt(pauses):
    attempts = []

    def read():
        attempts.append(1)
        raise OSError(5, "Input/output error")

    with storage.allow_single_attempt(), pytest.raises(storage.StorageFaultError):
        storage.retry_storage_faults(read, "read it")
    assert len(attempts) == 1
    assert pauses == []


def test_predictor_answers_from_the_loaded_checkpoint_while_the_storage_fails(
    model_dir, monkeypatch, pauses
):
    def predict_step(features, mode):
        step = tf1.train.get_or_create_global_step()
        return est.EstimatorSpec(mode, predictions={"step": step + 0 * features})

    step_model = est.Estimator(predict_step, model_dir)
    batch = np.zeros([1], np.int64)
    with step_model.predictor(reload=True) as predictor:
        assert predictor.predict(batch)["step"] == [30]
        estimator(model_dir).train(input_fn, steps=10)
        with monkeypatch.context() as outage:
            fails = failing(tf.io.gfile.GFile, "checkpoint", FAULTS["UnavailableError"], 10**6)
            outage.setattr(tf.io.gfile, "GFile", fails)
            assert predictor.predict(batch)["step"] == [30]
        assert predictor.predict(batch)["step"] == [40]
    assert pauses == []


def test_list_is_decoded_as_tensorflow_decodes_it(model_dir):
    expected = tf.train.get_checkpoint_state(str(model_dir))
    found = integrity.read_checkpoint_list(str(model_dir))
    assert found.latest == expected.model_checkpoint_path
    assert list(found.paths) == list(expected.all_model_checkpoint_paths)
