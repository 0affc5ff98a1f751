"""An Estimator reads Parquet: every row once an epoch, and exactly after a restart."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tensorflow as tf
import tiers

import estimator_train as est
from input_fns import parquet

ROWS = 500


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "rows.parquet"
    table = pa.table(
        {
            "id": pa.array(range(ROWS), pa.int64()),
            "x": pa.array([row % 7 for row in range(ROWS)], pa.float32()),
            "words": pa.array([["w"] * (row % 3) for row in range(ROWS)]),
        }
    )
    pq.write_table(table, path, row_group_size=90)
    return path


def model_fn(features, labels, mode):
    weight = tf.compat.v1.get_variable("weight", [], initializer=tf.zeros_initializer())
    words = tf.cast(features["words"].row_lengths(), tf.float32)
    outputs = {"x": labels, "words": words} if labels is not None else {"words": words}
    if mode == est.ModeKeys.PREDICT:
        return est.EstimatorSpec(mode, predictions={"id": features["id"], **outputs})
    loss = tf.reduce_mean(tf.square(weight - labels))
    if mode == est.ModeKeys.EVAL:
        metrics = {
            "ids": tf.compat.v1.metrics.mean(tf.cast(features["id"], tf.float64)),
            "words": tf.compat.v1.metrics.mean(words),
        }
        return est.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    step = tf.compat.v1.train.get_global_step()
    train = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    return est.EstimatorSpec(mode, loss=loss, train_op=train)


class Collect(tf.compat.v1.train.SessionRunHook):
    """Collects the ids of each step."""

    def __init__(self):
        self.batches = []

    def begin(self):
        graph = tf.compat.v1.get_default_graph()
        self.ids = graph.get_tensor_by_name(
            next(op.outputs[0].name for op in graph.get_operations() if op.type == "Identity"
                 and op.name == "ids")
        )  # fmt: skip

    def before_run(self, run_context):
        return tf.compat.v1.train.SessionRunArgs(self.ids)

    def after_run(self, run_context, run_values):
        self.batches.append(run_values.results.tolist())


def collecting_model_fn(features, labels, mode):
    tf.identity(features["id"], "ids")
    return model_fn(features, labels, mode)


def test_train_evaluate_and_predict(path, tmp_path):
    estimator = est.Estimator(collecting_model_fn, tmp_path)
    collect = Collect()
    estimator.train(
        lambda: parquet(path, "x", batch_size=32, num_epochs=2, shuffle=True, seed=1),
        hooks=[collect],
    )
    order = [row for batch in collect.batches for row in batch]
    assert len(collect.batches) == 32  # 2 * 500 rows in batches of 32.
    assert sorted(order[:ROWS]) == sorted(order[ROWS:]) == [*range(ROWS)]
    metrics = estimator.evaluate(lambda: parquet(path, "x", batch_size=32, num_epochs=1))
    assert metrics["ids"] == (ROWS - 1) / 2
    assert metrics["words"] == pytest.approx(sum(row % 3 for row in range(ROWS)) / ROWS)
    rows = [*estimator.predict(lambda: parquet(path, batch_size=32, num_epochs=1))]
    assert [row["id"] for row in rows] == [*range(ROWS)]
    assert [row["words"] for row in rows] == [row % 3 for row in range(ROWS)]


@pytest.mark.parametrize("stop", tiers.first({17}, [3, 17]))
def test_a_restarted_training_reads_the_rows_of_an_unbroken_one(path, tmp_path, stop):
    def input_fn():
        return parquet(path, "x", batch_size=32, shuffle=True, buffer_size=70, seed=4)

    def train(model_dir, *max_steps):
        batches = []
        for limit in max_steps:
            config = est.RunConfig(save_input_position=True)
            collect = Collect()
            est.Estimator(collecting_model_fn, tmp_path / model_dir, config).train(
                input_fn, max_steps=limit, hooks=[collect]
            )
            batches += collect.batches
        return batches

    assert train("broken", stop, 40) == train("unbroken", 40)
