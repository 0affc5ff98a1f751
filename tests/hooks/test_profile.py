"""ProfileHook: profiles of a range of steps, read from the files for TensorBoard."""

import logging

import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.hooks import ProfileHook

tf1 = tf.compat.v1


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
