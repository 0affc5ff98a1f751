import os
import signal
import sys

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est


class Record(tf.compat.v1.train.SessionRunHook):
    """Notes the global step that hooks see with each step, as TensorFlow's own hooks read it."""

    def __init__(self):
        self.steps = []

    def begin(self):
        self.counter = est.StepCounterHook(every_n_steps=10**9)
        self.counter.begin()

    def before_run(self, run_context):
        return self.counter.before_run(run_context)

    def after_run(self, run_context, run_values):
        self.steps.append(int(run_values.results))


def test_weights_equal_those_of_gradient_descent(model_fn, input_fn, gradient_descent, tmp_path):
    estimator = est.Estimator(model_fn, tmp_path).train(input_fn, steps=20)
    np.testing.assert_allclose(
        estimator.get_variable_value("w"), gradient_descent(20), rtol=1e-5, atol=1e-6
    )
    assert estimator.get_variable_value("global_step") == 20


def test_training_in_two_parts_restarts_the_input_but_not_the_weights(
    model_fn, input_fn, gradient_descent, tmp_path
):
    # 8 steps are one epoch here, so the input of both halves begins with the first example.
    for max_steps in (8, 16, 16):
        estimator = est.Estimator(model_fn, tmp_path).train(input_fn, max_steps=max_steps)
    np.testing.assert_allclose(
        estimator.get_variable_value("w"), gradient_descent(16), rtol=1e-5, atol=1e-6
    )


def test_hooks_see_the_step_before_each_increment(model_fn, input_fn, tmp_path):
    record = Record()
    est.Estimator(model_fn, tmp_path).train(input_fn, steps=200, hooks=[record])
    assert record.steps == list(range(200))


def test_end_of_input_ends_training_with_a_checkpoint(model_fn, one_epoch, tmp_path):
    estimator = est.Estimator(model_fn, tmp_path).train(one_epoch, steps=1000)
    assert estimator.latest_checkpoint() == str(tmp_path / "model.ckpt-8")


def test_an_empty_input_logs_a_warning(model_fn, one_epoch, tmp_path, caplog):
    est.Estimator(model_fn, tmp_path).train(lambda: one_epoch().take(0))
    assert "Training made no steps" in caplog.text


def with_w_of_four(features, labels, mode):
    w = tf.compat.v1.get_variable("w", [4, 1])
    step = tf.compat.v1.train.get_global_step()
    loss = tf.reduce_sum(w)
    train_op = tf.group(w.assign(2 * w), step.assign_add(1))
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op, predictions=w)


def test_a_checkpoint_of_another_shape_logs_once_and_sets_the_shape(
    model_fn, input_fn, tmp_path, caplog
):
    first = est.Estimator(model_fn, tmp_path).train(input_fn, steps=1)
    before = first.get_variable_value("w")
    estimator = est.Estimator(with_w_of_four, tmp_path).train(input_fn, steps=2)
    np.testing.assert_allclose(estimator.get_variable_value("w"), 4 * before)
    assert estimator.evaluate(input_fn, steps=1)["loss"] == pytest.approx(4 * before.sum())
    told = [r.getMessage() for r in caplog.records if "does not fit the model" in r.getMessage()]
    assert len(told) == 1
    assert "model.ckpt-1 does not fit" in told[0]
    assert "'w' has shape [3, 1] in it and [4, 1] in the model" in told[0]
    assert "warm_start_from" in told[0]


def test_a_reference_variable_of_another_shape_is_an_error(model_fn, input_fn, tmp_path):
    est.Estimator(model_fn, tmp_path).train(input_fn, steps=1)

    def wider_model_fn(features, labels, mode):
        tf.compat.v1.get_variable("extra", [2])
        with tf.compat.v1.variable_scope("", use_resource=False):
            return with_w_of_four(features, labels, mode)

    estimator = est.Estimator(wider_model_fn, tmp_path)
    before = sorted(tmp_path.iterdir())
    for call in (estimator.train, estimator.evaluate):
        with pytest.raises(ValueError, match="does not fit the model") as error:
            call(input_fn, steps=1)
        assert isinstance(error.value, tf.errors.InvalidArgumentError)
        assert "'extra' is not in it" in str(error.value)
        assert "'w' has shape [3, 1] in it and [4, 1] in the model" in str(error.value)
        assert "warm_start_from" in str(error.value)
    assert [p for p in before if not p.exists()] == []


