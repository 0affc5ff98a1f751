"""Recipes of docs/input.md, with the real packages."""

import json

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est
import input_fns

pytestmark = pytest.mark.long
ROWS, BATCH = 60, 8
tf1 = tf.compat.v1


class Collect(tf1.train.SessionRunHook):
    """Collects a tensor of each step."""

    def __init__(self, name="ids"):
        self.name, self.rows = name, []

    def before_run(self, run_context):
        return tf1.train.SessionRunArgs(run_context.session.graph.get_tensor_by_name(self.name))

    def after_run(self, run_context, run_values):
        self.rows += run_values.results.tolist()


def model_fn(features, labels, mode):
    tf.identity(features, "ids")
    weight = tf1.get_variable("w", [], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(weight - tf.cast(labels, tf.float32)))
    step = tf1.train.get_global_step()
    train = tf1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    return est.EstimatorSpec(mode, loss=loss, train_op=train)


def train(input_fn, model_dir):
    collect = Collect("ids:0")
    est.Estimator(model_fn, model_dir).train(input_fn, hooks=[collect])
    return collect.rows


def test_tensorflow_datasets(tmp_path):
    import tensorflow_datasets as tfds

    class NumberedRows(tfds.core.GeneratorBasedBuilder):
        """Data set of this test."""

        VERSION = tfds.core.Version("1.0.0")

        def _info(self):
            features = tfds.features.FeaturesDict({"x": np.int64, "y": np.int64})
            return tfds.core.DatasetInfo(
                builder=self, features=features, supervised_keys=("x", "y")
            )

        def _split_generators(self, dl_manager):
            return {"train": self._generate_examples()}

        def _generate_examples(self):
            for row in range(ROWS):
                yield row, {"x": row, "y": row % 2}

    NumberedRows(data_dir=tmp_path / "data").download_and_prepare()
    found = train(
        lambda: input_fns.tfds(
            "numbered_rows", data_dir=str(tmp_path / "data"), batch_size=BATCH, num_epochs=1
        ),
        tmp_path / "run",
    )
    assert sorted(found) == [*range(ROWS)]


@pytest.mark.parametrize("mode", ["parallel_epochs", "distributed_epoch"])
def test_the_tf_data_service(tmp_path, mode):
    service = tf.data.experimental.service
    dispatcher = service.DispatchServer()
    address = dispatcher.target.partition("://")[2]
    workers = [
        service.WorkerServer(service.WorkerConfig(dispatcher_address=address)) for _ in range(2)
    ]
    ids = np.arange(ROWS)

    def input_fn():
        rows = tf.data.Dataset.from_tensor_slices((ids, ids % 2)).batch(BATCH)
        return rows.apply(service.distribute(mode, dispatcher.target))

    found = train(input_fn, tmp_path)
    times = len(workers) if mode == "parallel_epochs" else 1
    assert sorted(found) == sorted([*range(ROWS)] * times)


def test_grain_continues_exactly(tmp_path):
    """The state of the iterator is a variable, so that each checkpoint has that of its step."""
    import grain

    def make_iterator():
        rows = grain.MapDataset.source(np.arange(ROWS)).seed(3).shuffle().repeat(None)
        return iter(rows.batch(BATCH).to_iter_dataset())

    def make_input_fn(model_dir):
        checkpoint = tf.train.latest_checkpoint(model_dir)

        def list_batches():
            iterator = make_iterator()
            if checkpoint:
                state = tf.train.load_variable(checkpoint, "input_state")
                iterator.set_state(json.loads(state))
            for batch in iterator:
                yield {"id": batch, "state": json.dumps(iterator.get_state())}

        signature = {"id": tf.TensorSpec([None], tf.int64), "state": tf.TensorSpec([], tf.string)}
        return lambda: tf.data.Dataset.from_generator(list_batches, output_signature=signature)

    def grain_model_fn(features, mode):
        spec = model_fn(features["id"], features["id"], mode)
        state = tf1.get_variable(
            "input_state", [], tf.string, tf1.constant_initializer(""), trainable=False
        )
        train_op = tf.group(spec.train_op, state.assign(features["state"]))
        return spec._replace(train_op=train_op)

    def run(model_dir, *limits):
        rows = []
        for limit in limits:
            collect = Collect("ids:0")
            estimator = est.Estimator(grain_model_fn, model_dir)
            estimator.train(make_input_fn(model_dir), hooks=[collect], max_steps=limit)
            rows += collect.rows
        return rows

    unbroken = run(tmp_path / "unbroken", 30)
    assert run(tmp_path / "broken", 3, 11, 30) == unbroken
    assert len(unbroken) == 30 * BATCH
    assert unbroken[:ROWS] != sorted(unbroken[:ROWS])
