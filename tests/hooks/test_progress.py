"""ProgressHook: exact lines with a clock of the test, and a bar in a pseudo-terminal."""

import fcntl
import io
import os
import pty
import re
import struct
import termios
import threading

import pytest
import tensorflow as tf

from estimator_train.hooks import ProgressHook

tf1 = tf.compat.v1


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def train(hook, clock, seconds, first=0, loss=True):
    """Runs a step for each of `seconds`; the loss of step n is 1/n."""
    with tf.Graph().as_default():
        step = tf1.train.create_global_step()
        after = tf1.assign_add(step, 1)
        if loss:
            tf1.add_to_collection(tf1.GraphKeys.LOSSES, tf.constant(7.0))
            tf1.add_to_collection(tf1.GraphKeys.LOSSES, 1 / tf.cast(after, tf.float32))
        start = tf1.train.Scaffold(init_fn=lambda _, session: step.load(first, session))
        creator = tf1.train.ChiefSessionCreator(start)
        with tf1.train.MonitoredSession(creator, hooks=[hook]) as session:
            for duration in seconds:
                clock.now += duration
                session.run(after)


def lines(seconds, first=0, loss=True, **arguments):
    stream, clock = io.StringIO(), Clock()
    train(ProgressHook(stream=stream, clock=clock, **arguments), clock, seconds, first, loss)
    return stream.getvalue().splitlines()


def test_lines_at_the_first_step_each_interval_and_the_end():
    assert lines([4.0] + [0.5] * 49, last_step=50, batch_size=32) == [
        "step 1/50 (2%)  loss 1",
        "step 21/50 (42%)  loss 0.04762  2 steps/s  64 examples/s  14.5 s left",
        "step 41/50 (82%)  loss 0.02439  2 steps/s  64 examples/s  4.5 s left",
        "step 50/50 (100%)  loss 0.02  1.75 steps/s  56.1 examples/s  done in 28.5 s",
    ]


def test_rates_of_a_continued_training_count_only_its_own_steps():
    assert lines([1.0] * 4, first=1000, last_step=1004, every_secs=2) == [
        "step 1001/1004 (99%)  loss 0.000999",
        "step 1003/1004 (99%)  loss 0.000997  1 steps/s  1.0 s left",
        "step 1004/1004 (100%)  loss 0.000996  1 steps/s  done in 4.0 s",
    ]


def test_lines_without_a_known_end_or_a_loss():
    assert lines([0.001] * 2001, every_secs=1, loss=False) == [
        "step 1",
        "step 1001  1,000 steps/s",
        "step 2001  1,000 steps/s",
        "step 2001  1,000 steps/s  done in 2.0 s",
    ]


def test_long_durations_are_shown_in_hours_and_minutes():
    assert lines([30.0, 60.0], last_step=100)[1:] == [
        "step 2/100 (2%)  loss 0.5  0.0167 steps/s  1:38:00 left",
        "step 2/100 (2%)  loss 0.5  0.0222 steps/s  done in 0:01:30",
    ]


def test_last_step_may_come_from_the_session():
    def seven(session):
        return session.run(session.graph.get_collection(tf1.GraphKeys.LOSSES)[0]).astype(int)

    assert lines([1.0], first=2, last_step=seven)[0] == "step 3/7 (42%)  loss 0.3333"


def test_an_error_leaves_the_lines_and_close_ends_the_display():
    stream, clock = io.StringIO(), Clock()
    hook = ProgressHook(stream=stream, clock=clock)
    with pytest.raises(RuntimeError, match="lost"):
        train(hook, clock, fail_after(2))
    hook.close()
    assert stream.getvalue() == "step 1  loss 1\n"


def test_steps_run_in_a_loop_until_the_next_display_is_due():
    stream, clock = io.StringIO(), Clock()
    hook = ProgressHook(stream=stream, clock=clock, every_secs=5)
    with tf.Graph().as_default():
        step = tf1.train.create_global_step()
        train_op = tf1.assign_add(step, 1)

        def nine_steps(step_context):
            for _ in range(9):
                step_context.session.run(train_op)

        with tf1.train.MonitoredSession(hooks=[hook]) as session:
            assert hook.steps_until_due(0) == 1
            session.run(train_op)
            assert hook.steps_until_due(1) is None
            clock.now += 4.0
            session.run_step_fn(nine_steps)
            hook.after_loop(9, 0.25)
            assert hook.steps_until_due(10) is None
            clock.now += 1.0
            assert hook.steps_until_due(10) == 1
            session.run(train_op)
    assert stream.getvalue().splitlines() == [
        "step 1",
        "step 11  loss 0.25  2 steps/s",
        "step 11  loss 0.25  2.2 steps/s  done in 5.0 s",
    ]


def fail_after(steps):
    for _ in range(steps):
        yield 1.0
    raise RuntimeError("lost")


def on_terminal(columns, run):
    """Returns what `run(stream)` writes to a pseudo-terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", columns // 4, columns, 0, 0))
    written = []

    def read():
        try:
            while chunk := os.read(ours, 4096):
                written.append(chunk)
        except OSError:  # Linux says so when the other side is closed.
            pass

    reader = threading.Thread(target=read)
    reader.start()
    with os.fdopen(theirs, "w", encoding="utf-8") as stream:
        run(stream)
    reader.join()
    os.close(ours)
    return b"".join(written).decode("utf-8")


@pytest.mark.parametrize("columns", [0, 100])
def test_on_a_terminal_a_bar_redraws_itself_in_one_line(columns):
    clock = Clock()
    text = on_terminal(
        columns,
        lambda stream: train(
            ProgressHook(stream=stream, clock=clock, last_step=40, batch_size=8),
            clock,
            [0.2] * 20,
            first=20,
        ),
    )
    assert text.count("\n") == 1
    frames = text.split("\r")
    assert "train:  50%|" in frames[1]
    last = frames[-2]
    assert "train: 100%|" in last
    assert re.search(r"40/40 \[00:0\d<00:00, [\d,.]+ examples/s, loss 0\.025\]", last)


def test_on_a_terminal_without_a_known_end_steps_are_counted():
    clock = Clock()
    text = on_terminal(
        80, lambda stream: train(ProgressHook(stream=stream, clock=clock), clock, [0.2] * 3)
    )
    last = text.split("\r")[-2]
    assert re.search(r"train: step 3 \[00:0\d, [\d,.]+ steps/s, loss 0\.3333\]", last)


@pytest.mark.parametrize("name", ["batch_size", "every_secs"])
def test_bad_arguments_are_rejected(name):
    with pytest.raises(ValueError, match=f"{name} must be positive, but got 0"):
        ProgressHook(**{name: 0})
