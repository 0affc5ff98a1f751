"""`history.jsonl`, and numbers that JSON lacks (`estimator_train/json_numbers.py`)."""

import json
import os
import warnings

import numpy as np
import tensorflow as tf

import estimator_train as est
from estimator_train.engine.run import history


def lines(directory):
    """Returns the log points and evaluations."""
    found = map(json.loads, (directory / "history.jsonl").read_text().splitlines())
    return [line for line in found if "goodput" not in line]


def test_log_points_and_evaluations_are_lines(model_fn, input_fn, one_epoch, tmp_path):
    config = est.RunConfig(log_step_count_steps=5)
    estimator = est.Estimator(model_fn, tmp_path, config).train(input_fn, steps=12)
    metrics = estimator.evaluate(one_epoch, name="held_out")
    found = lines(tmp_path)
    assert [line["step"] for line in found] == [1, 6, 11, 12]
    assert "examples_per_sec" not in found[0]
    for line in found[1:3]:
        np.testing.assert_allclose(line["examples_per_sec"], 8 * line["steps_per_sec"])
        assert found[0]["loss"] > line["loss"] > 0
    assert found[3]["eval"] == "held_out"
    assert found[3]["metrics"] == {name: value.item() for name, value in metrics.items()}
    assert found[3]["checkpoint"] == estimator.latest_checkpoint()
    assert found[0]["time"] < found[3]["time"]


def test_recorded_metrics_of_a_checkpoint_are_those_that_evaluate_returned(
    model_fn, input_fn, one_epoch, tmp_path
):
    estimator = est.Estimator(model_fn, tmp_path / "m").train(input_fn, steps=2)
    first = estimator.evaluate(one_epoch)
    estimator.train(input_fn, steps=2)
    metrics = estimator.evaluate(one_epoch)
    with open(tmp_path / "m" / "history.jsonl", "a") as file:
        file.write('{"step": 9, "eval": "')  # The process was killed here.
    (tmp_path / "m").rename(tmp_path / "moved")
    saved = f"elsewhere/model.ckpt-{metrics['global_step']}"
    found = history.read_metrics(str(tmp_path / "moved"), "", saved)
    assert found == metrics != first
    assert {name: type(value) for name, value in found.items()} == {
        name: type(value) for name, value in metrics.items()
    }
    assert history.read_metrics(str(tmp_path / "moved"), "other", saved) is None
    assert history.read_metrics(str(tmp_path / "moved"), "", "model.ckpt-3") is None
    assert history.read_metrics(str(tmp_path), "", saved) is None


def test_a_recorded_array_and_a_double_keep_their_values(tmp_path):
    metrics = {"curve": np.float32([0.1, np.nan]), "ratio": np.float64(0.1), "count": np.int64(3)}
    for recorded in ({"count": 2}, metrics):  # The last evaluation of a checkpoint counts.
        entry = {"eval": "", "checkpoint": "m-1", "metrics": recorded}
        history.append(str(tmp_path), 1, entry)
    found = history.read_metrics(str(tmp_path), "", "m-1")
    np.testing.assert_array_equal(found.pop("curve"), metrics.pop("curve"))
    assert found == metrics


def test_numbers_that_json_does_not_have_are_valid_json_and_are_read_back(tmp_path):
    metrics = {
        "nan": np.float32(np.nan),
        "inf": np.float64(np.inf),
        "curve": np.array([-np.inf, np.nan, 0.5]),
        "table": np.float32([[np.nan], [2]]),
    }
    entry = {"eval": "", "checkpoint": "m-1", "metrics": metrics}
    history.append(str(tmp_path), 1, {"loss": np.float32(np.nan), "steps_per_sec": 2.0})
    history.append(str(tmp_path), 1, entry)

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    log_point, evaluation = (
        json.loads(line, parse_constant=refuse)
        for line in (tmp_path / "history.jsonl").read_text().splitlines()
    )
    assert log_point["loss"] is None
    expected = {"nan": None, "inf": "Infinity", "curve": ["-Infinity", None, 0.5]}
    assert evaluation["metrics"] == {**expected, "table": [[None], [2.0]]}
    found = history.read_metrics(str(tmp_path), "", "m-1")
    for name, value in metrics.items():
        np.testing.assert_array_equal(found[name], value)
        assert found[name].dtype == np.float32
    with open(tmp_path / "history.jsonl", "a") as file:  # As earlier versions wrote it.
        file.write('{"step": 1, "eval": "", "checkpoint": "m-1", "metrics": {"nan": NaN}}\n')
    assert np.isnan(history.read_metrics(str(tmp_path), "", "m-1")["nan"])


def test_a_history_continues_after_a_restart(model_fn, input_fn, tmp_path):
    config = est.RunConfig(log_step_count_steps=5)
    for max_steps in (3, 8):
        est.Estimator(model_fn, tmp_path, config).train(input_fn, max_steps=max_steps)
    assert [line["step"] for line in lines(tmp_path)] == [1, 4]


def test_a_history_that_cannot_be_written_is_a_warning(model_fn, input_fn, tmp_path, caplog):
    (tmp_path / "history.jsonl").mkdir()
    estimator = est.Estimator(model_fn, tmp_path).train(input_fn, steps=2)
    assert estimator.get_variable_value("global_step") == 2
    assert "history.jsonl could not be written" in caplog.text


def test_long_lines_of_several_processes_are_not_mixed(tmp_path):
    name = "a" * 100_001  # Longer than the buffers of files.
    writers = []
    for task in range(4):
        if not (writer := os.fork()):
            recorded = history.History(str(tmp_path))
            for step in range(150):
                recorded.append(step, {"task": task, "eval": name})
            os._exit(0)
        writers.append(writer)
    assert [os.waitpid(writer, 0)[1] for writer in writers] == [0] * 4
    # A writer that opens the file during a write of another begins with an empty line.
    text = (tmp_path / "history.jsonl").read_text()
    found = [json.loads(line) for line in text.splitlines() if line]
    assert sorted((line["task"], line["step"]) for line in found) == [
        (task, step) for task in range(4) for step in range(150)
    ]


def test_a_line_follows_one_that_a_full_disk_cut_off(tmp_path):
    (tmp_path / "history.jsonl").write_text('{"step": 1, "ti')
    for step in (2, 3):
        history.append(str(tmp_path), step, {"loss": 0.5})
    cut, *rest = (tmp_path / "history.jsonl").read_text().splitlines()
    assert cut == '{"step": 1, "ti'
    assert [json.loads(line)["step"] for line in rest] == [2, 3]


def test_metrics_that_are_not_numbers_are_skipped(tmp_path):
    def model_fn(features, labels, mode):
        metrics = {
            "text": (tf.constant("abc"), tf.no_op()),
            "pair": (tf.constant([1.0, 2.0]), tf.no_op()),
        }
        return est.EstimatorSpec(mode, loss=features, eval_metric_ops=metrics)

    est.Estimator(model_fn, tmp_path).evaluate(lambda: tf.data.Dataset.from_tensors(3.0))
    metrics = lines(tmp_path)[0]["metrics"]
    assert metrics == {"global_step": 0, "loss": 3.0, "pair": [1.0, 2.0]}


def test_a_file_that_nobody_closes_is_closed_without_a_warning(tmp_path, recwarn):
    """An error of training ends no hook, so that nothing closes the history."""
    warnings.simplefilter("always", ResourceWarning)
    opened = history.LineFile(str(tmp_path / "lines"))
    opened.append("{}")
    del opened
    assert [one for one in recwarn if one.category is ResourceWarning] == []
