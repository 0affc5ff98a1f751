"""Datasets, the network of the MNIST tutorial and k-means, called as in programs of 2017."""

import json

import pytest

DATASETS = """
import sys
import numpy as np
import tensorflow as tf
datasets = tf.contrib.learn.datasets
print(sorted(datasets.DATASETS))
found = datasets.DATASETS["iris"](sys.argv[1])
print(found.data.dtype, found.target.dtype, found.data.shape, found.target.tolist())
assert datasets.base.load_iris(sys.argv[1]).data.tolist() == found.data.tolist()
for name in ("nope", "boston"):
    try:
        datasets.load_dataset(name)
    except ValueError as error:
        print(error)
"""


def test_datasets_load_by_name(run, tmp_path):
    path = tmp_path / "iris.csv"
    path.write_text("3,4,a,b,c\n5.1,3.5,1.4,0.2,0\n7,3.2,4.7,1.4,1\n6.3,3.3,6,2.5,2\n")
    names, shapes, nope, boston = run(DATASETS, str(path)).stdout.splitlines()
    assert names == "['boston', 'iris', 'mnist']"
    assert shapes == "float64 int64 (3, 4) [0, 1, 2]"
    assert nope == "Name of dataset is not found: nope"
    assert boston.endswith("set data_path to a CSV file with a header.")


MNIST = """
import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import mnist
images = np.random.RandomState(0).rand(60, mnist.IMAGE_PIXELS).astype(np.float32)
labels = np.arange(60) % mnist.NUM_CLASSES
logits = mnist.inference(tf.constant(images), 32, 16)
loss = mnist.loss(logits, tf.constant(labels))
train = mnist.training(loss, 0.1)
right = mnist.evaluation(logits, tf.constant(labels))
print([v.op.name for v in tf.trainable_variables()], logits.shape, right.dtype.name)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    first = session.run(loss)
    for _ in range(400):
        session.run(train)
    print(first > 2, session.run(loss) < 0.9 * first, session.run(right) > 12)
    print(session.run(tf.global_variables()[-1]))
"""


def test_mnist_tutorial_network_learns(run):
    shapes, learned, step = run(MNIST).stdout.splitlines()
    layers = ("hidden1", "hidden2", "softmax_linear")
    names = [f"{layer}/{part}" for layer in layers for part in ("weights", "biases")]
    assert shapes == f"{names} (60, 10) int32"
    assert (learned, step) == ("True True True", "400")


KMEANS = """
import json
import numpy as np
import tensorflow as tf
points = np.array([[0, 0], [0, 1], [10, 10], [10, 11]], np.float32)
input_fn = lambda: (tf.constant(points), None)
kmeans = tf.contrib.learn.KMeansClustering(
    2, random_seed=1, use_mini_batch=False, initial_clusters=points[[0, 2]],
    config=tf.contrib.learn.RunConfig(tf_random_seed=1))
assert kmeans.fit(input_fn=input_fn, steps=5) is kmeans
print(json.dumps({
    "clusters": kmeans.clusters().tolist(),
    "index": [int(i) for i in kmeans.predict_cluster_idx(input_fn=input_fn)],
    "score": float(kmeans.score(input_fn=input_fn, steps=1)),
    "transform": [[float(v) for v in row] for row in kmeans.transform(input_fn=input_fn)],
    "evaluate": sorted(kmeans.evaluate(input_fn=input_fn, steps=1)),
    "predict": sorted(next(iter(kmeans.predict(input_fn=input_fn)))),
}))
"""
# Answers of TensorFlow 1.15.5.
ORIGINAL = {
    "clusters": [[0.0, 0.5], [10.0, 10.5]],
    "index": [0, 0, 1, 1],
    "score": 1.0,
    "transform": [[0.25, 210.25], [0.25, 190.25], [190.25, 0.25], [210.25, 0.25]],
}


def test_kmeans_answers_equal_the_recorded_ones(run):
    found = json.loads(run(KMEANS).stdout)
    assert found.pop("evaluate") == ["global_step", "loss", "scores"]
    assert found.pop("predict") == ["all_scores", "cluster_idx"]
    for name, expected in ORIGINAL.items():
        for actual, expected_value in zip(_flat(found[name]), _flat(expected), strict=True):
            assert actual == pytest.approx(expected_value, rel=1e-5, abs=1e-5), name


def _flat(value):
    return [v for part in value for v in _flat(part)] if isinstance(value, list) else [value]


INPUT_HOOK = """
import os
import sys
import tensorflow as tf

train = tf.compat.v1.train

def model_fn(features, labels, mode):
    weight = tf.compat.v1.get_variable("weight", [])
    loss = weight * tf.reduce_sum(features)
    train_op = train.GradientDescentOptimizer(0.1).minimize(loss, train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

config = tf.estimator.RunConfig(sys.argv[1], save_checkpoints_steps=2)
estimator = tf.estimator.Estimator(model_fn, config=config)
for policy in ("nonsense", None, "warn", "ignore"):
    try:
        hook = tf.data.experimental.CheckpointInputPipelineHook(estimator, policy)
        data = lambda: tf.data.Dataset.range(9).map(lambda _: tf.random.uniform([1]))
        estimator.train(data, steps=2, hooks=[hook])
        names = (name for name in os.listdir(sys.argv[1]) if name.startswith("input"))
        print(policy, sorted(name for name in names if name.endswith("index")))
    except (ValueError, tf.errors.FailedPreconditionError) as error:
        print(policy, type(error).__name__, str(error).splitlines()[0])
"""


def test_the_input_is_saved_under_the_name_of_tensorflow_2(run, tmp_path):
    # Printed by TensorFlow 2.15.1.
    assert run(INPUT_HOOK, str(tmp_path / "model"), switches=["--tf2"]).stdout.splitlines() == [
        "nonsense ValueError Invalid `ExternalStatePolicy.` Supported values include 'warn', "
        "'ignore', and 'fail.' Received nonsense.",
        "None FailedPreconditionError RandomUniform is stateful.",
        "warn ['input.ckpt-0.index', 'input.ckpt-2.index']",
        "ignore ['input.ckpt-0.index', 'input.ckpt-2.index', 'input.ckpt-3.index', "
        "'input.ckpt-4.index']",
    ]
