import multiprocessing
import os
import random
import signal
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import tiers
from sleeps import replace_sleep

import estimator_train as est
import input_fns
from estimator_train.engine import storage
from estimator_train.engine.inputs import position
from estimator_train.engine.inputs.input_fn import Inputs
from estimator_train.engine.inputs.position import InputPosition, PositionFiles
from estimator_train.engine.inputs.position_hooks import RestorePositionHook, SaveWorkerPositionHook
from estimator_train.engine.inputs.start import start_hooks
from estimator_train.engine.loops.training_loop import WorkerCoordinator
from estimator_train.engine.tf_internals import tf_hooks

tf1 = tf.compat.v1
ROWS, BATCH, EPOCHS = 120, 4, 3
STEPS = ROWS * EPOCHS // BATCH


def model_fn(features, mode):
    """Counts steps, and keeps the ids that each step saw in a variable of its checkpoint."""
    step = tf1.train.get_or_create_global_step()
    replica = tf.distribute.get_replica_context()
    history = tf1.get_variable(
        "history",
        [STEPS, BATCH],
        tf.int64,
        tf1.zeros_initializer(),
        trainable=False,
        aggregation=tf.VariableAggregation.SUM,
    )
    weight = tf1.get_variable("weight", [], initializer=tf1.zeros_initializer())
    loss = weight * tf.reduce_mean(tf.cast(features, tf.float32))
    width = tf.shape(features)[0]
    first = width * tf.cast(replica.replica_id_in_sync_group, tf.int32)
    # All replicas add to the row of the step, each in its own columns.
    places = tf.stack([tf.fill([width], tf.cast(step, tf.int32)), first + tf.range(width)], 1)
    ids = tf.scatter_nd(places, features + 1, [STEPS, BATCH])
    with tf.control_dependencies([history.assign_add(ids)]):
        train_op = tf1.train.GradientDescentOptimizer(0.0).minimize(loss, step)
    return est.EstimatorSpec(mode, features, loss, train_op)


def shuffled(replicas=1):
    return input_fns.arrays(
        np.arange(ROWS), batch_size=BATCH // replicas, shuffle=True, num_epochs=EPOCHS
    )


def buffered(replicas=1):
    """Returns a usual pipeline: a shuffle buffer, a parallel stage, a prefetch."""
    dataset = tf.data.Dataset.range(ROWS).shuffle(50).repeat(EPOCHS)
    return dataset.batch(BATCH // replicas).map(tf.identity, 2, deterministic=True).prefetch(3)


def estimator(model_dir, **config):
    settings = {"save_checkpoints_steps": 7, "save_input_position": True, **config}
    return est.Estimator(model_fn, str(model_dir), est.RunConfig(**settings))


def history(model_dir):
    """Returns the ids of each step that the latest checkpoint knows of."""
    path = tf.train.latest_checkpoint(str(model_dir))
    rows = tf.train.load_variable(path, "history")
    return rows[: tf.train.load_variable(path, "global_step")] - 1


def assert_each_row_once_an_epoch(seen):
    epochs = seen.reshape(-1, ROWS)
    assert len(epochs) == EPOCHS
    for epoch in epochs:
        assert sorted(epoch) == [*range(ROWS)]
    assert len({tuple(epoch) for epoch in epochs}) == EPOCHS


class Kill(est.SessionRunHook):
    """Kills the process once a step is done, without hindering loops up to there."""

    def __init__(self, steps):
        self._left = steps

    def steps_until_due(self, global_step):
        return self._left

    def after_loop(self, steps, loss):
        self._left -= steps
        self._look()

    def after_run(self, run_context, run_values):
        self._left -= 1
        self._look()

    def _look(self):
        if self._left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)


def train_until_killed(model_dir, input_fn, steps, replicas):
    config = {}
    if replicas > 1:
        virtual = [tf.config.LogicalDeviceConfiguration()] * replicas
        tf.config.set_logical_device_configuration(
            tf.config.list_physical_devices("CPU")[0], virtual
        )
        devices = [f"CPU:{number}" for number in range(replicas)]
        config["train_distribute"] = tf.distribute.MirroredStrategy(devices)
    estimator(model_dir, **config).train(lambda: input_fn(replicas), hooks=[Kill(steps)])


def train_with_kills(model_dir, input_fn, replicas, kills):
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["estimator_train.estimator", "input_fns"])
    for steps in [*kills, 10 * STEPS]:
        arguments = (model_dir, input_fn, steps, replicas)
        process = processes.Process(target=train_until_killed, args=arguments)
        process.start()
        process.join(120)
        process.kill()  # Python waits at its end for a process that still runs.
        process.join()
        assert process.exitcode == (-signal.SIGKILL if steps <= STEPS else 0)


