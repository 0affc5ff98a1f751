"""Formats the results of commands."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

_LAST_METRICS = ("loss", "global_step")


def format_metrics(metrics: Mapping[str, Any]) -> dict[str, str]:
    """Returns metrics as text: those of the model by name, then the loss and the step."""
    names = (*sorted(set(metrics).difference(_LAST_METRICS)), *_LAST_METRICS)
    return {name: _format_number(metrics[name]) for name in names if name in metrics}


def format_line(metrics: Mapping[str, Any]) -> str:
    """Returns metrics in one line, without the step."""
    rows = format_metrics({name: value for name, value in metrics.items() if name != "global_step"})
    return "  ".join(f"{name} {value}" for name, value in rows.items())


def format_table(rows: Mapping[str, str]) -> str:
    """Returns a line for each row, with the values in a column."""
    width = max(len(name) for name in rows) + 2
    return "\n".join(f"{name:<{width}}{value}" for name, value in rows.items())


def write_json_lines(predictions: Iterable[Any]) -> Iterator[str]:
    """Yields a JSON object for each prediction.

    Args:
      predictions: The results of `Estimator.predict`: a dict of NumPy values for each example, or
        a single value, which becomes `{"predictions": value}`.
    """
    for prediction in predictions:
        named = {name: _to_python(value) for name, value in _as_dict(prediction).items()}
        yield json.dumps(named, ensure_ascii=False)


def write_csv_lines(predictions: Iterable[Any]) -> Iterator[str]:
    """Yields a header, and then the comma-separated values of each prediction.

    Args:
      predictions: As for `write_json_lines`. An array gets a column for each value, in C order:
        `name_0`, `name_1`, ...
    """
    for index, prediction in enumerate(predictions):
        columns: dict[str, Any] = {}
        for name, value in _as_dict(prediction).items():
            flat = np.ravel(value)
            names = [name] if np.ndim(value) == 0 else [f"{name}_{i}" for i in range(len(flat))]
            columns.update(zip(names, (_to_python(number) for number in flat), strict=True))
        if index == 0:
            yield _format_csv_line(columns)
        yield _format_csv_line(columns.values())


LINE_FORMATS: dict[str, Callable[[Iterable[Any]], Iterator[str]]] = {
    "json": write_json_lines,
    "csv": write_csv_lines,
}


def _as_dict(prediction: Any) -> Mapping[str, Any]:
    return prediction if isinstance(prediction, Mapping) else {"predictions": prediction}


def _to_python(value: Any) -> Any:
    """Converts a NumPy value to Python lists, numbers and strings."""
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype == np.float32:
            value = np.asarray(value).astype(str).astype(float)  # 0.1, not 0.10000000149011612
        value = value.tolist()
    if isinstance(value, list):
        return [_to_python(item) for item in value]
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else value


def _format_csv_line(cells: Iterable[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


def _format_number(value: Any) -> str:
    array = np.asarray(value)
    if array.ndim or not np.issubdtype(array.dtype, np.floating):
        return str(value)
    return f"{float(array):.6g}"
