"""Commands read tables with --input, and `predict` writes Parquet in shards.

These tests cover `cli/parquet_parts.py`.
"""

import json
import re
import signal
import subprocess
import sys

import forked
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tensorflow as tf
from processes import run_process

from estimator_train.cli.errors import UsageError
from estimator_train.cli.job.inputs import describe_files
from estimator_train.cli.parquet_parts import ParquetParts

MODEL = """
import tensorflow as tf
import estimator_train as est

tf1 = tf.compat.v1


def model(features, labels, mode):
    weight = tf1.get_variable("w", [], initializer=tf1.zeros_initializer())
    outputs = weight * features["x"]
    if mode == est.ModeKeys.PREDICT:
        text = tf.strings.as_string(features["id"])
        pairs = tf.stack([features["x"], outputs], 1)
        predictions = {"id": features["id"], "text": text, "pair": pairs}
        return est.EstimatorSpec(mode, predictions=predictions)
    loss = tf.reduce_mean(tf.square(outputs - labels))
    step = tf1.train.get_global_step()
    train = tf1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    return est.EstimatorSpec(mode, loss=loss, train_op=train)
"""
ROWS = 100


@pytest.fixture
def job(tmp_path):
    (tmp_path / "scaled.py").write_text(MODEL)
    xs = [row % 3 - 1.0 for row in range(ROWS)]
    columns = {"id": [*range(ROWS)], "x": pa.array(xs, pa.float32())}
    table = pa.table({**columns, "y": pa.array([2 * x for x in xs], pa.float32())})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=30)
    return [
        "--model=scaled:model",
        "--input=parquet:rows.parquet",
        "--input_label=y",
        "--model_dir=run",
        "--batch_size=8",
    ]


@pytest.fixture
def trained(command, train_once, job):
    train_once(command, *job, "--max_train_steps=80")
    return job


def read_predictions(folder):
    return pq.read_table(folder)


def read_states(folder):
    """Returns what the metadata of each part says."""
    parts = sorted(folder.glob("*.parquet"), key=lambda path: int(re.split("[-.]", path.name)[-2]))
    return [json.loads(pq.read_metadata(part).metadata[b"estimator_train"]) for part in parts]


def test_train_evaluate_and_predict(command, trained, tmp_path):
    outcome = command("evaluate", *trained)
    assert outcome.code == 0, outcome.err
    assert float(outcome.rows["loss"]) < 0.01
    outcome = command("predict", *trained, "--format=parquet", "--output=out")
    assert outcome.code == 0, outcome.err
    found = read_predictions(tmp_path / "out")
    assert found["id"].to_pylist() == [*range(ROWS)]
    assert found["text"].to_pylist() == [str(row) for row in range(ROWS)]
    for row, (x, output) in enumerate(found["pair"].to_pylist()):
        assert x == row % 3 - 1
        assert output == pytest.approx(2 * x, abs=0.1)


def test_shards_have_each_row_once(command, trained, tmp_path):
    for shard in range(3):
        outcome = command(
            "predict", *trained, "--format=parquet", "--output=out", "--num_shards=3",
            f"--shard={shard}",
        )  # fmt: skip
        assert outcome.code == 0, outcome.err
    assert sorted(read_predictions(tmp_path / "out")["id"].to_pylist()) == [*range(ROWS)]


def test_shards_of_another_number_are_not_mixed(command, trained):
    arguments = ("predict", *trained, "--format=parquet", "--output=out", "--shard=1")
    assert command(*arguments, "--num_shards=2").code == 0
    outcome = command(*arguments, "--num_shards=3")
    assert outcome.code == 2
    assert "--num_shards=3: out/shard-1-of-2-part-0.parquet is of 2 shards" in outcome.err


@pytest.mark.long
def test_tasks_of_a_cluster_predict_a_shard_each(command, trained, tmp_path, monkeypatch):
    cluster = {name: [f"host{name}:1"] for name in ("chief", "evaluator", "ps")}
    cluster["worker"] = ["a:1", "b:1"]
    for task, index in (("worker", 1), ("chief", 0), ("ps", 0), ("evaluator", 0), ("worker", 0)):
        environment = {"cluster": cluster, "task": {"type": task, "index": index}}
        monkeypatch.setenv("TF_CONFIG", json.dumps(environment))
        outcome = command("predict", *trained, "--format=parquet", "--output=out")
        assert outcome.code == 0, outcome.err
    assert sorted(path.name for path in (tmp_path / "out").glob("*.parquet")) == [
        f"shard-{shard}-of-3-part-0.parquet" for shard in range(3)
    ]
    assert sorted(read_predictions(tmp_path / "out")["id"].to_pylist()) == [*range(ROWS)]


def test_a_complete_shard_is_not_predicted_again(command, trained, tmp_path):
    arguments = ("predict", *trained, "--format=parquet", "--output=out")
    assert command(*arguments).code == 0
    assert [state["is_complete"] for state in read_states(tmp_path / "out")] == [True]
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    assert command(*arguments).code == 0
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()} == before