@pytest.mark.long
@pytest.mark.parametrize(
    ("input_fn", "replicas"),
    [
        pytest.param(buffered, 1, id="buffered"),
        pytest.param(shuffled, 1, id="shuffled", marks=pytest.mark.long),
        pytest.param(buffered, 2, id="buffered on two replicas", marks=pytest.mark.long),
    ],
)
def test_with_ten_kills_each_epoch_has_each_example_once(tmp_path, input_fn, replicas):
    kills = random.Random(replicas).choices(range(1, 18), k=10)
    train_with_kills(tmp_path, input_fn, replicas, kills)
    assert len(history(tmp_path)) == STEPS
    assert_each_row_once_an_epoch(history(tmp_path))


def train(model_dir, input_fn=buffered, steps=None, **config):
    estimator(model_dir, **config).train(lambda: input_fn(), steps=steps)
    return history(model_dir)


def positions(model_dir):
    return sorted(path.name for path in Path(model_dir).glob("*-of-input*"))


@pytest.mark.parametrize(
    "config",
    tiers.every(3, [{}, {"steps_per_loop": 1}, {"checkpoint_mode": "sync"}]),
    ids=str,
)
def test_calls_of_train_continue_the_input(tmp_path, config):
    for _ in range(4):
        seen = train(tmp_path, steps=20, **config)
    assert len(seen) == 80
    seen = train(tmp_path, **config)
    assert_each_row_once_an_epoch(seen)


def test_after_the_end_of_the_input_training_begins_at_its_start(tmp_path):
    def rows():
        return tf.data.Dataset.range(40).batch(BATCH)

    first = train(tmp_path, rows)
    second = train(tmp_path, rows)
    np.testing.assert_array_equal(second, np.concatenate([first, first]))


def test_training_that_stopped_with_the_last_example_begins_at_the_start(tmp_path):
    def rows():
        return tf.data.Dataset.range(40).batch(BATCH)

    first = train(tmp_path, rows, steps=10)
    assert positions(tmp_path) == [
        "model.ckpt-0.data-i0000-of-input",
        "model.ckpt-7.data-i0000-of-input",
    ]
    np.testing.assert_array_equal(train(tmp_path, rows), np.concatenate([first, first]))


def test_without_a_saved_position_each_call_of_train_begins_at_the_start(tmp_path):
    def rows():
        return tf.data.Dataset.range(400).batch(BATCH)

    train(tmp_path, rows, steps=5, save_input_position=False)
    seen = train(tmp_path, rows, steps=5, save_input_position=False)
    np.testing.assert_array_equal(seen[5:], seen[:5])
    assert positions(tmp_path) == []


def test_positions_go_with_their_checkpoints(tmp_path):
    train(tmp_path, steps=30, keep_checkpoint_max=2)
    kept = sorted(path.name[:-6] for path in tmp_path.glob("*.index"))
    assert kept == ["model.ckpt-28", "model.ckpt-30"]
    assert positions(tmp_path) == [f"{name}.data-i0000-of-input" for name in kept]


def test_files_that_a_kill_left_are_removed(tmp_path):
    train(tmp_path, steps=8)
    (tmp_path / "model.ckpt-9.data-i0000-of-input").write_bytes(b"no checkpoint came after it")
    (tmp_path / "model.ckpt-8.data-i0000-of-input.part").write_bytes(b"")
    (tmp_path / "model.ckpt-8.data-i0000-of-input.7-9.part").write_bytes(b"")
    train(tmp_path, steps=8)
    left = [f"model.ckpt-{step}.data-i0000-of-input" for step in (0, 15, 16, 7, 8)]
    assert positions(tmp_path) == left


def warned(caplog):
    return " ".join(
        r.getMessage()
        for r in caplog.records
        if r.levelname == "WARNING" and "input (" in r.getMessage()
    )


def generated():
    signature = tf.TensorSpec([], tf.int64)
    rows = tf.data.Dataset.from_generator(lambda: iter(range(ROWS)), output_signature=signature)
    return rows.batch(BATCH)


def test_a_generator_is_named_in_a_warning_and_starts_over(tmp_path, caplog):
    train(tmp_path, generated, steps=3)
    seen = train(tmp_path, generated, steps=3)
    np.testing.assert_array_equal(seen[3:], seen[:3])
    assert "is not saved" in warned(caplog)
    assert "GeneratorDataset does not support checkpointing" in warned(caplog)


