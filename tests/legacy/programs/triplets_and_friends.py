"""Embeddings by triplets, k-means on them, and the optimizers of tf.contrib.opt."""
import argparse
import json
import os

import numpy as np
import tensorflow as tf
from tensorflow.contrib.factorization import KMeansClustering
from tensorflow.contrib.losses import metric_learning
from tensorflow.contrib.opt import AdamWOptimizer, LazyAdamOptimizer

tf.logging.set_verbosity(tf.logging.ERROR)
parser = argparse.ArgumentParser()
parser.add_argument('--model_dir', default=os.environ['WORK_DIR'])


class Params():
    """Class that loads hyperparameters from a json file."""

    def __init__(self, json_path):
        with open(json_path) as f:
            self.__dict__.update(json.load(f))

    @property
    def dict(self):
        return self.__dict__


rng = np.random.RandomState(0)
LABELS = rng.randint(0, 3, 96)
POINTS = rng.randn(96, 6).astype(np.float32)
POINTS[np.arange(96), LABELS] += 2.5


def model_fn(features, labels, mode, params):
    with tf.variable_scope('model'):
        out = tf.layers.dense(features, 8, activation=tf.nn.relu)
        embeddings = tf.nn.l2_normalize(tf.layers.dense(out, params.embedding_size), 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode=mode, predictions={'embeddings': embeddings})
    labels = tf.cast(labels, tf.int64)
    loss = metric_learning.triplet_semihard_loss(labels, embeddings, margin=params.margin)
    with tf.variable_scope('metrics'):
        distances = metric_learning.pairwise_distance(embeddings, squared=True)
        same = tf.equal(labels[:, None], labels[None])
        metrics = {'own': tf.metrics.mean(tf.boolean_mask(distances, same)),
                   'other': tf.metrics.mean(tf.boolean_mask(distances, ~same))}
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = AdamWOptimizer(1e-4, params.learning_rate)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(repeat=True):
    d = tf.data.Dataset.from_tensor_slices((POINTS, LABELS))
    return (d.shuffle(96).repeat() if repeat else d).batch(32)


args = parser.parse_args()
tf.gfile.MakeDirs(args.model_dir)
json_path = os.path.join(args.model_dir, 'params.json')
with open(json_path, 'w') as f:
    json.dump({'embedding_size': 3, 'margin': 0.5, 'learning_rate': 0.02}, f)
params = Params(json_path)
config = tf.estimator.RunConfig(tf_random_seed=230, model_dir=os.path.join(args.model_dir, 'm'))
estimator = tf.estimator.Estimator(model_fn, params=params, config=config)
estimator.train(input_fn, steps=100)
res = estimator.evaluate(lambda: input_fn(False))
print(sorted(res))
assert res['own'] < 0.6 * res['other'], res
embeddings = np.stack([p['embeddings'] for p in estimator.predict(lambda: input_fn(False))])

# The values of the losses, against sums written out
with tf.Graph().as_default(), tf.Session() as sess:
    e, y = embeddings[:12], LABELS[:12]
    d = ((e[:, None] - e[None]) ** 2).sum(-1)
    total, pairs = 0.0, 0
    for a in range(12):
        for p in range(12):
            if a != p and y[a] == y[p]:
                others = d[a][y != y[a]]
                farther = others[others > d[a, p]]
                negative = farther.min() if len(farther) else others.max()
                total += max(0.5 + d[a, p] - negative, 0)
                pairs += 1
    found = sess.run(metric_learning.triplet_semihard_loss(tf.constant(y), tf.constant(e), 0.5))
    np.testing.assert_allclose(found, total / pairs, rtol=1e-4)

# Clusters of the embeddings are the classes
kmeans = KMeansClustering(
    num_clusters=3, initial_clusters=tf.contrib.factorization.KMEANS_PLUS_PLUS_INIT,
    distance_metric=tf.contrib.factorization.SQUARED_EUCLIDEAN_DISTANCE, random_seed=5,
    use_mini_batch=False, relative_tolerance=1e-6)


def all_points():
    return tf.data.Dataset.from_tensors(embeddings.astype(np.float32)).repeat(2)


score = None
for _ in range(6):
    kmeans.train(all_points)
    previous, score = score, kmeans.score(all_points)
    assert previous is None or score <= previous + 1e-4
assert kmeans.cluster_centers().shape == (3, 3)
assigned = np.array(list(kmeans.predict_cluster_index(all_points)))[:96]
purity = sum(np.bincount(LABELS[assigned == k]).max() for k in set(assigned)) / 96.0
assert purity > 0.7, purity
print('purity', purity > 0.7)

# Rows without a gradient stay where they are
with tf.Graph().as_default(), tf.Session() as sess:
    table = tf.get_variable('table', [4, 2], initializer=tf.ones_initializer())
    loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 3]))
    steps = {'lazy': LazyAdamOptimizer(0.1), 'adam': tf.train.AdamOptimizer(0.1)}
    train = LazyAdamOptimizer(0.1).minimize(loss)
    sess.run(tf.global_variables_initializer())
    for _ in range(2):
        sess.run(train)
    np.testing.assert_allclose(sess.run(table)[:, 0], [1, 0.8, 1, 0.8], atol=1e-5)

# Averages saved instead of the variables
with tf.Graph().as_default(), tf.Session() as sess:
    w = tf.get_variable('w', initializer=1.0)
    opt = tf.contrib.opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.5), 0.5)
    train = opt.minimize(w)
    saver = opt.swapping_saver()
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    path = saver.save(sess, os.path.join(args.model_dir, 'averaged'))
    assert sess.run(w) == 0.5
    np.testing.assert_allclose(tf.train.load_variable(path, 'w'), 0.75)
print('friends done')