# Kills itself before it renames the n-th unfinished part.
KILLED = """
import os, signal, sys
from estimator_train.cli.main import main

left = [int(sys.argv[1])]

def kill(event, arguments):
    if event == "os.rename" and str(arguments[0]).endswith(".unfinished"):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(kill)
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.long
def test_a_killed_shard_continues(trained, tmp_path):
    rows = 1_050_000  # Six parts.
    table = pa.table({"id": np.arange(rows), "x": np.ones(rows, np.float32)})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=70_000)
    out = tmp_path / "out"
    arguments = ["predict", *trained, "--batch_size=5000", "--format=parquet", "--output=out"]
    written = {}
    for number, parts in ((1, 0), (2, 1), (3, 3)):
        done = subprocess.run(forked.python("-c", KILLED, number, *arguments), cwd=tmp_path)
        assert done.returncode == -signal.SIGKILL
        assert len([*out.glob(".*.unfinished")]) == 1
        assert all(path.stat().st_mtime_ns == time for path, time in written.items())
        written = {path: path.stat().st_mtime_ns for path in out.glob("*.parquet")}
        assert len(written) == parts
    run_process([sys.executable, "-m", "estimator_train", *arguments], cwd=tmp_path)
    assert all(path.stat().st_mtime_ns == time for path, time in written.items())
    assert np.array_equal(np.sort(read_predictions(out)["id"].to_numpy()), np.arange(rows))
    assert [state["batches"] for state in read_states(out)] == [40, 80, 120, 160, 200, 210]
    assert [state["is_complete"] for state in read_states(out)] == [False] * 5 + [True]
    assert len([*out.iterdir()]) == 6


@pytest.mark.long
def test_other_programs_read_the_folder(command, trained, tmp_path):
    import polars

    for shard in range(2):
        arguments = ("--format=parquet", "--output=out", "--num_shards=2", f"--shard={shard}")
        assert command("predict", *trained, *arguments).code == 0
    frames = (pd.read_parquet(tmp_path / "out"), polars.read_parquet(tmp_path / "out"))
    for frame in frames:
        assert sorted(frame["id"]) == [*range(ROWS)]


def test_a_file_of_another_program_is_not_continued(command, trained, tmp_path):
    (tmp_path / "out").mkdir()
    part = tmp_path / "out" / "shard-0-of-1-part-0.parquet"
    pq.write_table(pa.table({"id": [1]}), part)
    outcome = command("predict", *trained, "--format=parquet", "--output=out")
    assert outcome.code == 2
    assert "out/shard-0-of-1-part-0.parquet is not a part of predictions" in outcome.err
    assert pq.read_table(part)["id"].to_pylist() == [1]


def test_changed_input_files_do_not_continue(command, trained, tmp_path):
    arguments = ("predict", *trained, "--format=parquet", "--output=out")
    assert command(*arguments).code == 0
    table = pq.read_table(tmp_path / "rows.parquet")
    pq.write_table(table[:-8], tmp_path / "rows.parquet", row_group_size=30)
    outcome = command(*arguments)
    assert outcome.code == 2
    assert "part-0.parquet belongs to other predictions: input_files was" in outcome.err
    assert "'batches': 13" in outcome.err
    assert "'batches': 12" in outcome.err
    assert "Choose another --output, or remove" in outcome.err


def test_files_in_folders_that_match_are_described(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"day={name}").mkdir()
        (tmp_path / f"day={name}" / "rows.parquet").write_bytes(b"four")
    sources = [f"parquet:{tmp_path}{below}" for below in ("", "/day=*", "/day=*/*.parquet")]
    descriptions = [describe_files(source) for source in sources]
    assert descriptions[0]["files"] == 2
    assert descriptions[0]["bytes"] == 8
    assert descriptions == descriptions[:1] * 3


def test_bytes_that_are_no_text_are_an_error(command, trained, tmp_path):
    model = MODEL.replace('tf.strings.as_string(features["id"])', "tf.io.decode_base64(['_w'] * 8)")
    (tmp_path / "scaled.py").write_text(model)
    sys.modules.pop("scaled", None)
    outcome = command("predict", *trained, "--format=parquet", "--output=out")
    assert outcome.code == 2
    assert "The predictions 'text' have bytes that are not UTF-8: b'\\xff'." in outcome.err


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        ([{"y": np.zeros((2, 3))}, {"y": np.zeros((2, 5))}], r"'y' are .*\[5\] in a batch.*\[3\]"),
        ([{"y": np.zeros(2), "mean": np.float32(1)}], r"'mean' of a batch have the shape \(\)"),
        ([{"mean": np.float32(1)}], "expected one value for each example"),
        ([{"y": np.zeros(2, np.complex64)}], r"'y', complex64 of the shape \(2,\), cannot"),
        ([{"y": np.zeros((2, 0))}], r"'y', float64 of the shape \(2, 0\), cannot"),
    ],
)
def test_predictions_without_a_column_are_an_error(tmp_path, batches, message):
    parts = ParquetParts(str(tmp_path), 0, 1, {})
    with pytest.raises(UsageError, match=message):
        parts.write(batches)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ({"y": np.zeros((1, 5))}, "'y' are .* in one before it"),
        ({"z": np.zeros((1, 3))}, r"The predictions are \['z'\], and \['y'\] in the part before"),
    ],
)
def test_other_columns_do_not_continue(tmp_path, batch, message):
    def stop():
        yield {"y": np.zeros((200_000, 3))}  # A part.
        yield {"y": np.ones((1, 3))}
        raise InterruptedError

    with pytest.raises(InterruptedError):
        ParquetParts(str(tmp_path), 0, 1, {}).write(stop())
    with pytest.raises(UsageError, match=message):
        ParquetParts(str(tmp_path), 0, 1, {}).write([batch])
    ParquetParts(str(tmp_path), 0, 1, {}).write([{"y": np.ones((1, 3))}])
    assert pq.read_table(tmp_path)["y"].to_pylist()[199_999:] == [[0, 0, 0], [1, 1, 1]]


def test_bfloat16_predictions_are_written_as_float32(tmp_path):
    values = np.array([1.5, -3], tf.bfloat16.as_numpy_dtype)
    ParquetParts(str(tmp_path), 0, 1, {}).write([{"y": values}])
    assert pq.read_table(tmp_path).to_pydict() == {"y": [1.5, -3]}


@pytest.mark.long
def test_other_predictions_do_not_continue(command, trained):
    arguments = ("predict", *trained, "--format=parquet", "--output=out")
    assert command(*arguments).code == 0
    outcome = command(*arguments, "--batch_size=16")
    assert outcome.code == 2
    assert "shard-0-of-1-part-0.parquet belongs to other predictions" in outcome.err


def test_data_shows_the_table(command, job):
    outcome = command("data", "--input=parquet:rows.parquet", "--input_label=y", "--measure_secs=0")
    assert outcome.code == 0, outcome.err
    assert "features[id]  int64 (None,)" in outcome.out
    assert "labels" in outcome.out


def test_functions_of_a_stream_of_lines_are_no_warnings(command, tmp_path):
    lines = ["x,y", *(f"{row},1.0" for row in range(300))]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    outcome = command("data", "--input=csv:rows.csv", "--input_label=y", "--measure_secs=0")
    assert outcome.code == 0, outcome.err
    assert "AutoGraph" not in outcome.err


def test_data_proposes_feature_columns(command, tmp_path):
    numbers = range(60)
    table = pa.table(
        {
            "price": pa.array([n / 7 for n in numbers], pa.float32()),
            "shop": [f"s{n % 3}" for n in numbers],
            "user": [f"u{n}" for n in numbers],
            "item": [n % 9 for n in numbers],
            "big": [n * 10**9 for n in numbers],
            "pair": pa.array([[1.0, 2.0]] * 60, pa.list_(pa.float32(), 2)),
            "new": [n % 2 == 0 for n in numbers],
            "list": [[n] for n in numbers],
            "click": [n % 2 for n in numbers],
        }
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    arguments = ("--input=parquet:rows.parquet", "--input_label=click", "--measure_secs=0")
    outcome = command("data", *arguments)
    assert outcome.code == 0, outcome.err
    code = outcome.out[outcome.out.index("fc = ") :]
    names = {"tf": tf}
    exec(code, names)
    proposed = {
        column.name: (type(column).__name__, getattr(column, "num_buckets", column.shape
                      if hasattr(column, "shape") else None))
        for column in names["columns"]
    }  # fmt: skip
    assert proposed == {
        "price": ("NumericColumn", (1,)),
        "shop": ("VocabularyListCategoricalColumn", 3),
        "user": ("HashedCategoricalColumn", 1000),
        "item": ("IdentityCategoricalColumn", 9),
        "big": ("NumericColumn", (1,)),
        "pair": ("NumericColumn", (2,)),
    }
    assert "# 'new' has bools: cast it to an integer" in code
    assert "# 'list' is ragged: use its to_sparse() or padding" in code
    with tf.Graph().as_default():
        features = {name: tf.constant(table[name].to_pylist()) for name in proposed}
        logits = tf.compat.v1.feature_column.linear_model(features, names["columns"])
        assert logits.shape == [60, 1]


def test_wrong_flags(command, job):
    outcome = command("data", "--input=orc:rows")
    assert outcome.code == 2
    assert "must be READER:PATH with the reader parquet, arrow or csv" in outcome.err
    outcome = command("train", *job, "--input_fn=scaled:data")
    assert outcome.code == 2
    assert "give only one" in outcome.err
    outcome = command("predict", *job, "--format=parquet")
    assert outcome.code == 2
    assert "--output=DIR is needed" in outcome.err