def test_an_input_of_the_tf_data_service_is_named_once_in_one_line(tmp_path, caplog):
    dispatcher = tf.data.experimental.service.DispatchServer()
    address = dispatcher.target.partition("://")[2]
    worker = tf.data.experimental.service.WorkerServer(
        tf.data.experimental.service.WorkerConfig(dispatcher_address=address)
    )

    def served():
        service = tf.data.experimental.service.distribute("distributed_epoch", dispatcher.target)
        return tf.data.Dataset.range(ROWS).apply(service).batch(BATCH)

    train(tmp_path, served, steps=14)
    about_position = [m for m in caplog.messages if "position" in m]
    assert about_position == [
        "The position in the input (train.<locals>.<lambda>) is not saved, and a restart begins at "
        "its start: SaveInternal is not yet supported."
    ]
    worker._stop()
    dispatcher._stop()


def test_random_augmentation_is_named_and_the_position_is_saved(tmp_path, caplog):
    def augmented():
        noisy = tf.data.Dataset.range(ROWS).map(lambda x: x + tf.random.uniform([], 0, 1, tf.int64))
        return noisy.batch(BATCH)

    train(tmp_path, augmented, steps=3)
    seen = train(tmp_path, augmented, steps=3)
    np.testing.assert_array_equal(seen.ravel(), range(6 * BATCH))
    assert "not the state of its RandomUniformInt" in warned(caplog)


def test_an_input_of_tensors_logs_that_it_has_no_position(tmp_path, caplog):
    train(tmp_path, lambda: tf.constant([1, 2, 3, 4], tf.int64), steps=2)
    assert "input_fn did not return a Dataset" in warned(caplog)


def test_a_checkpoint_without_a_position_logs_a_warning(tmp_path, caplog):
    train(tmp_path, steps=3, save_input_position=False)
    train(tmp_path, steps=3)
    assert f"begins at its start: there is no {tmp_path}/model.ckpt-3.data-i0000" in warned(caplog)


@pytest.mark.parametrize(
    "damage",
    tiers.every(3, [lambda old: old[:-9] + b"x" + old[-8:], lambda old: old[:-1], lambda old: b""]),
)
def test_a_damaged_position_logs_a_warning_and_restarts_the_input(tmp_path, caplog, damage):
    train(tmp_path, steps=3)
    path = tmp_path / "model.ckpt-3.data-i0000-of-input"
    path.write_bytes(damage(path.read_bytes()))
    train(tmp_path, steps=3)
    assert f"begins at its start: {path} is damaged" in warned(caplog)


def test_a_position_in_another_input_is_an_error_with_a_next_step(tmp_path):
    train(tmp_path, steps=3)
    with pytest.raises(
        ValueError, match=r"model.ckpt-3.* is not a position in this input .*Remove the file"
    ):
        train(
            tmp_path,
            lambda: tf.data.Dataset.range(400).filter(lambda x: x > 2).batch(BATCH).take(50),
            steps=3,
        )


class Pipeline:
    """One worker's part of an input that several read."""

    def __init__(self, model_dir, number, pipelines=2):
        self._place = tf.distribute.InputContext(pipelines, number, pipelines)
        self._prefix = str(model_dir / "model.ckpt")

    def read(self, steps, every_steps, start=0):
        with tf.Graph().as_default():
            step = tf1.train.create_global_step()
            count = step.assign_add(1)
            tf_hooks.read_step_before_increment(step, count)
            starting = tf1.train.Scaffold(init_op=step.assign(start))
            rows = tf.data.Dataset.range(100).shard(2, self._place.input_pipeline_id)
            iterator = tf1.data.make_initializable_iterator(rows)
            inputs = Inputs(iterator.get_next(), None, iterator, iterator.initializer, self._place)
            coordinator = WorkerCoordinator()
            position = InputPosition(inputs, self._prefix, "rows", coordinator)
            saving = SaveWorkerPositionHook(position, coordinator, every_steps)
            stop = tf1.train.StopAtStepHook(num_steps=steps)
            hooks = [*start_hooks(inputs), RestorePositionHook(position), saving, stop]
            found = []
            with tf1.train.MonitoredSession(
                tf1.train.ChiefSessionCreator(starting), hooks
            ) as session:
                while not session.should_stop():
                    found.append(session.run([inputs.features, count])[0])
            return found


def test_workers_that_write_no_checkpoints_save_their_positions_at_the_chiefs_steps(tmp_path):
    found = Pipeline(tmp_path, number=1).read(steps=10, every_steps=4)
    assert found == [*range(1, 21, 2)]
    steps = [0, 10, 4, 8]
    assert positions(tmp_path) == [f"model.ckpt-{step}.data-i0001-of-input" for step in steps]


def test_a_position_that_a_kill_prevented_is_reached_from_the_one_before(tmp_path):
    worker = Pipeline(tmp_path, number=1)
    worker.read(steps=10, every_steps=4)
    own, chiefs = (tmp_path / f"model.ckpt-10.data-i000{number}-of-input" for number in (1, 0))
    own.rename(chiefs)
    (tmp_path / "model.ckpt-8.data-i0000-of-input").touch()
    assert worker.read(steps=2, every_steps=4, start=10) == [21, 23]


