"""The choice between loops of uncompiled and of compiled steps."""

import contextlib
import logging

import numpy as np
import pytest
import tensorflow as tf

from estimator_train.engine.loops import prepared_calls, xla_choice
from estimator_train.engine.loops.graph_loop import build_loop
from estimator_train.engine.loops.prepared_calls import _SECS_BEFORE_TRIAL
from estimator_train.engine.loops.xla_choice import LoopChoice

tf1 = tf.compat.v1
LARGE = np.full([400, 400], 0.0025, np.float32)


class Counter:
    """Variable that steps increment, some of them with a large product."""

    def __init__(self):
        self.count = tf1.get_variable(
            "count", [], initializer=tf1.zeros_initializer(), use_resource=True
        )

    def build(self, compiled, products=0, text=False):
        loss = self.count.read_value()
        if products:
            matrix = tf.fill([400, 400], 1 + 0 * loss)
            for _ in range(products):
                matrix = tf.matmul(matrix, LARGE)
            loss = matrix[0, 0]
        if text:
            loss = tf.strings.to_number(tf.strings.as_string(loss))
        with tf.control_dependencies([loss]):
            train_op = self.count.assign_add(1.0, read_value=False)
        return build_loop(train_op, loss, compiled=compiled)


@contextlib.contextmanager
def open_choice(plain, *candidates):
    """Yields a session, the choice between loops, and the variable that they increment."""
    with tf.Graph().as_default(), tf1.Session() as session:
        counter = Counter()
        loops = [counter.build("auto", **settings) for settings in candidates]
        choice = LoopChoice(counter.build(False, **plain), loops)
        session.run(counter.count.initializer)
        yield session, choice, loops, counter.count


def run_until_decided(session, choice, steps=20):
    """Returns the number of steps that ran until the choice."""
    done = 0
    choice.start(session, None)
    while not choice.is_decided:
        done += choice.run(session, steps)[0]
    return done


def test_the_faster_loop_of_compiled_steps_is_chosen(caplog):
    with open_choice({"products": 3}, {}) as (session, choice, [loop], count):
        choice.start(session, None)
        done = [choice.run(session, 20)[0]]
        assert choice.chosen is None  # It compiles.
        choice.wait()
        with caplog.at_level(logging.INFO):
            done.append(run_until_decided(session, choice))
        assert choice.chosen is loop
        done.append(choice.run(session, 20)[0])
        assert session.run(count) == sum(done)
        assert done[0] == done[-1] == 20
    assert "Training runs with XLA: a step takes " in caplog.text


def test_compiled_steps_compete_with_the_faster_executor_of_uncompiled_ones(monkeypatch):
    monkeypatch.setattr(xla_choice, "_CLEAR_FACTOR", np.inf)
    monkeypatch.setattr(prepared_calls, "_STEPS_BEFORE_TRIAL", 0)
    with open_choice({"products": 3}, {}) as (session, choice, [loop], _):
        run_until_decided(session, choice)
        # Their executor is chosen after this time, and again if a step then takes another time.
        assert choice._uncompiled._calls._total >= _SECS_BEFORE_TRIAL
        assert choice.chosen is loop


@pytest.mark.long
def test_slow_compiled_steps_run_seldom_and_are_not_chosen(caplog):
    with open_choice({}, {"products": 24}) as (session, choice, [loop], count):
        with caplog.at_level(logging.INFO):
            done = run_until_decided(session, choice)
        # One call prepares the loop, one measures it.
        assert len(choice._calls[loop].secs) == 1
        assert choice.chosen is None
        assert choice.run(session, 20)[0] == 20
        assert session.run(count) == done + 20
    assert "Training runs without XLA: a step takes " in caplog.text


@pytest.mark.long
def test_candidates_are_tried_until_one_is_faster(caplog):
    candidates = {"text": True}, {"products": 24}, {}, {"products": 1}
    with open_choice({"products": 3}, *candidates) as (session, choice, loops, count):
        with caplog.at_level(logging.INFO):
            done = run_until_decided(session, choice)
        assert choice.chosen is loops[2]
        assert [len(choice._calls[loop].secs) for loop in loops] == [0, 1, 3, 0]
        assert session.run(count) == done
    assert caplog.text.count("XLA") == 1


def test_a_step_that_does_not_compile_is_named(caplog):
    with open_choice({}, {"text": True}) as (session, choice, _, _):
        with caplog.at_level(logging.INFO):
            run_until_decided(session, choice)
        assert choice.chosen is None
    assert "without XLA, which cannot compile its step: 'AsString' (AsString)." in caplog.text


def test_a_new_session_begins_again_before_the_choice_and_keeps_it_after():
    with open_choice({"products": 3}, {}) as (session, choice, [loop], count):
        choice.start(session, None)
        choice.run(session, 5)
        choice.wait()
        with tf1.Session() as second:
            second.run(count.initializer)
            done = run_until_decided(second, choice)
            assert second.run(count) == done
            assert choice.chosen is loop
        with tf1.Session() as third:
            third.run(count.initializer)
            choice.start(third, None)
            assert choice.run(third, 30)[0] == 30
            assert third.run(count) == 30
            assert choice.chosen is loop


def test_the_end_of_the_input_is_read_from_the_loop_that_ran():
    with tf.Graph().as_default(), tf1.Session() as session:
        iterator = tf1.data.make_initializable_iterator(tf.data.Dataset.range(7))
        value = tf.cast(iterator.get_next(), tf.float32)
        loops = [build_loop(value.op, value, compiled=compiled) for compiled in (False, "auto")]
        choice = LoopChoice(loops[0], loops[1:])
        session.run(iterator.initializer)
        choice.start(session, None)
        assert choice.run(session, 4)[:2] == (4, 3.0)
        with pytest.raises(tf.errors.OutOfRangeError):
            choice.run(session, 4)
        assert choice.read_interrupted(session) == (3, 6.0)
        choice.wait()
