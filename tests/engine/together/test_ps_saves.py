"""How far training goes before the next checkpoint, on a real parameter server in this process."""

import contextlib
import itertools

import pytest
import tensorflow as tf

from estimator_train.engine.checkpoints.save_schedule import SaveSchedule
from estimator_train.engine.tf_internals import tf_hooks
from estimator_train.engine.together import ps_saves
from estimator_train.engine.together.ps_saves import SavePacingListener, WaitForSaveHook
from estimator_train.launcher.network import find_free_addresses

tf1 = tf.compat.v1
_containers = itertools.count()


@pytest.fixture(scope="module")
def target():
    """Returns the server of a parameter server."""
    cluster = {"ps": find_free_addresses(1)}
    return tf.distribute.Server(cluster, job_name="ps", task_index=0).target


class Training:
    """Steps of a job on the parameter server; it ends at a step, or when a hook stops it."""

    def __init__(self, target, last):
        self.target, self.last, self.graph = target, last, tf.Graph()
        # Each test has its own variables on the server.
        self.container = f"test{next(_containers)}"
        with self.in_graph():
            self.step = tf1.train.create_global_step()
            self.made = self.step.assign_add(1)
            tf_hooks.read_step_before_increment(self.step, self.made)
            self.limit, self.writing = ps_saves._create_shared_counters()

    @contextlib.contextmanager
    def in_graph(self):
        with self.graph.as_default(), self.graph.container(self.container):
            yield

    def run(self, hooks):
        """Trains; returns the global step at the end."""
        stop = tf1.train.StopAtStepHook(last_step=self.last)
        steps = []
        with self.in_graph():
            creator = tf1.train.ChiefSessionCreator(master=self.target)
            with tf1.train.MonitoredSession(creator, [stop, *hooks]) as session:
                while not session.should_stop():
                    steps.append(int(session.run(self.made)))
        return steps[-1]

    def tell(self, session, **what):
        for name, value in what.items():
            getattr(self, name).set(session, value)


class Worker(tf1.train.SessionRunHook):
    """A worker's wait; `elsewhere` is what other tasks do during the wait."""

    def __init__(self, training, elsewhere, limit):
        self.training, self.elsewhere, self.limit = training, elsewhere, limit
        self.waited_at = []

    def after_create_session(self, session, coord):
        self.raw = session
        self.training.tell(session, limit=self.limit)

    def is_over(self):
        self.waited_at.append(int(self.raw.run(self.training.step)))
        return bool(self.elsewhere(len(self.waited_at)))

    def run(self, until=None):
        return self.training.run([self, WaitForSaveHook(self.is_over, until)])


def test_a_worker_waits_at_the_limit_until_the_next_checkpoint_is_written(target):
    training = Training(target, last=25)

    def saved_after_three_looks(looks):
        if looks == 4:
            training.tell(worker.raw, limit=20)
        return looks > 5  # The chief ends while this one waits at the second limit.

    worker = Worker(training, saved_after_three_looks, limit=10)
    assert worker.run() == 25
    # Not beyond 10, then not beyond 20; what comes after the end is no step of this hook's.
    assert worker.waited_at == [10, 10, 10, 10, 20, 20, 21, 22, 23, 24, 25]


def test_a_worker_does_not_wait_where_it_leaves_the_last_steps(target):
    worker = Worker(Training(target, last=12), lambda looks: False, limit=10)
    assert worker.run(until=10) == 12
    assert worker.waited_at == [10, 11, 12]


def test_a_worker_waits_only_for_a_chief_that_writes(target, monkeypatch, caplog):
    monkeypatch.setattr(ps_saves, "_MAX_WAIT_SECS", 0.05)
    training = Training(target, last=15)

    def writes_for_long(looks):
        if looks in (1, 30):
            training.tell(worker.raw, writing=int(looks == 1))

    worker = Worker(training, writes_for_long, limit=10)
    assert worker.run() == 15
    # Thirty looks take 0.6 s at the least. Given up once, this limit is not heeded any more.
    assert len(worker.waited_at) >= 30
    assert set(worker.waited_at) == {10}
    assert caplog.text.count("has written no checkpoint") == 1


class Saved(tf1.train.CheckpointSaverListener):
    """Records the steps of checkpoints, and the value published after each."""

    def __init__(self, training):
        self.training, self.at, self.told = training, [], []

    def before_save(self, session, global_step_value):
        self.is_writing = session.run(self.training.writing.value)

    def after_save(self, session, global_step_value):
        training = self.training
        limit, writing = session.run([training.limit.value, training.writing.value])
        assert (self.is_writing, writing) == (1, 0)
        self.at.append(int(global_step_value))
        self.told.append(int(limit))


@pytest.mark.parametrize(
    ("every", "trainers", "unseen"), [(40, 3, 0), (10, 3, 0), (40, 30, 0), (40, 3, 5)]
)
def test_the_chief_saves_before_an_interval_is_over(target, tmp_path, every, trainers, unseen):
    training = Training(target, last=200)
    saved = Saved(training)
    with training.in_graph():
        saver = tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=every, listeners=[saved])
    pacing = SavePacingListener(SaveSchedule([saver], []), every, None, trainers, unseen)
    tf_hooks.add_listeners(saver, [pacing], first=True)
    training.run([saver])
    under_way = (3 + unseen) * (trainers - 1) + 1
    least, most = every - every // 2, max(every - under_way, every - every // 2)
    between = [after - before for before, after in itertools.pairwise(saved.at[:-1])]
    assert between
    assert set(between) <= set(range(least, most + 1))
    # The others may make steps until so many are left of the interval as may be under way.
    assert all(limit == at + most for at, limit in zip(saved.at, saved.told, strict=True))
    with tf1.Session(target, graph=training.graph) as session:
        assert session.run(training.limit.value) == tf.int64.max


def test_an_interval_in_seconds_begins_earlier_by_the_duration_of_the_last_save(target, tmp_path):
    training = Training(target, last=3)
    with training.in_graph():
        saver = tf1.train.CheckpointSaverHook(str(tmp_path), save_secs=600)
    tf_hooks.add_listeners(
        saver, [SavePacingListener(SaveSchedule([saver], []), None, 600, 3, 0)], first=True
    )
    training.run([saver])
    assert 300 <= saver._timer._every_secs < 600