def test_without_a_position_of_the_chief_the_worker_begins_at_the_start_like_it(tmp_path):
    worker = Pipeline(tmp_path, number=1)
    worker.read(steps=10, every_steps=4)
    (tmp_path / "model.ckpt-10.data-i0001-of-input").unlink()
    assert worker.read(steps=2, every_steps=4, start=10) == [1, 3]


def test_a_position_older_than_the_previous_checkpoint_is_not_restored(tmp_path, caplog):
    worker = Pipeline(tmp_path, number=1)
    worker.read(steps=10, every_steps=4)
    for step in (12, 15):
        (tmp_path / f"model.ckpt-{step}.data-i0000-of-input").touch()
    assert worker.read(steps=2, every_steps=4, start=15) == [1, 3]
    assert f"begins at its start: there is no {tmp_path}/model.ckpt-15" in warned(caplog)


class FailsOnce:
    """A file system that fails while the position of one step is written."""

    def __init__(self, monkeypatch, step, error):
        write = PositionFiles.write

        def fail(files, written_step, *args):
            if written_step == step:
                raise error
            write(files, written_step, *args)

        monkeypatch.setattr(PositionFiles, "write", fail)


@pytest.mark.parametrize(
    "error",
    [tf.errors.UnavailableError(None, None, "NFS server not responding"), OSError(5, "I/O error")],
    ids=lambda error: type(error).__name__,
)
def test_position_that_could_not_be_saved_is_saved_with_the_next_checkpoint(
    tmp_path, caplog, monkeypatch, error
):
    FailsOnce(monkeypatch, 7, error)
    train(tmp_path, steps=14)
    assert positions(tmp_path) == [f"model.ckpt-{step}.data-i0000-of-input" for step in (0, 14)]
    assert "could not be saved at step 7: " in warned(caplog)
    seen = train(tmp_path, steps=6)
    assert len(seen) == 20
    assert len(np.unique(seen.ravel())) == 80


def test_iterator_that_cannot_be_read_at_one_checkpoint_is_saved_at_the_next(
    tmp_path, caplog, monkeypatch
):
    run, failed = tf1.Session.run, []

    def fail_once(session, fetches, *args, **kwargs):
        is_position = getattr(getattr(fetches, "op", None), "type", "") == "SerializeTensor"
        if is_position and not failed:
            failed.append(True)
            raise tf.errors.CancelledError(None, None, "cancelled")
        return run(session, fetches, *args, **kwargs)

    monkeypatch.setattr(tf1.Session, "run", fail_once)
    train(tmp_path, steps=7)
    assert failed
    assert positions(tmp_path) == ["model.ckpt-7.data-i0000-of-input"]
    assert "could not be saved at step 0: cancelled" in warned(caplog)


def test_a_fault_while_a_position_is_read_is_retried(tmp_path, monkeypatch):
    train(tmp_path, steps=3)
    read, failed = position._read_content, []

    def fail_once(path):
        if not failed:
            failed.append(path)
            raise tf.errors.UnavailableError(None, None, "NFS server not responding")
        return read(path)

    monkeypatch.setattr(position, "_read_content", fail_once)
    replace_sleep(monkeypatch)
    seen = train(tmp_path, steps=3)
    assert len(failed) == 1
    assert len(np.unique(seen.ravel())) == 24


def test_a_fault_while_a_position_is_restored_does_not_count_as_another_input(
    tmp_path, monkeypatch
):
    train(tmp_path, steps=3)
    run = tf1.Session.run

    def fail(session, fetches, *args, **kwargs):
        if getattr(fetches, "type", "") == "DeserializeIterator":
            raise tf.errors.PermissionDeniedError(None, None, "Permission denied")
        return run(session, fetches, *args, **kwargs)

    monkeypatch.setattr(tf1.Session, "run", fail)
    with pytest.raises(tf.errors.PermissionDeniedError):
        train(tmp_path, steps=3)


def test_a_fault_of_the_storage_removes_no_position(tmp_path, monkeypatch):
    train(tmp_path, steps=3)
    before = positions(tmp_path)

    def fail(path):
        raise OSError(116, "Stale file handle")

    files = PositionFiles(str(tmp_path / "model.ckpt"), 0, 1, "rows")
    with monkeypatch.context() as patched:
        patched.setattr(storage, "is_file", fail)
        patched.setattr(tf.io.gfile, "exists", lambda path: False)  # So TensorFlow reports it.
        files.remove_orphans()
    assert positions(tmp_path) == before
