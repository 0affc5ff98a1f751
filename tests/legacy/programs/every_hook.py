# Hooks of every kind, in sessions of an Estimator and in a separate MonitoredSession.
import os
import time

import numpy as np
import tensorflow as tf
from tensorflow.python.training import basic_session_run_hooks
from tensorflow.python.training.session_run_hook import SessionRunArgs, SessionRunHook

tf.logging.set_verbosity(tf.logging.ERROR)
WORK = os.environ['WORK_DIR']
rng = np.random.RandomState(0)
X = rng.rand(64, 4).astype(np.float32)
Y = X.dot([[1.], [2.], [3.], [4.]]).astype(np.float32)


class LoggerHook(tf.train.SessionRunHook):
    """Logs loss and runtime."""

    def __init__(self, events):
        self.events = events
        self.losses = []
        self._timer = tf.train.SecondOrStepTimer(every_steps=10)

    def begin(self):
        self._step = -1
        self._start_time = time.time()
        self._missing = tf.report_uninitialized_variables()
        self._loss = tf.get_default_graph().get_tensor_by_name('loss_of_all:0')
        self.events.append('begin')

    def after_create_session(self, session, coord):
        self.events.append('session')
        assert session.run(self._missing).size == 0
        assert not coord.should_stop()

    def before_run(self, run_context):
        self._step += 1
        assert isinstance(run_context.original_args, SessionRunArgs)
        return tf.train.SessionRunArgs({'loss': self._loss, 'step': tf.train.get_global_step()})

    def after_run(self, run_context, run_values):
        self.losses.append(run_values.results['loss'])
        if self._timer.should_trigger_for_step(self._step):
            self._timer.update_last_triggered_step(self._step)
            self.events.append('step %d' % run_values.results['step'])

    def end(self, session):
        self.events.append('end at %d' % session.run(tf.train.get_global_step()))


class Listener(tf.train.CheckpointSaverListener):
    def __init__(self):
        self.saved = []

    def begin(self):
        self.saved.append('begin')

    def after_save(self, session, global_step_value):
        self.saved.append(int(global_step_value))

    def end(self, session, global_step_value):
        self.saved.append('end %d' % global_step_value)


class StopOnLoss(SessionRunHook):
    def before_run(self, run_context):
        return SessionRunArgs('loss_of_all:0')

    def after_run(self, run_context, run_values):
        if run_values.results < 0.05:
            run_context.request_stop()


def model_fn(features, labels, mode, params):
    out = tf.layers.dense(features['x'], 1, name='out')
    loss = tf.identity(tf.losses.mean_squared_error(labels, out), name='loss_of_all')
    step = tf.train.get_global_step()
    tf.summary.scalar('twice', 2 * loss)
    rate = tf.train.exponential_decay(0.2, step, 50, 0.9, staircase=True)
    train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, step)
    hooks = [
        tf.train.LoggingTensorHook({'loss': loss, 'rate': rate}, every_n_iter=20),
        tf.train.NanTensorHook(loss),
        tf.train.SummarySaverHook(save_steps=5, output_dir=params['dir'] + '/own',
                                  summary_op=tf.summary.merge_all()),
    ]
    return tf.estimator.EstimatorSpec(
        mode, {'out': out}, loss, train_op, training_hooks=hooks,
        training_chief_hooks=[tf.train.StepCounterHook(every_n_steps=10, output_dir=params['dir'])],
        evaluation_hooks=[tf.train.LoggingTensorHook(['loss_of_all'], at_end=True)],
        eval_metric_ops={'mae': tf.metrics.mean_absolute_error(labels, out)})


def input_fn(epochs=None):
    return tf.estimator.inputs.numpy_input_fn({'x': X}, Y, 16, epochs, shuffle=True)


events, listener = [], Listener()
logger = LoggerHook(events)
model_dir = os.path.join(WORK, 'model')
est = tf.estimator.Estimator(model_fn, model_dir, params={'dir': WORK},
                             config=tf.estimator.RunConfig(save_checkpoints_steps=None,
                                                           save_checkpoints_secs=None))
hooks = [
    logger,
    tf.train.CheckpointSaverHook(model_dir, save_steps=15, listeners=[listener]),
    tf.train.ProfilerHook(save_steps=20, output_dir=WORK + '/profile'),
    basic_session_run_hooks.GlobalStepWaiterHook(0),
    tf.train.StopAtStepHook(last_step=30),
]
est.train(input_fn(), hooks=hooks, steps=500)
print(events, listener.saved)
assert events[:3] == ['begin', 'session', 'step 0'] or events[:2] == ['begin', 'session']
assert events[-1] == 'end at 30'
assert len(logger.losses) == 30 and logger.losses[-1] < logger.losses[0]
assert listener.saved[0] == 'begin' and listener.saved[-1] == 'end 30' and 15 in listener.saved
assert any(f.startswith('timeline-') for f in tf.gfile.ListDirectory(WORK + '/profile'))
values = []
for path in tf.gfile.Glob(WORK + '/own/events*'):
    for event in tf.train.summary_iterator(path):
        values += [v.simple_value for v in event.summary.value if v.tag == 'twice']
assert len(values) >= 6 and abs(values[0] - 2 * logger.losses[0]) < 1e-3, values[:2]

est.train(input_fn(), hooks=[StopOnLoss(), tf.train.CheckpointSaverHook(model_dir, save_steps=500)],
          saving_listeners=[listener], max_steps=2000)
stopped = est.get_variable_value('global_step')
assert 30 < stopped < 2000
result = est.evaluate(input_fn(), steps=4, hooks=[tf.train.StopAtStepHook(num_steps=10 ** 9)])
assert result['mae'] < 0.5, result


class NanMaker(tf.train.SessionRunHook):
    def before_run(self, run_context):
        return tf.train.SessionRunArgs(None, {run_context.session.graph.get_tensor_by_name(
            'loss_of_all:0'): np.nan})


try:
    est.train(input_fn(), hooks=[NanMaker(), tf.train.NanTensorHook('loss_of_all:0')], steps=1)
    raise AssertionError('NaN was not seen')
except tf.train.NanLossDuringTrainingError:
    print('NaN seen')

with tf.Graph().as_default():
    holder = tf.placeholder_with_default(1.0, [])
    total = tf.get_variable('total', initializer=0.0)
    add = tf.assign_add(total, holder)
    step = tf.train.get_or_create_global_step()
    both = tf.group(add, tf.assign_add(step, 1))
    final = tf.train.FinalOpsHook({'total': total, 'step': step})
    feeding = tf.train.FeedFnHook(lambda: {holder: 2.0})
    creator = tf.train.ChiefSessionCreator(checkpoint_dir=WORK + '/mon')
    with tf.train.MonitoredSession(creator, hooks=[
            final, feeding, tf.train.StopAtStepHook(num_steps=4)]) as sess:
        while not sess.should_stop():
            sess.run(both)
    assert final.final_ops_values == {'total': 8.0, 'step': 4}, final.final_ops_values
print('every hook', int(stopped) > 30)