def test_variable_that_the_checkpoint_lacks_is_named(model_fn, input_fn, tmp_path):
    est.Estimator(model_fn, tmp_path).train(input_fn, steps=1)

    def larger_model_fn(features, labels, mode):
        tf.compat.v1.get_variable("extra", [2])
        return model_fn(features, labels, mode)

    with pytest.raises(tf.errors.NotFoundError, match="'extra' is not in it. Use the model"):
        est.Estimator(larger_model_fn, tmp_path).train(input_fn, steps=1)


def test_listeners_of_a_users_saver_hook_are_called(model_fn, input_fn, tmp_path):
    saved = []

    class Listener(est.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            saved.append(int(global_step_value))

    def with_saver(features, labels, mode):
        spec = model_fn(features, labels, mode)
        hook = est.CheckpointSaverHook(str(tmp_path), save_steps=2)
        return spec._replace(training_hooks=(hook,))

    est.Estimator(with_saver, tmp_path).train(input_fn, steps=4, saving_listeners=[Listener()])
    assert saved == [0, 2, 4]


def test_nan_loss_names_variables_gradients_step_and_last_good_checkpoint(tmp_path):
    def model_fn(features, labels, mode):
        step = tf.compat.v1.train.get_global_step()
        good = tf.compat.v1.get_variable("good", [2])
        bad = tf.compat.v1.get_variable("bad", [2])
        # Finite at the sixth step, but its gradient is not: the seventh loss is NaN.
        blow_up = tf.where(step >= 5, tf.sqrt(tf.nn.relu(-tf.abs(bad))), bad)
        loss = tf.reduce_sum(good) + tf.reduce_sum(blow_up)
        train_op = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        return est.EstimatorSpec(mode, loss=loss + features, train_op=train_op)

    for k in (1, "auto"):
        directory = tmp_path / str(k)
        config = est.RunConfig(save_checkpoints_steps=3, steps_per_loop=k)
        estimator = est.Estimator(model_fn, directory, config)
        with pytest.raises(est.NanLossDuringTrainingError) as error:
            estimator.train(lambda: tf.data.Dataset.from_tensors(0.0).repeat(), steps=20)
        text = str(error.value)
        assert text.startswith("NaN loss during training. It came with global step 7.")
        assert "Variables that are not finite: bad." in text
        assert "Gradients that are not finite on the next batch: bad." in text
        assert f"Last checkpoint with finite values: {directory}/model.ckpt-3." in text


@pytest.mark.parametrize("interval", ["save_checkpoints_steps", "save_summary_steps"])
def test_an_interval_may_be_longer_than_any_training(model_fn, input_fn, tmp_path, interval):
    config = est.RunConfig(**{interval: 10**30})
    estimator = est.Estimator(model_fn, tmp_path, config).train(input_fn, steps=3)
    assert estimator.get_variable_value("global_step") == 3


@pytest.mark.parametrize("steps", [sys.maxsize, 10**30])
def test_steps_without_end_train_until_the_input_ends(model_fn, one_epoch, tmp_path, steps):
    estimator = est.Estimator(model_fn, tmp_path)
    for ends_at in (8, 16):
        estimator.train(one_epoch, steps=steps)
        assert estimator.get_variable_value("global_step") == ends_at


@pytest.mark.parametrize("trains_to_its_end", [False, True])
def test_a_handler_that_exits_does_so_after_the_checkpoint(
    model_fn, input_fn, tmp_path, trains_to_its_end
):
    """Many programs call `sys.exit` in a handler, as submitit does."""

    class Signal(tf.compat.v1.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            os.kill(os.getpid(), signal.SIGUSR2)

    before = signal.signal(signal.SIGUSR2, lambda number, frame: sys.exit(7))
    try:
        config = est.RunConfig(preemption=est.Preemption(("SIGUSR2",)), save_checkpoints_steps=1000)
        estimator = est.Estimator(model_fn, tmp_path / "m", config)
        last = 1 if trains_to_its_end else 1000
        with pytest.raises(SystemExit) as stopped:
            estimator.train(input_fn, hooks=[Signal()], max_steps=last)
    finally:
        signal.signal(signal.SIGUSR2, before)
    assert stopped.value.code == 7
    assert estimator.latest_checkpoint().endswith("model.ckpt-1")
