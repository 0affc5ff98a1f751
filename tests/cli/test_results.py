"""Results as text: metrics in a table, predictions as JSON or CSV lines."""

import json

import numpy as np

from estimator_train.cli.output import results


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
