import os
import threading
from pathlib import Path

import forked
import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf
import tiers

import estimator_train as est
from estimator_train.engine.checkpoints import async_saver, integrity, large_values
from estimator_train.engine.checkpoints.async_saver import AsyncSaver, CheckpointWriteError
from estimator_train.engine.checkpoints.model_dir import remove_unfinished
from estimator_train.engine.run.training_checkpoints import WaitForWriteListener
from estimator_train.engine.tf_internals import graphs

v1 = tf.compat.v1


class GatedSession(v1.Session):
    """A session in which the thread that writes checkpoints waits for a gate to open."""

    def __init__(self):
        super().__init__()
        self.gate = threading.Event()
        self.error = None

    def run(self, *args, **kwargs):
        if threading.current_thread() is not threading.main_thread():
            assert self.gate.wait(60)
            if self.error:
                raise self.error
        return super().run(*args, **kwargs)


@pytest.fixture
def variable_graph():
    """Provides a session with a variable, an operation that increases it, and a saver."""
    with tf.Graph().as_default():
        variable = v1.get_variable("v", initializer=np.float32([1, 2]))
        add = v1.assign_add(variable, [10.0, 10.0])
        scaffold = v1.train.Scaffold(saver=v1.train.Saver([variable]))
        scaffold.finalize()
        with GatedSession() as session:
            session.run(scaffold.init_op)
            yield session, add, AsyncSaver(scaffold)


def test_a_checkpoint_has_the_values_at_the_save(variable_graph, tmp_path):
    session, add, saver = variable_graph
    saver.save(session, str(tmp_path / "model.ckpt"), global_step=1)
    session.run(add)
    assert tf.train.latest_checkpoint(tmp_path) is None
    session.gate.set()
    saver.wait()
    assert session.graph.finalized
    path = tf.train.latest_checkpoint(tmp_path)
    np.testing.assert_array_equal(tf.train.load_variable(path, "v"), np.float32([1, 2]))


def test_a_reader_of_the_model_dir_waits_for_the_write(variable_graph, tmp_path):
    session, _, saver = variable_graph
    saver.save(session, str(tmp_path / "model.ckpt"), global_step=1)
    threading.Timer(0.05, session.gate.set).start()
    assert integrity.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-1")


def test_the_graph_of_a_checkpoint_is_that_at_the_save(variable_graph, tmp_path):
    session, _, plain = variable_graph
    saver = AsyncSaver(plain._scaffold, writes_graph=True)
    saver.save(session, str(tmp_path / "model.ckpt"), global_step=1)
    with graphs.reopen_for_context(session.graph):
        tf.constant(1, name="added_during_the_write")
    session.gate.set()
    saver.wait()
    content = (tmp_path / "model.ckpt-1.meta").read_bytes()
    nodes = {node.name for node in v1.MetaGraphDef.FromString(content).graph_def.node}
    assert "v" in nodes
    assert "added_during_the_write" not in nodes


def test_joining_the_writer_waits_and_keeps_its_error(variable_graph, tmp_path):
    session, _, saver = variable_graph
    saver.save(session, str(tmp_path / "model.ckpt"), global_step=1)
    # The name that a user sees in a profiler.
    assert "checkpoint-writer" in [thread.name for thread in threading.enumerate()]
    threading.Timer(0.05, session.gate.set).start()
    saver.join_writer()
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "model.ckpt-1")
    session.error = tf.errors.ResourceExhaustedError(None, None, "No space left on device")
    saver.save(session, str(tmp_path / "model.ckpt"), global_step=2)
    saver.join_writer()
    with pytest.raises(CheckpointWriteError, match="checkpoint of step 2"):
        saver.wait()


def test_the_launcher_learns_of_each_written_checkpoint(variable_graph, tmp_path, monkeypatch):
    session, _, saver = variable_graph
    session.gate.set()
    told = tmp_path / "told"
    told.write_text("a longer text than the path of any checkpoint" * 10)
    monkeypatch.setenv("ESTIMATOR_TRAIN_CHECKPOINT_FILE", str(told))
    saver.save(session, str(tmp_path / "model.ckpt"), global_step=1)
    saver.wait()
    assert told.read_text() == str(tmp_path / "model.ckpt-1")
    session.error = tf.errors.ResourceExhaustedError(None, None, "No space left on device")
    saver.save(session, str(tmp_path / "model.ckpt"), global_step=2)
    saver.join_writer()
    assert told.read_text() == str(tmp_path / "model.ckpt-1")
    told.unlink()  # The launcher was killed.
    session.error = None
    monkeypatch.setattr(saver, "_error", None)
    saver.save(session, str(tmp_path / "model.ckpt"), global_step=3)
    saver.wait()
    assert not told.exists()


