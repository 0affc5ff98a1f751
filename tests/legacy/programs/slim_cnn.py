# A CNN with slim's arg_scope, in a custom estimator with optimize_loss and hooks of several kinds.
import os

import numpy as np
import tensorflow as tf
import tensorflow.contrib.slim as slim
from tensorflow.contrib.framework import arg_scope
from tensorflow.contrib import layers, lookup
from tensorflow.python.ops import array_ops, control_flow_ops
from tensorflow.python.training import session_run_hook

tf.logging.set_verbosity(tf.logging.ERROR)
rng = np.random.RandomState(0)
LABELS = rng.randint(0, 3, 96)
IMAGES = rng.rand(96, 8, 8, 1).astype(np.float32)
IMAGES[np.arange(96), LABELS * 2] += 2


def network(images, is_training):
    bn = {"is_training": is_training, "decay": 0.9, "scale": True}
    with arg_scope(
        [slim.conv2d, slim.fully_connected],
        normalizer_fn=slim.batch_norm,
        normalizer_params=bn,
        weights_regularizer=slim.l2_regularizer(0.001),
    ):
        with slim.arg_scope([slim.conv2d], padding="SAME"):
            net = slim.repeat(images, 2, slim.conv2d, 4, [3, 3], scope="conv1")
        net = slim.max_pool2d(net, [2, 2], scope="pool1")
        net = slim.flatten(net)
        net = slim.dropout(net, 0.9, is_training=is_training)
        net = slim.stack(net, slim.fully_connected, [16, 8], scope="fc")
    return slim.fully_connected(net, 3, activation_fn=None, normalizer_fn=None, scope="logits")


def model_fn(features, labels, mode, params):
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    logits = network(features, is_training)
    predictions = {"classes": tf.argmax(logits, dimension=1)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions)
    tf.losses.sparse_softmax_cross_entropy(labels, logits)
    loss = tf.losses.get_total_loss()
    train_op = (
        layers.optimize_loss(
            loss,
            tf.contrib.framework.get_global_step(),
            params.learning_rate,
            "Adam",
            clip_gradients=5.0,
            summaries=["loss"],
        )
        if is_training
        else None
    )
    metrics = {"accuracy": tf.metrics.accuracy(labels, predictions["classes"])}
    return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op, metrics)


class Counter(session_run_hook.SessionRunHook):
    steps = 0

    def after_run(self, run_context, run_values):
        self.steps += 1


def input_fn(repeat):
    data = tf.data.Dataset.from_tensor_slices((IMAGES, LABELS))
    if repeat:
        data = data.apply(tf.contrib.data.shuffle_and_repeat(96, None, seed=1))
    data = data.batch(16)
    return data.make_one_shot_iterator().get_next()


hparams = tf.contrib.training.HParams(learning_rate=0.5, sizes=[1, 2], name="a")
hparams.parse("learning_rate=0.01,sizes=[3,4,5],name=b")
print(hparams.learning_rate, hparams.sizes, hparams.name, "sizes" in hparams)
estimator = tf.estimator.Estimator(model_fn, os.environ["WORK_DIR"], params=hparams)
counter = Counter()
estimator.train(lambda: input_fn(True), hooks=[counter], steps=80)
print("counted", counter.steps)
print("RESULT", estimator.evaluate(lambda: input_fn(False)))
print(sorted(estimator.get_variable_names()))
with tf.Graph().as_default(), tf.Session() as sess:
    table = lookup.index_table_from_tensor(["a", "b"], num_oov_buckets=1)
    back = lookup.index_to_string_table_from_tensor(["a", "b"], default_value="?")
    ids = table.lookup(tf.constant(["b", "zz", "a"]))
    stacked = array_ops.stack([ids, ids])
    chosen = control_flow_ops.cond(tf.constant(True), lambda: stacked, lambda: stacked * 2)
    sess.run(tf.tables_initializer())
    print(sess.run([chosen, back.lookup(ids)]))
    penalty = layers.l2_regularizer(0.5)(tf.constant([2.0, 4.0]))
    print("penalty", sess.run(penalty), slim.l2_regularizer(0.0)(tf.constant(1.0)))
