"""Hooks of trackers and tuners, which have intervals and no `steps_until_due`.

These tests cover `engine/types.py` and `tf_internals/tf_hooks.py`.
"""

import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.engine.loops.hook_schedule import sees_every_step, steps_until_due

train = tf.compat.v1.train


def model_fn(features, mode):
    loss = tf.reduce_mean(features * tf.compat.v1.get_variable("weight", []))
    train_op = train.GradientDescentOptimizer(0.1).minimize(loss, train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensors(tf.ones([4])).repeat()


class WandbHook(train.SessionRunHook):
    """Hook that logs each step whose number is a multiple of its interval, as that of wandb."""

    def __init__(self, steps_per_log):
        self._steps_per_log = steps_per_log
        self.seen, self.logged = 0, []

    def before_run(self, run_context):
        # Not an argument of the run, which may read the step after its increment.
        self.step = run_context.session.run(train.get_global_step())

    def after_run(self, run_context, run_values):
        self.seen += 1
        if self.step % self._steps_per_log == 0:
            self.logged.append(self.step)


class TensorFlowPruningHook(WandbHook):
    """Hook that reports when its timer triggers, as that of Optuna."""

    def __init__(self, every_steps):
        super().__init__(None)
        self._timer = train.SecondOrStepTimer(every_steps=every_steps)

    def after_run(self, run_context, run_values):
        self.seen += 1
        if self._timer.should_trigger_for_step(self.step):
            self._timer.update_last_triggered_step(self.step)
            self.logged.append(self.step)


KNOWN = [(WandbHook, "wandb.integration.tensorflow"), (TensorFlowPruningHook, "optuna_integration")]


@pytest.mark.parametrize(("kind", "module"), KNOWN)
def test_known_hooks_see_only_the_steps_that_they_log(kind, module, tmp_path):
    known = type(kind.__name__, (kind,), {"__module__": module})
    known.before_run, known.after_run = kind.before_run, kind.after_run
    hook, other = known(7), kind(7)
    assert not sees_every_step(hook)
    assert sees_every_step(other)
    for one in (hook, other):
        for steps in (10, 25):  # A second training begins between two steps of the interval.
            estimator = est.Estimator(model_fn, tmp_path / type(one).__module__)
            estimator.train(input_fn, hooks=[one], steps=steps)
    assert hook.logged == other.logged
    assert len(hook.logged) == 5
    assert hook.seen <= 10
    assert other.seen == 35


def test_hooks_that_change_their_steps_see_every_step():
    known = type("WandbHook", (WandbHook,), {"__module__": "wandb.integration.tensorflow"})
    known.before_run, known.after_run = WandbHook.before_run, WandbHook.after_run
    assert steps_until_due(known(10), 3) == 8
    subclass = type("Own", (known,), {"after_run": lambda *_: None})
    assert sees_every_step(subclass(10))
    assert not sees_every_step(type("Same", (known,), {})(10))
    assert steps_until_due(known(None), 3) == 1