@pytest.mark.parametrize("lost", [tf.errors.AbortedError, tf.errors.UnavailableError])
def test_a_write_with_a_lost_session_raises_the_sessions_error(variable_graph, tmp_path, lost):
    session, _, saver = variable_graph
    session.error = lost(None, None, "the server is gone")
    saver.save(session, str(tmp_path / "model.ckpt"), global_step=1)
    session.gate.set()
    with pytest.raises(lost):
        saver.wait()
    assert list(tmp_path.iterdir()) == []


def _large_variables(features, labels, mode):
    # So large that the thread is still at it when the session closes.
    for number in range(20):
        v1.get_variable(f"v{number}", initializer=tf.ones([500_000]))
    step = v1.train.get_global_step()
    return est.EstimatorSpec(mode, loss=tf.reduce_mean(features), train_op=step.assign_add(1))


def test_an_error_after_a_save_does_not_lose_the_checkpoint(tmp_path):
    class Stop(est.SessionRunHook):
        def after_run(self, run_context, run_values):
            raise KeyboardInterrupt

    config = est.RunConfig(save_checkpoints_steps=1)
    with pytest.raises(KeyboardInterrupt):
        est.Estimator(_large_variables, tmp_path, config).train(
            lambda: tf.data.Dataset.from_tensors(tf.ones([2])), hooks=[Stop()]
        )
    assert tf.train.load_checkpoint(str(tmp_path)).get_tensor("global_step") == 1


def test_a_lost_session_does_not_lose_the_checkpoint_in_the_writer_thread(tmp_path):
    class LosesSession(est.SessionRunHook):
        sessions = 0
        restored: tuple[int, ...] = ()

        def after_create_session(self, session, coord):
            self.sessions += 1
            self.restored += (int(session.run(v1.train.get_global_step())),)

        def after_run(self, run_context, run_values):
            if self.sessions == 1:
                raise tf.errors.AbortedError(None, None, "lost")

    config = est.RunConfig(save_checkpoints_steps=1)
    hook = LosesSession()
    est.Estimator(_large_variables, tmp_path, config).train(
        lambda: tf.data.Dataset.from_tensors(tf.ones([2])).repeat(), hooks=[hook], max_steps=3
    )
    assert hook.restored == (0, 1)
    assert tf.train.load_checkpoint(str(tmp_path)).get_tensor("global_step") == 3


def test_a_users_saver_saves_synchronously(variable_graph, tmp_path):
    session, _, _ = variable_graph

    class Own(v1.train.Saver):
        def save(self, *args, **kwargs):
            self.thread = threading.current_thread()
            return super().save(*args, **kwargs)

    with graphs.reopen_for_context(session.graph), session.graph.as_default():
        own = Own()
    AsyncSaver(v1.train.Scaffold(saver=own)).save(session, str(tmp_path / "own.ckpt"))
    assert own.thread is threading.main_thread()
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "own.ckpt")


def test_a_users_saver_may_return_nothing(variable_graph, tmp_path):
    session, _, _ = variable_graph

    class Own(v1.train.Saver):
        def save(self, *args, **kwargs):
            super().save(*args, **kwargs)

    with graphs.reopen_for_context(session.graph), session.graph.as_default():
        own = Own()
    AsyncSaver(v1.train.Scaffold(saver=own)).save(session, str(tmp_path / "own"), global_step=3)
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "own-3")


class NeedsEvenSteps(v1.train.CheckpointSaverListener):
    def needs_checkpoint(self, global_step):
        return global_step % 2 == 0

    def after_save(self, session, global_step_value):
        pass


def test_training_does_not_wait_for_a_listener_that_needs_no_checkpoint(variable_graph, tmp_path):
    session, _, saver = variable_graph
    settled = WaitForWriteListener(saver, [NeedsEvenSteps()])
    saver.save(session, str(tmp_path / "model.ckpt"), global_step=1)
    settled.after_save(session, 1)
    assert tf.train.latest_checkpoint(tmp_path) is None
    session.gate.set()
    settled.after_save(session, 2)
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "model.ckpt-1")


def _contents(model_dir):
    paths = tf.train.get_checkpoint_state(model_dir).all_model_checkpoint_paths
    return {
        os.path.basename(path): {
            name: tf.train.load_variable(path, name).tolist()
            for name, _ in tf.train.list_variables(path)
        }
        for path in paths
    }


