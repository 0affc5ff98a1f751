"""TimeHistory: exact figures with a clock of the test."""

import itertools

import pytest
import tensorflow as tf

from estimator_train.hooks import TimeHistory

tf1 = tf.compat.v1


def run_steps(hook, count):
    with tf.Graph().as_default():
        step = tf1.train.create_global_step()
        train = tf1.assign_add(step, 1)
        with tf1.train.MonitoredSession(hooks=[hook]) as session:
            for _ in range(count):
                session.run(train)


def clock_for(durations, pause=10.0):
    """Returns a clock with steps of `durations` and 10 s between two steps."""
    times = itertools.accumulate(itertools.chain.from_iterable((pause, d) for d in durations))
    return lambda: next(times)


def timed(durations, **arguments):
    hook = TimeHistory(clock=clock_for(durations), **arguments)
    run_steps(hook, len(durations))
    return hook


def test_times_hold_each_step_and_nothing_between_steps():
    assert timed([4.0, 0.25, 0.5]).times == [4.0, 0.25, 0.5]


def test_total_time_counts_the_warm_up_and_the_mean_does_not():
    hook = timed([4.0, 0.25, 0.75])
    assert hook.total_time == 5.0
    assert hook.mean_batch_time == 0.5


def test_examples_per_second_are_those_of_the_global_batch_after_the_warm_up():
    assert timed([4.0, 0.25, 0.75], batch_size=64).examples_per_second == 128.0


def test_percentiles_leave_out_as_many_steps_as_warm_up_says():
    hook = timed([9.0, 8.0, 1.0, 2.0, 3.0], warmup_steps=2)
    assert hook.percentile(50) == 2.0
    assert list(hook.percentile([0, 75, 100])) == [1.0, 2.5, 3.0]


def test_steps_that_are_all_warm_up_still_give_figures():
    assert timed([2.0], batch_size=4).examples_per_second == 2.0


def test_report_is_one_line_with_all_figures():
    hook = timed([1.005, 0.004, 0.005, 0.006], batch_size=32)
    assert hook.report() == (
        "4 steps in 1.02 s, 5.00 ms a step (p50 5.00, p90 5.80, p99 5.98), 6,400 examples/s"
    )


def test_steps_in_a_loop_have_equal_shares_of_its_time():
    clock = iter([0.0, 5.0, 20.0])
    hook = TimeHistory(batch_size=10, warmup_steps=0, clock=lambda: next(clock))
    assert hook.steps_until_due(0) is None
    hook.after_loop(4, loss=0.5)
    assert hook.times == [1.25] * 4
    assert hook.examples_per_second == 8.0


def test_report_uses_the_given_unit():
    assert timed([1.0, 0.5], batch_size=8).report("images").endswith(", 16 images/s")


def test_report_without_batch_size_has_no_examples():
    assert timed([1.0, 0.5]).report() == (
        "2 steps in 1.50 s, 500.00 ms a step (p50 500.00, p90 500.00, p99 500.00)"
    )


def test_a_new_session_discards_earlier_times():
    hook = TimeHistory(clock=clock_for([1.0, 2.0, 3.0]))
    run_steps(hook, 2)
    run_steps(hook, 1)
    assert hook.times == [3.0]


def test_real_clock_times_real_steps():
    hook = TimeHistory()
    run_steps(hook, 3)
    assert len(hook.times) == 3
    assert 0 < hook.mean_batch_time < hook.total_time


def test_no_steps():
    hook = TimeHistory()
    assert hook.report() == "no steps timed"
    assert hook.total_time == 0.0
    with pytest.raises(ValueError, match="timed no step"):
        _ = hook.mean_batch_time


def test_examples_per_second_needs_a_batch_size():
    with pytest.raises(ValueError, match=r"needs TimeHistory\(batch_size"):
        _ = timed([1.0]).examples_per_second


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch_size": 0}, "batch_size must be positive, but got 0"),
        ({"warmup_steps": -1}, "warmup_steps must not be negative, but got -1"),
    ],
)
def test_bad_arguments_are_rejected(arguments, message):
    with pytest.raises(ValueError, match=message):
        TimeHistory(**arguments)
