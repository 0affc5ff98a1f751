"""Canned estimators with embeddings: `canned_job.py MODEL_DIR servers|workers|trees [DONOR]`.

servers: v1 under parameter servers, with an embedding in parts; tells where the parts are.
workers: v2 under synchronous workers, from the values of a donor; the last line has the losses.
trees: boosted trees under parameter servers.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import tensorflow as tf
from fifty_steps import Losses

import estimator_train as est
from estimator_train.compat import v1

EXAMPLES, GLOBAL_BATCH, STEPS = 48, 16, 10
HEIGHTS = np.float32([0.0, 1.0, 0.5, -0.5, 2.0, -1.0])
SERVED_STEPS = 400
TREES = 60
tf1 = tf.compat.v1


def columns() -> list[Any]:
    place = tf.feature_column.categorical_column_with_identity("place", len(HEIGHTS))
    return [tf.feature_column.embedding_column(place, 4)]


def heights() -> tf.data.Dataset:
    """Returns every place with its height."""
    places = np.arange(len(HEIGHTS))
    return tf.data.Dataset.from_tensors(({"place": places}, HEIGHTS)).repeat()


def regressor(model_dir: str) -> Any:
    """Returns a v1 model whose embedding is in two parts."""
    return v1.DNNRegressor(
        [8],
        columns(),
        optimizer=tf1.train.AdagradOptimizer(0.2),
        input_layer_partitioner=tf1.fixed_size_partitioner(2),
        config=est.RunConfig(model_dir, tf_random_seed=1, experimental_max_worker_delay_secs=0),
    )


def classifier(model_dir: str, donor: str | None = None, strategy: Any = None) -> Any:
    return est.DNNClassifier(
        [8],
        columns(),
        n_classes=3,
        warm_start_from=donor,
        config=est.RunConfig(model_dir, tf_random_seed=1, train_distribute=strategy),
    )


def classes(parts: int = 1, part: int = 0) -> tf.data.Dataset:
    """Returns one of `parts` inputs, which together have the same examples for any `parts`."""
    random = np.random.RandomState(0)
    places, labels = random.randint(0, len(HEIGHTS), EXAMPLES), random.randint(0, 3, EXAMPLES)
    rows = np.arange(EXAMPLES).reshape(-1, parts, GLOBAL_BATCH // parts)[:, part].ravel()
    data = tf.data.Dataset.from_tensor_slices(({"place": places[rows]}, labels[rows]))
    return data.repeat().batch(GLOBAL_BATCH // parts, drop_remainder=True)


class Places(tf1.train.SessionRunHook):
    """Tells the devices of the embedding's parts."""

    def begin(self) -> None:
        parts = [v for v in tf1.trainable_variables() if "embedding_weights/part_" in v.op.name]
        for part in parts:
            print("part", part.op.name.rpartition("_")[2], *part.shape, part.device, flush=True)


def train_served(model_dir: str) -> None:
    est.train_and_evaluate(
        regressor(model_dir),
        est.TrainSpec(heights, SERVED_STEPS, [Places()]),
        est.EvalSpec(heights, steps=1),
    )


def trees(model_dir: str) -> Any:
    """Boosted trees whose steps all take the same examples."""
    place = tf.feature_column.numeric_column("place")
    return est.BoostedTreesRegressor(
        [tf.feature_column.bucketized_column(place, [0.5, 1.5, 2.5, 3.5, 4.5])],
        n_batches_per_layer=1,
        n_trees=TREES,
        max_depth=3,
        config=est.RunConfig(model_dir, tf_random_seed=1, experimental_max_worker_delay_secs=0),
    )


def one_height_each() -> tf.data.Dataset:
    return heights().map(lambda features, height: (features, height[:, None]))


def losses_of_workers(model_dir: str, donor: str) -> list[float]:
    def inputs(input_context: tf.distribute.InputContext) -> tf.data.Dataset:
        return classes(input_context.num_input_pipelines, input_context.input_pipeline_id)

    losses = Losses()
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    classifier(model_dir, donor, strategy).train(inputs, hooks=[losses], steps=STEPS)
    return losses.seen


if __name__ == "__main__":
    if sys.argv[2] == "servers":
        train_served(sys.argv[1])
    elif sys.argv[2] == "trees":
        inputs = one_height_each
        est.train_and_evaluate(
            trees(sys.argv[1]), est.TrainSpec(inputs), est.EvalSpec(inputs, steps=1)
        )
    else:
        print(json.dumps(losses_of_workers(sys.argv[1], sys.argv[3])))
