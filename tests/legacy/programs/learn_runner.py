"""An Experiment of 2017: learn_runner, HParams, ModelFnOps-free model_fn, and custom hooks."""
import argparse
import os

import numpy as np
import tensorflow as tf
from tensorflow.contrib.learn import ModeKeys
from tensorflow.contrib.learn.python.learn import learn_runner
from tensorflow.contrib.learn.python.learn.utils import saved_model_export_utils
from tensorflow.contrib.training import HParams

FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_string('model_dir', os.environ.get('WORK_DIR'), 'Output directory.')
tf.app.flags.DEFINE_string('hparams', 'learning_rate=0.05,units=[12,6]', 'Hyper-parameters.')


class IteratorInitializerHook(tf.train.SessionRunHook):
    """Hook to initialise data iterator after Session is created."""

    def __init__(self):
        super(IteratorInitializerHook, self).__init__()
        self.iterator_initializer_func = None

    def after_create_session(self, session, coord):
        self.iterator_initializer_func(session)


def get_inputs(seed, batch_size, epochs):
    iterator_initializer_hook = IteratorInitializerHook()
    rng = np.random.RandomState(seed)
    x = rng.rand(128, 5).astype(np.float32)
    y = (x[:, 0] + x[:, 1] > x[:, 2] + x[:, 3]).astype(np.int64)

    def inputs():
        with tf.name_scope('Training_data'):
            images_placeholder = tf.placeholder(x.dtype, x.shape)
            labels_placeholder = tf.placeholder(y.dtype, y.shape)
            dataset = tf.contrib.data.Dataset.from_tensor_slices(
                (images_placeholder, labels_placeholder))
            dataset = dataset.repeat(epochs).shuffle(buffer_size=200).batch(batch_size)
            iterator = dataset.make_initializable_iterator()
            next_example, next_label = iterator.get_next()
            iterator_initializer_hook.iterator_initializer_func = lambda sess: sess.run(
                iterator.initializer,
                feed_dict={images_placeholder: x, labels_placeholder: y})
            return next_example, next_label
    return inputs, iterator_initializer_hook


def model_fn(features, labels, mode, params):
    is_training = mode == ModeKeys.TRAIN
    if isinstance(features, dict):
        features = features['features']
    net = tf.contrib.layers.stack(features, tf.contrib.layers.fully_connected, params.units)
    logits = tf.contrib.layers.linear(net, 2)
    predictions = tf.argmax(logits, axis=-1)
    loss = train_op = None
    eval_metric_ops = {}
    if mode != ModeKeys.INFER:
        loss = tf.losses.sparse_softmax_cross_entropy(labels=tf.cast(labels, tf.int32), logits=logits)
        train_op = tf.contrib.layers.optimize_loss(
            loss=loss, global_step=tf.contrib.framework.get_global_step(),
            optimizer=tf.train.AdamOptimizer, learning_rate=params.learning_rate)
        eval_metric_ops = {'Accuracy': tf.metrics.accuracy(labels, predictions, name='accuracy')}
    return tf.estimator.EstimatorSpec(
        mode=mode, predictions={'classes': predictions}, loss=loss, train_op=train_op,
        eval_metric_ops=eval_metric_ops, export_outputs={
            'serving_default': tf.estimator.export.PredictOutput({'classes': predictions})})


def serving_input_fn():
    x = tf.placeholder(tf.float32, [None, 5])
    return tf.estimator.export.ServingInputReceiver({'features': x}, {'features': x})


def experiment_fn(run_config, params):
    run_config = run_config.replace(save_checkpoints_steps=params.min_eval_frequency)
    estimator = tf.estimator.Estimator(model_fn=model_fn, params=params, config=run_config)
    train_input_fn, train_input_hook = get_inputs(0, 32, None)
    eval_input_fn, eval_input_hook = get_inputs(1, 128, 1)
    return tf.contrib.learn.Experiment(
        estimator=estimator, train_input_fn=train_input_fn, eval_input_fn=eval_input_fn,
        train_steps=params.train_steps, min_eval_frequency=params.min_eval_frequency,
        train_monitors=[train_input_hook], eval_hooks=[eval_input_hook], eval_steps=None,
        export_strategies=[saved_model_export_utils.make_export_strategy(serving_input_fn)])


def run_experiment(argv=None):
    params = HParams(learning_rate=0.002, units=[4], train_steps=120, min_eval_frequency=60)
    params.parse(FLAGS.hparams)
    assert params.units == [12, 6] and params.learning_rate == 0.05
    run_config = tf.contrib.learn.RunConfig(model_dir=FLAGS.model_dir, tf_random_seed=5)
    assert run_config.environment == 'local'
    result, exported = learn_runner.run(
        experiment_fn=experiment_fn, run_config=run_config, schedule='train_and_evaluate',
        hparams=params)
    print(sorted(result), tf.gfile.ListDirectory(os.path.join(FLAGS.model_dir, 'export')))
    assert result['Accuracy'] > 0.85 and result['global_step'] == 120, result
    predict = tf.contrib.predictor.from_saved_model(exported[0].decode())
    assert predict({'features': [[1, 1, 0, 0, 0], [0, 0, 1, 1, 0]]})['classes'].tolist() == [1, 0]
    print('experiment done')


if __name__ == '__main__':
    tf.app.run(main=run_experiment)
