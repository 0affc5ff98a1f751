"""Hooks that measure steps: TimeHistory with a clock of the test, profiles of a range of steps."""

import itertools
import logging

import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.hooks import ProfileHook, TimeHistory

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


def model_fn(features, mode):
    w = tf1.get_variable("w", [2, 1], initializer=tf1.zeros_initializer())
    loss = tf.reduce_mean((tf.matmul(features, w, name="my_product") - 1) ** 2)
    train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(loss, tf1.train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(batches=None):
    return tf.data.Dataset.from_tensors([[1.0, 2.0]]).repeat(batches)


def profiles(model_dir):
    return [path.read_bytes() for path in model_dir.glob("plugins/profile/*/*.xplane.pb")]


def test_only_the_steps_of_the_range_are_profiled(tmp_path):
    estimator = est.Estimator(model_fn, str(tmp_path))
    seen = []

    class Watched(ProfileHook):
        def before_run(self, run_context):
            seen.append(self._step)
            return super().before_run(run_context)

    estimator.train(input_fn, steps=60, hooks=[Watched("30:34", str(tmp_path))])
    (profile,) = profiles(tmp_path)
    assert b"my_product" in profile
    assert b"ResourceApplyGradientDescent" in profile
    # Also the first steps and those of a log line: all others ran in loops.
    assert {30, 31, 32, 33} <= set(seen)
    assert len(seen) < 12


def test_a_training_that_ends_within_the_range_writes_a_shorter_profile(tmp_path, caplog):
    estimator = est.Estimator(model_fn, str(tmp_path))
    estimator.train(lambda: input_fn(7), hooks=[ProfileHook((5, 100), str(tmp_path))])
    assert len(profiles(tmp_path)) == 1


@pytest.mark.parametrize(
    ("steps", "reason"),
    [((50, 60), "training ended at global step 4"), ((0, 3), "training begins at global step 4")],
)
def test_a_range_outside_the_training_logs_a_warning(tmp_path, caplog, steps, reason):
    estimator = est.Estimator(model_fn, str(tmp_path))
    if steps[0] == 0:
        estimator.train(input_fn, steps=4)
    with caplog.at_level(logging.WARNING):
        estimator.train(input_fn, steps=4, hooks=[ProfileHook(steps, str(tmp_path / "p"))])
    first, last = steps
    assert f"Did not profile steps {first}:{last}: {reason}." in caplog.text
    assert profiles(tmp_path / "p") == []


def test_a_second_simultaneous_profile_logs_a_warning(tmp_path, caplog):
    estimator = est.Estimator(model_fn, str(tmp_path))
    hooks = [ProfileHook((1, 9), str(tmp_path / name)) for name in "ab"]
    estimator.train(input_fn, steps=10, hooks=hooks)
    assert "Did not profile steps 1:9: another profile is running" in caplog.text
    assert [len(profiles(tmp_path / name)) for name in "ab"] == [1, 0]


def test_close_ends_the_profile_after_an_error(tmp_path):
    class Fails(est.SessionRunHook):
        def after_run(self, run_context, run_values):
            raise RuntimeError("stop here")

    for number in range(2):
        hook = ProfileHook((0, 9), str(tmp_path / str(number)))
        estimator = est.Estimator(model_fn, str(tmp_path / "model"))
        with pytest.raises(RuntimeError, match="stop here"):
            estimator.train(input_fn, steps=3, hooks=[hook, Fails()])
        hook.close()
        assert len(profiles(tmp_path / str(number))) == 1


@pytest.mark.parametrize("steps", ["100", "9:9", "-1:4", "a:b", (3, 2), (1,), (True, 2), (0.5, 2)])
def test_a_bad_range_is_named(steps):
    with pytest.raises(ValueError, match="such as 100:110, got ") as error:
        ProfileHook(steps, "logs")
    assert repr(steps) in str(error.value)
