"""The last steps of asynchronous training, in one process: other workers are what a test says."""

import socket

import pytest
import tensorflow as tf

from estimator_train.engine.tf_internals import tf_hooks
from estimator_train.engine.together.ps_final_steps import (
    PauseBeforeFinalStepsHook,
    WaitBeforeFinalStepsHook,
)

tf1 = tf.compat.v1
LAST = 20


@pytest.fixture
def address():
    """Returns the address of a running server."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


PAUSED = LAST - 7


class Training(tf1.train.SessionRunHook):
    """Counts steps, its own and those that others make."""

    def after_create_session(self, session, coord):
        self.raw = session

    def end(self, session):
        self.last = session.run(self.step)

    def __init__(self, first=0):
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.step = tf1.train.create_global_step()
            self.made = self.step.assign_add(1)
            tf_hooks.read_step_before_increment(self.step, self.made)
            self.initial = self.step.assign(first)
            self.scaffold = tf1.train.Scaffold(init_op=self.initial)

    def run(self, hooks):
        """Trains until a hook stops it; returns the last global step."""
        with self.graph.as_default():
            session = tf1.train.MonitoredSession(
                tf1.train.ChiefSessionCreator(self.scaffold), [self, *hooks]
            )
            with session:
                while not session.should_stop():
                    session.run(self.made)
            return self.last


class Pauses:
    """What a worker says of its pauses; `when` is called as one begins, and may end training."""

    def __init__(self, when):
        self.said, self._when, self._is_over = [], when, False

    def tell(self, pauses):
        self.said.append(pauses)
        self._is_over = pauses and self._when()

    @property
    def hook(self):
        return PauseBeforeFinalStepsHook(LAST, 3, self.tell, lambda: self._is_over, 60.0)


def test_a_worker_reserves_steps_for_those_that_other_workers_run():
    training, pauses = Training(), Pauses(lambda: True)
    assert training.run([pauses.hook]) == PAUSED
    assert pauses.said == [False, True]


@pytest.mark.parametrize("first", [LAST - 7, LAST])
def test_a_late_worker_runs_no_step(first):
    assert Training(first).run([Pauses(lambda: True).hook]) == first


def test_a_worker_continues_after_the_chief_restores_an_older_step():
    training = Training()

    def back_at_first():
        if len(pauses.said) > 2:
            return True
        training.raw.run(training.initial)
        return False

    pauses = Pauses(back_at_first)
    assert training.run([pauses.hook]) == PAUSED
    assert pauses.said == [False, True, False, True]


@pytest.mark.parametrize("under_way", [0, 1, 4])
def test_the_chief_waits_for_running_steps_and_ends_at_the_last_step(address, under_way):
    training, said = Training(), []

    def at_rest():
        said.append(training.raw.run(training.step))
        if len(said) > under_way:
            return {"worker:0", "worker:1"}
        training.raw.run(training.made)  # One of the others ends its step.
        return {"worker:1"}

    others = {"worker:0": address, "worker:1": address}
    hooks = [
        WaitBeforeFinalStepsHook(LAST, others, at_rest),
        tf1.train.StopAtStepHook(last_step=LAST),
    ]
    assert training.run(hooks) == LAST
    assert said == list(range(PAUSED, PAUSED + 1 + under_way))


def test_the_chief_does_not_wait_for_workers_that_have_ended(address):
    training = Training(LAST - 2)
    with socket.socket() as silent:  # It has the port, but does not listen.
        silent.bind(("127.0.0.1", 0))
        others = {"worker:0": f"127.0.0.1:{silent.getsockname()[1]}", "worker:1": address}
        hooks = [
            WaitBeforeFinalStepsHook(LAST, others, lambda: {"worker:1"}),
            tf1.train.StopAtStepHook(last_step=LAST),
        ]
        assert training.run(hooks) == LAST
