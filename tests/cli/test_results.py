"""Results as text: metrics in a table, predictions as JSON or CSV lines."""

import json
import os

import numpy as np
import pytest

from estimator_train.cli import results
from estimator_train.cli.results import open_atomically


def test_metrics_are_sorted_with_loss_and_step_last():
    metrics = {
        "loss": np.float32(0.1),
        "global_step": np.int64(1_000_000),
        "b": np.float32(1 / 3),
        "a": np.float32(1.0),
    }
    rows = results.format_metrics(metrics)
    assert list(rows.items()) == [
        ("a", "1"),
        ("b", "0.333333"),
        ("loss", "0.1"),
        ("global_step", "1000000"),
    ]
    assert results.format_table(rows).splitlines()[1:3] == [
        "b            0.333333",
        "loss         0.1",
    ]


PREDICTIONS = [
    {"p": np.array([[0.1, 2.0]], np.float32), "name": b"caf\xc3\xa9", "n": np.int64(7)},
    {"p": np.array([[1e-9, -1.0]], np.float32), "name": b'a,"b"', "n": np.int64(8)},
]


def test_json_lines_have_short_numbers_and_text():
    lines = list(results.write_json_lines(PREDICTIONS))
    assert lines[0] == '{"p": [[0.1, 2.0]], "name": "café", "n": 7}'
    assert json.loads(lines[1]) == {"p": [[1e-9, -1.0]], "name": 'a,"b"', "n": 8}


def test_json_lines_have_null_for_nan():
    (line,) = results.write_json_lines([{"p": np.float32([np.nan, np.inf, -np.inf, 1])}])
    assert line == '{"p": [null, "Infinity", "-Infinity", 1.0]}'


def test_csv_lines_have_a_column_for_each_number():
    assert list(results.write_csv_lines(PREDICTIONS)) == [
        "p_0,p_1,name,n",
        "0.1,2.0,café,7",
        '1e-09,-1.0,"a,""b""",8',
    ]


def test_predictions_without_names_are_printed_as_values():
    assert list(results.write_json_lines([np.float32(0.5)])) == ['{"predictions": 0.5}']
    assert list(results.write_csv_lines([np.array([1, 2])])) == [
        "predictions_0,predictions_1",
        "1,2",
    ]
    assert list(results.write_csv_lines([])) == []


def test_a_pipe_and_a_link_stay_what_they_are(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for name in ("pipe", "link"):
        with open_atomically(str(tmp_path / name)) as output:
            output.write("line\n")
    assert os.read(reader, 100) == b"line\n"
    os.close(reader)
    assert (tmp_path / "file").read_text() == "line\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link", "pipe"]
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "link").is_symlink()


def test_a_missing_folder_is_an_error_that_names_the_file(tmp_path):
    path = str(tmp_path / "missing" / "out.csv")
    with pytest.raises(FileNotFoundError) as caught, open_atomically(path):
        pass
    assert (caught.value.filename, caught.value.strerror) == (
        path,
        "the folder of this file does not exist",
    )
