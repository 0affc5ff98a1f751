"""The values of every Arrow type are those of pyarrow in training, evaluation and prediction."""

import weakref

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tensorflow as tf
import tiers

import estimator_train as est
from input_fns import arrow, frame, parquet
from tests.input_fns.columns.arrow_tables import list_rows, list_values, make_table

ROWS = 200


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two Parquet files, and the same rows in an Arrow file."""
    folder = tmp_path_factory.mktemp("types")
    table = make_table(ROWS)
    pq.write_table(table[:120], folder / "a.parquet", row_group_size=37)
    pq.write_table(table[120:], folder / "b.parquet", row_group_size=37)
    with pa.OSFile(f"{folder}/a.arrow", "wb") as file, pa.ipc.new_file(file, table.schema) as out:
        out.write_table(table, max_chunksize=37)
    return folder


FEATURES = weakref.WeakKeyDictionary()  # Those of each graph.
READERS = {"parquet": parquet, "arrow": arrow, "frame": lambda _, **s: frame(make_table(ROWS), **s)}


class Collect(tf.compat.v1.train.SessionRunHook):
    """Collects the features of each step."""

    def __init__(self):
        self.batches = []

    def begin(self):
        self.features = FEATURES[tf.compat.v1.get_default_graph()]

    def before_run(self, run_context):
        return tf.compat.v1.train.SessionRunArgs(self.features)

    def after_run(self, run_context, run_values):
        self.batches.append(run_values.results)


def to_predictions(features):
    """Returns dense tensors: ragged ones have their values and the numbers of them."""
    predictions = {}
    for name, value in features.items():
        if isinstance(value, tf.RaggedTensor):
            predictions[f"{name}/values"] = value.to_tensor()
            for level in range(value.ragged_rank):
                lengths = value.nested_row_lengths()[level]
                if level:
                    lengths = value.with_values(lengths).to_tensor()
                predictions[f"{name}/lengths{level}"] = lengths
        else:
            predictions[name] = value
    return predictions


def from_predictions(rows):
    """Returns the rows of each feature."""
    found = {}
    for name in rows[0]:
        base, _, part = name.partition("/")
        if part == "values":
            found[base] = [_cut(row, base) for row in rows]
        elif not part:
            found[base] = [_to_plain(row[name]) for row in rows]
    return found


def _to_plain(value):
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _cut(row, name):
    values = row[f"{name}/values"].tolist()[: row[f"{name}/lengths0"]]
    if f"{name}/lengths1" not in row:
        return values
    return [part[:length] for part, length in zip(values, row[f"{name}/lengths1"], strict=False)]


def model_fn(features, mode):
    if mode == est.ModeKeys.PREDICT:
        return est.EstimatorSpec(mode, predictions=to_predictions(features))
    FEATURES[tf.compat.v1.get_default_graph()] = features
    weight = tf.compat.v1.get_variable("weight", [])
    step = tf.compat.v1.train.get_global_step()
    train = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(weight, step)
    return est.EstimatorSpec(mode, loss=tf.identity(weight), train_op=train)


@pytest.mark.parametrize(
    ("reader", "shards"),
    tiers.first({("parquet", 1)}, [(r, n) for r in READERS for n in (1, 2, 5)]),
)
def test_every_type(folder, tmp_path, reader, shards):
    table = make_table(ROWS).flatten()
    expected = {
        name: list_values(column)
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    estimator = est.Estimator(model_fn, tmp_path)
    found = {"train": [], "evaluate": [], "predict": []}
    for shard in range(shards):
        context = tf.distribute.InputContext(shards, shard)

        def input_fn(context=context):
            settings = {"batch_size": 16, "num_epochs": 1, "input_context": context}
            return READERS[reader](folder, **settings)

        train, evaluate = Collect(), Collect()
        estimator.train(input_fn, hooks=[train])
        estimator.evaluate(input_fn, hooks=[evaluate])
        found["train"] += train.batches
        found["evaluate"] += evaluate.batches
        found["predict"] += estimator.predict(input_fn)
    assert_rows(list_rows(found["train"]), expected)
    assert_rows(list_rows(found["evaluate"]), expected)
    assert_rows(from_predictions(found["predict"]), expected)


def assert_rows(found, expected):
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert found[name] == values, name
