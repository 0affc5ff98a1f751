import re
import time

import numpy as np
import pytest
import tensorflow as tf

from estimator_train.cli import data_speed

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
    assert "far from balanced" in lines[-1]


def test_pictures_go_to_a_contact_sheet(data, tmp_path):
    outcome = data("rows", "--batch_size=5", f"--contact_sheet={tmp_path}/sheet.png")
    assert outcome.out.splitlines()[-1] == f"16 pictures in {tmp_path}/sheet.png"
    sheet = tf.io.decode_png((tmp_path / "sheet.png").read_bytes()).numpy()
    assert sheet.shape == (12, 12, 1)
    assert (sheet[2::3] == 255).all()
    np.testing.assert_array_equal(
        sheet[9:11, 9:11, 0], np.uint8(np.arange(60, 64) / 63 * 255).reshape(2, 2)
    )


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("nothing", [], "the input_fn delivers nothing"),
        ("tensors", [], "--input_fn=own_inputs:tensors returned EagerTensor: only a"),
        ("missing", [], "missing"),
    ],
)
def test_what_cannot_be_looked_at_is_told(data, name, more, message):
    outcome = data(name, *more)
    assert outcome.code == 2
    assert message in outcome.err


def test_a_preset_is_measured_stage_by_stage(command, tmp_path):
    outcome = command("data", "--preset=digits", "--measure_secs=0.01", "--mode=eval")
    assert outcome.code == 0, outcome.err
    assert "examples of each of 10 classes:" in outcome.out
    assert "examples a second, up to each stage:" in outcome.out
    assert len(re.findall("<- holds it back", outcome.out)) == 1


def test_the_stage_that_holds_a_pipeline_back_is_found():
    def slow(row):
        # A wait, unlike work, is as long on a machine that others use too.
        waited = tf.numpy_function(lambda x: time.sleep(0.02) or x, [row], tf.int64)
        return tf.ensure_shape(waited, [])

    dataset = tf.data.Dataset.range(1000).map(slow).batch(2).prefetch(1)
    stages = data_speed.measure(dataset, 1.0)
    assert [stage.name for stage in stages] == ["Range", "Map", "Batch", "Prefetch"]
    report = data_speed.report(stages)
    assert re.search(r"  Map +[\d,]+  <- holds it back", report)
    assert "num_parallel_calls=tf.data.AUTOTUNE" in report
