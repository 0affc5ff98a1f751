"""Workers that wait for the chief, in a session whose model becomes ready at some look."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_train.engine.sessions import session
from estimator_train.engine.sessions.session import PromptSessionCreator

tf1 = tf.compat.v1


@pytest.fixture
def creator_and_looks(monkeypatch):
    """Returns a session creator whose model is ready at the n-th check, and the checks."""
    monkeypatch.setattr(session, "_POLL_SECS", 0.01)
    looks = []

    def make(ready_at, max_wait_secs):
        def not_ready():
            looks.append(len(looks))
            return np.array(["weights"] if len(looks) < ready_at else [], object)

        scaffold = tf1.train.Scaffold(ready_op=tf.numpy_function(not_ready, [], tf.string))
        return PromptSessionCreator(scaffold, "", tf1.ConfigProto(), max_wait_secs), looks

    with tf.Graph().as_default():
        yield make


def test_a_worker_polls_until_the_model_is_ready_and_logs_once(creator_and_looks, caplog):
    caplog.set_level("INFO", logger="tensorflow")
    creator, looks = creator_and_looks(ready_at=4, max_wait_secs=None)
    for sessions in (1, 2):  # A failed session is created again, and waits again.
        creator.create_session().close()
        assert len(looks) == 4
        assert caplog.text.count("Waiting for model to be ready.") == sessions
        looks.clear()


def test_the_wait_ends_at_its_limit(creator_and_looks):
    creator, looks = creator_and_looks(ready_at=10**6, max_wait_secs=0.2)
    with pytest.raises(tf.errors.DeadlineExceededError, match="not ready after waiting 0 secs"):
        creator.create_session()
    assert looks
