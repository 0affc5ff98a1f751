"""The command `data`: a look at the input of a job, and proposals for it.

These tests cover `job/data_contents.py` and `job/data_speed.py`.
"""

import itertools
import re

import numpy as np
import pytest
import tensorflow as tf
from absl import flags as absl_flags

import flags
from estimator_train.cli.commands import data as data_command
from estimator_train.cli.job import data_contents, data_speed
from estimator_train.cli.job.job import Job

INPUTS = """
import time
import numpy as np
import tensorflow as tf


def rows(mode, pipeline_options):
    x = {"p": np.arange(64.0).reshape(16, 2, 2, 1), "n": np.arange(16)}
    labels = np.array([0] * 15 + [1])
    dataset = tf.data.Dataset.from_tensor_slices((x, labels))
    return dataset.batch(pipeline_options.batch_size)


def nothing():
    return tf.data.Dataset.range(0)


def tensors():
    return tf.constant(1)
"""


@pytest.fixture
def data(command, tmp_path):
    (tmp_path / "own_inputs.py").write_text(INPUTS)

    def run(name, *more):
        return command("data", f"--input_fn=own_inputs:{name}", "--measure_secs=0", *more)

    return run


def test_shapes_values_and_classes_are_shown(data):
    outcome = data("rows", "--batch_size=5")
    assert outcome.code == 0, outcome.err
    lines = [re.sub(" +", " ", line) for line in outcome.out.splitlines()]
    assert lines[0] == "4 batches with 16 examples:"
    assert "features[p] float64 (None, 2, 2, 1) 0 to 63, mean 31.5" in lines
    assert "features[n] int64 (None,) 0 to 15" in lines
    assert "labels int64 (None,) 0 to 1" in lines
    assert lines[-3:-1] == ["0 15 93.8%", "1 1 6.2%"]
    assert "are unbalanced" in lines[-1]


def test_a_contact_sheet_shows_pictures(data, tmp_path):
    outcome = data("rows", "--batch_size=5", f"--contact_sheet={tmp_path}/sheet.png")
    assert outcome.out.splitlines()[-1] == f"wrote 16 pictures to {tmp_path}/sheet.png"
    sheet = tf.io.decode_png((tmp_path / "sheet.png").read_bytes()).numpy()
    assert sheet.shape == (12, 12, 1)
    assert (sheet[2::3] == 255).all()
    np.testing.assert_array_equal(
        sheet[9:11, 9:11, 0], np.uint8(np.arange(60, 64) / 63 * 255).reshape(2, 2)
    )


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("nothing", [], "the dataset of the input_fn is empty"),
        ("tensors", [], "--input_fn=own_inputs:tensors returned EagerTensor, expected a"),
        ("missing", [], "missing"),
    ],
)
def test_bad_inputs_are_reported(data, name, more, message):
    outcome = data(name, *more)
    assert outcome.code == 2
    assert message in outcome.err


def test_a_preset_is_measured_stage_by_stage(command, tmp_path):
    outcome = command("data", "--preset=digits", "--measure_secs=0.01", "--mode=eval")
    assert outcome.code == 0, outcome.err
    assert "examples of each of 10 classes:" in outcome.out
    assert "examples per second, up to each stage:" in outcome.out
    assert len(re.findall("<- slowest", outcome.out)) == 1


def test_workers_share_the_rows_of_a_preset():
    values = absl_flags.FlagValues()
    for define in data_command.FLAGS:
        define(values)
    flags.parse_with_preset(["data", "--preset=digits", "--train_epochs=1"], values)
    input_fn = Job(values, needs_model=False).make_input_fn("train")
    workers = [(1, 0), (2, 0), (2, 1)]
    contexts = [tf.distribute.InputContext(*worker) for worker in workers]
    assert [rows_of(input_fn(None, context)) for context in contexts] == [1437, 719, 718]


def rows_of(dataset):
    return sum(len(labels) for _, labels in dataset)


def test_stages_are_measured_in_order_from_the_source():
    dataset = tf.data.Dataset.range(10).map(tf.identity).batch(5).prefetch(1)
    stages = data_speed.measure(dataset, 0.0)
    assert [stage.name for stage in stages] == ["Range", "Map", "Batch", "Prefetch"]
    assert all(stage.rate > 0 for stage in stages)


