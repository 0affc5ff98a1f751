"""A job that stops early, its best models exported; and one that starts from its weights."""
import os

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.WARN)
WORK = os.environ['WORK_DIR']
COLUMNS = [tf.feature_column.numeric_column('x', shape=(3,)),
           tf.feature_column.embedding_column(
               tf.feature_column.categorical_column_with_vocabulary_list('c', ['a', 'b']), 2)]


def data(seed, count=96):
    rng = np.random.RandomState(seed)
    x = rng.randn(count, 3).astype(np.float32)
    c = rng.choice(['a', 'b'], count)
    y = ((x.sum(1) + 2 * (c == 'a')) > 1).astype(np.int64)
    return {'x': x, 'c': c}, y


def make_input_fn(seed, epochs=None):
    features, labels = data(seed)

    def input_fn():
        d = tf.data.Dataset.from_tensor_slices((features, labels))
        if epochs is None:
            d = d.apply(tf.data.experimental.shuffle_and_repeat(96, seed=1))
        return d.batch(32)
    return input_fn


def serving_input_fn():
    holders = {'x': tf.placeholder(tf.float32, [None, 3]), 'c': tf.placeholder(tf.string, [None])}
    return tf.estimator.export.ServingInputReceiver(holders, holders)


def loss_smaller(best_eval_result, current_eval_result):
    return current_eval_result['average_loss'] < best_eval_result['average_loss']


config = tf.estimator.RunConfig(model_dir=os.path.join(WORK, 'first'), tf_random_seed=1,
                                save_checkpoints_steps=20, keep_checkpoint_max=2)
first = tf.estimator.DNNClassifier([8], COLUMNS, config=config,
                                   optimizer=tf.train.AdamOptimizer(0.05))
if not tf.gfile.Exists(first.eval_dir()):
    tf.gfile.MakeDirs(first.eval_dir())
early = tf.contrib.estimator.stop_if_no_decrease_hook(
    first, metric_name='loss', max_steps_without_decrease=60, min_steps=40,
    run_every_secs=None, run_every_steps=20)
exporter = tf.estimator.BestExporter(
    name='best', serving_input_receiver_fn=serving_input_fn, exports_to_keep=2,
    compare_fn=loss_smaller)
train_spec = tf.estimator.TrainSpec(make_input_fn(0), max_steps=1000, hooks=[early])
eval_spec = tf.estimator.EvalSpec(make_input_fn(1, 1), steps=None, exporters=exporter,
                                  start_delay_secs=0, throttle_secs=0)
metrics, exported = tf.estimator.train_and_evaluate(first, train_spec, eval_spec)
step = int(first.get_variable_value('global_step'))
evaluations = tf.contrib.estimator.read_eval_metrics(first.eval_dir())
losses = dict((s, m['loss']) for s, m in evaluations.items())
best = min(losses, key=losses.get)
print('stopped at', step, 'best at', best, 'evaluations', len(losses))
assert 40 <= step < 1000 and step - best >= 60, losses
folders = tf.gfile.ListDirectory(os.path.join(WORK, 'first', 'export', 'best'))
assert 1 <= len(folders) <= 2

ws = tf.estimator.WarmStartSettings(
    ckpt_to_initialize_from=tf.train.latest_checkpoint(first.model_dir),
    vars_to_warm_start='.*(hiddenlayer_0|embedding).*')
second = tf.estimator.DNNClassifier([8], COLUMNS, model_dir=os.path.join(WORK, 'second'),
                                    optimizer=tf.train.GradientDescentOptimizer(0.0),
                                    warm_start_from=ws)
second.train(make_input_fn(0), steps=1)
same = {}
for name in sorted(second.get_variable_names()):
    if name in first.get_variable_names() and 'dnn' in name and 'kernel' in name:
        same[name] = bool(np.allclose(first.get_variable_value(name), second.get_variable_value(name)))
print(same)
assert same == {'dnn/hiddenlayer_0/kernel': True, 'dnn/logits/kernel': False}
assert int(second.get_variable_value('global_step')) == 1

# All weights, from the directory itself, with a vocabulary that has grown
grown = tf.feature_column.embedding_column(
    tf.feature_column.categorical_column_with_vocabulary_list('c', ['a', 'b']), 2)
third = tf.estimator.DNNClassifier([8], [COLUMNS[0], grown], warm_start_from=first.model_dir,
                                   model_dir=os.path.join(WORK, 'third'),
                                   optimizer=tf.train.GradientDescentOptimizer(0.0))
third.train(make_input_fn(0), steps=1)
one = first.evaluate(make_input_fn(1, 1))
other = third.evaluate(make_input_fn(1, 1))
assert abs(one['loss'] - other['loss']) < 1e-4, (one, other)
print('warm start keeps the loss', other['global_step'])