def test_synchronous_and_asynchronous_savers_write_equal_files(model_fn, input_fn, tmp_path):
    files, contents = [], []
    for mode in ("async", "sync"):
        config = est.RunConfig(
            save_checkpoints_steps=7, checkpoint_mode=mode, keep_checkpoint_max=3
        )
        estimator = est.Estimator(model_fn, tmp_path / mode, config)
        estimator.train(input_fn, steps=40)
        files.append(sorted(p for p in os.listdir(estimator.model_dir) if "tfevents" not in p))
        contents.append(_contents(estimator.model_dir))
    assert files[0] == files[1]
    assert contents[0] == contents[1]
    assert list(contents[0]) == ["model.ckpt-28", "model.ckpt-35", "model.ckpt-40"]


class Seen(v1.train.CheckpointSaverListener):
    """Notes, before and after each save, the latest checkpoint on disk."""

    def __init__(self, model_dir):
        self._model_dir = model_dir
        self.seen = []

    def _note(self, when, step):
        path = tf.train.latest_checkpoint(self._model_dir)
        self.seen.append((when, int(step), path and int(path.rsplit("-", 1)[1])))

    def before_save(self, session, global_step_value):
        self._note("before", global_step_value)

    def after_save(self, session, global_step_value):
        self._note("after", global_step_value)

    def end(self, session, global_step_value):
        self._note("end", global_step_value)


def test_listeners_find_the_written_checkpoint(model_fn, input_fn, tmp_path):
    seen = Seen(tmp_path)
    config = est.RunConfig(save_checkpoints_steps=5)
    est.Estimator(model_fn, tmp_path, config).train(input_fn, steps=8, saving_listeners=[seen])
    assert seen.seen == [
        ("before", 0, None),
        ("after", 0, 0),
        ("before", 5, 0),
        ("after", 5, 5),
        ("before", 8, 5),
        ("after", 8, 8),
        ("end", 8, 8),
    ]


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_a_failed_write_stops_training_and_keeps_the_last_checkpoint(
    model_fn, input_fn, tmp_path, mode
):
    os.makedirs(tmp_path / "model.ckpt-20.index" / "in the way")
    config = est.RunConfig(save_checkpoints_steps=20, checkpoint_mode=mode)
    estimator = est.Estimator(model_fn, tmp_path, config)
    with pytest.raises(OSError, match=r"checkpoint of step 20 could not be.*last one is.*ckpt-0"):
        estimator.train(input_fn, max_steps=10_000)
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "model.ckpt-0")
    assert estimator.evaluate(lambda: input_fn().take(1))["global_step"] == 0


def test_a_fault_after_a_failed_write_removes_no_checkpoint_of_the_same_step(
    model_fn, input_fn, tmp_path, monkeypatch
):
    est.Estimator(model_fn, tmp_path).train(input_fn, steps=5)
    files = sorted(path.name for path in tmp_path.glob("model.ckpt-5.*"))

    def fail(path, *args, **kwargs):
        raise OSError(116, "Stale file handle")

    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", fail)
        patched.setattr(os, "access", fail)
        patched.setattr(tf.io.gfile, "exists", lambda path: False)  # So TensorFlow reports it.
        remove_unfinished(str(tmp_path / "model.ckpt-5"))
    assert sorted(path.name for path in tmp_path.glob("model.ckpt-5.*")) == files


def test_steps_follow_while_a_store_is_slow_also_with_one_thread(tmp_path):
    assert forked.printed(Path(__file__).with_name("gated_job.py"), tmp_path) == [True, True]


def test_mirrored_variables_are_written_once(model_fn, input_fn, tmp_path):
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    config = est.RunConfig(train_distribute=strategy, save_checkpoints_steps=5)
    mirrored = est.Estimator(model_fn, tmp_path / "m", config).train(input_fn, steps=10)
    single = est.Estimator(model_fn, tmp_path / "s").train(input_fn, steps=10)
    for name in ("w", "global_step"):
        np.testing.assert_allclose(
            mirrored.get_variable_value(name), single.get_variable_value(name), rtol=1e-6
        )


NUMPY_TYPES = (
    *("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"),
    *("f2", "f4", "f8", "c8", "c16", "bfloat16"),
)
PACKED_TYPES = ("float8_e5m2", "float8_e4m3fn", "int4", "uint4")
SHAPES = ([], [1], [3], [2, 3], [0], [0, 2], [2, 0, 3])


def _value(dtype, shape):
    """Numbers that differ from each other and from the initial value of the second session."""
    dtype = getattr(ml_dtypes, dtype, dtype)
    return (np.arange(np.prod(shape, dtype=int)) + 1).reshape(shape).astype(dtype)