def test_stages_without_work_are_not_shown():
    dataset = tf.data.Dataset.range(10).repeat(2).batch(5).take(3).prefetch(1)
    stages = data_speed.measure(dataset, 0.0)
    assert [stage.name for stage in stages] == ["Range", "Batch", "Prefetch"]


def test_buffers_are_filled_once_in_a_measurement():
    starts = []

    def rows():
        starts.append(1)
        yield from itertools.count()

    endless = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([], tf.int64))
    assert data_speed._measure_elements_per_second(endless.shuffle(10), 0.0) > 0
    assert len(starts) == 1


def test_tensors_of_unknown_rank_are_shown():
    rows = tf.data.Dataset.range(4).map(of_unknown_rank_int).batch(2)
    report = data_contents.format_contents(data_contents.read_batches(rows, 2))
    assert report.splitlines()[1] == "features  int64 of any shape  0 to 3"


def of_unknown_rank_int(number):
    return tf.numpy_function(np.copy, [number], tf.int64)


def batched_by(make):
    """Returns the counted examples in an element of each stage."""
    rows = tf.data.Dataset.from_tensor_slices(np.zeros([12, 3]))
    return data_speed.count_examples(data_speed.list_stages(make(rows)))


def of_unknown_rank(row):
    return tf.numpy_function(np.copy, [row], tf.float64)


def of_open_size(row):
    return tf.ensure_shape(of_unknown_rank(row), [None])


def sliced(batches):
    return tf.data.Dataset.from_tensor_slices(batches)


def seeds():
    return tf.data.Dataset.range(2)


def batch_of_seed(seed):
    return tf.fill([6], seed)


@pytest.mark.parametrize(
    ("make", "examples"),
    [
        (lambda rows: rows.batch(4).prefetch(1), [1, 4, 4]),
        (lambda rows: rows.batch(4, drop_remainder=True).prefetch(1), [1, 4, 4]),
        (lambda rows: rows.map(of_unknown_rank).batch(4), [1, 1, 4]),
        (lambda rows: rows.batch(4).map(of_unknown_rank), [1, 4, 4]),
        (lambda rows: rows.batch(4).unbatch(), [1, 4, 4, 4, 1]),
        (lambda rows: rows.batch(6).rebatch(4), [1, 6, 6, 6, 4]),
        (lambda rows: rows.map(of_open_size).padded_batch(4), [1, 1, 4]),
        (lambda rows: rows.map(of_open_size), [1, 1]),
        (lambda rows: rows.batch(4).batch(2).flat_map(sliced), [1, 4, 1.5, 4]),
        (lambda rows: rows.take(0), [1, None]),
        (lambda rows: seeds().map(batch_of_seed).rebatch(4), [6, 6, 6, 6, 4]),
    ],
)
def test_examples_in_elements_are_counted(make, examples):
    assert batched_by(make) == examples


@pytest.mark.parametrize(
    ("rates", "slowest", "advice"),
    [
        ({"Range": 9e6, "Map": 50, "Batch": 48, "Prefetch": 47}, "Map", "tf.data.AUTOTUNE"),
        ({"Files": 100, "ParallelMap": 98, "Batch": 96}, "Files", "several files in parallel"),
        ({"Range": 9e6, "FromGenerator": 500, "Batch": 490}, "FromGenerator", "Python makes one"),
        ({"Range": 9e6, "Map": 900, "Shuffle": 300, "Prefetch": 310}, "Shuffle", "smaller buffer"),
        ({"Range": 9e6, "Cache": None, "Strange": 100}, "Strange", "simpler work"),
    ],
)
def test_the_slowest_stage_is_found(rates, slowest, advice):
    stages = [data_speed.Stage(name, rate) for name, rate in rates.items()]
    report = data_speed.format_stages(stages)
    assert re.findall(r"(\w+) +[\d,]+  <- slowest", report) == [slowest]
    assert report.splitlines()[-1].startswith(f"{slowest} is the slowest stage.")
    assert advice in report.splitlines()[-1]