def _values():
    for dtype in NUMPY_TYPES + PACKED_TYPES:
        for shape in SHAPES:
            yield f"{dtype}_{len(shape)}_{np.prod(shape, dtype=int)}", _value(dtype, shape)
    for shape in SHAPES:
        text = np.asarray(_value("i4", shape).astype("S").astype(object))
        yield f"string_{len(shape)}_{text.size}", text


def _variables(values, is_resource, zeroed):
    with v1.variable_scope("", use_resource=is_resource):
        for name, value in values.items():
            is_text = value.dtype == object
            empty = np.full(value.shape, b"", object) if is_text else np.zeros_like(value)
            initial = tf.constant(empty if zeroed else value, tf.string if is_text else None)
            yield name, v1.get_variable(name, initializer=initial)


@pytest.mark.parametrize("is_resource", tiers.every(2, [True, False]))
def test_values_of_every_type_and_rank_are_saved_and_restored(tmp_path, is_resource):
    # A reference variable of a packed type cannot be assigned, so that no program has one.
    values = dict(_values())
    if not is_resource:
        values = {name: v for name, v in values.items() if not name.startswith(PACKED_TYPES)}
    with tf.Graph().as_default(), v1.Session() as session:
        made = dict(_variables(values, is_resource, zeroed=False))
        scaffold = v1.train.Scaffold(saver=v1.train.Saver(made)).finalize()
        session.run(scaffold.init_op)
        saver = AsyncSaver(scaffold)
        saver.save(session, str(tmp_path / "model.ckpt"), global_step=1)
        assert saver._thread is not None
        saver.wait()
    assert integrity.find_damage(str(tmp_path / "model.ckpt-1")) is None
    with tf.Graph().as_default(), v1.Session() as session:
        made = dict(_variables(values, is_resource, zeroed=True))
        session.run(v1.global_variables_initializer())
        v1.train.Saver(made).restore(session, str(tmp_path / "model.ckpt-1"))
        restored = session.run(made)
    for name, value in values.items():
        np.testing.assert_array_equal(restored[name], value, name)
        assert np.shape(restored[name]) == value.shape


@pytest.mark.parametrize("partwise", [False, True])
def test_large_variables_are_copied_one_after_another_or_written_two_at_a_time(
    tmp_path, monkeypatch, partwise
):
    monkeypatch.setattr(large_values, "_LARGE_BYTES", 500)
    monkeypatch.setattr(async_saver, "MAX_COPIED_BYTES", 0 if partwise else 2**30)
    values = {f"v{n}": np.random.RandomState(n).rand(100, n + 1).astype("f") for n in range(5)}
    values["count"] = np.int64(7)
    with tf.Graph().as_default() as graph:
        for name, value in values.items():
            v1.get_variable(name, initializer=value, use_resource=name != "v2")
        axis = v1.fixed_size_partitioner(3)
        ones = tf.ones_initializer()
        v1.get_variable("w", [90, 5], initializer=ones, partitioner=axis, use_resource=True)
        scaffold = v1.train.Scaffold(saver=v1.train.Saver(sharded=True))
        scaffold.finalize()
        with v1.Session() as session:
            session.run(scaffold.init_op)
            saver = AsyncSaver(scaffold)
            for step in (1, 2):
                saver.save(session, str(tmp_path / "model.ckpt"), global_step=step)
                saver.wait()
            reads = [op for op in graph.get_operations() if op.name.startswith("checkpoint_")]
            scaffold.saver.restore(session, str(tmp_path / "model.ckpt-2"))
    path = tf.train.latest_checkpoint(tmp_path)
    assert path == str(tmp_path / "model.ckpt-2")
    for name, value in {**values, "w": np.ones([90, 5])}.items():
        np.testing.assert_array_equal(tf.train.load_variable(path, name), value)
    assert (len(list(tmp_path.glob("model.ckpt-2.data*"))) > 1) == partwise
    assert not list(tmp_path.glob("*_temp*"))
    ordered = [op for op in reads if op.type == "ReadVariableOp" and op.control_inputs]
    assert len(ordered) >= 4
    writes = [op for op in reads if op.type == "SaveV2"]
    assert len(writes) == (7 if partwise else 0)
    for before, write in zip(writes, writes[2:], strict=False):
        values = [value.op for value in write.inputs[3:] if value.op.type == "ReadVariableOp"]
        assert values
        assert all(value.control_inputs == [before] for value in values)
    assert integrity.latest_checkpoint(str(tmp_path)) == path
