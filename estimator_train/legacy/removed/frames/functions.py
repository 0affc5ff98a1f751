"""Functions that pandas has removed or changed, and the methods that `prepare` adds."""

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from estimator_train.legacy.removed.add import accept_positions
from estimator_train.legacy.removed.frames import columns, methods

# Arguments that pandas no longer takes and that change no result of a readable file.
_WITHOUT_EFFECT = frozenset(
    ["infer_datetime_format", "keep_date_col", "mangle_dupe_cols", "verbose", "warn_bad_lines"]
)
concat = accept_positions(pd.concat)
_read_csv = accept_positions(pd.read_csv)
_read_table = accept_positions(pd.read_table)
read_excel = accept_positions(pd.read_excel)
pivot = accept_positions(pd.pivot)


def prepare() -> None:
    """Adds methods, arguments and behaviour of old versions to the classes of pandas."""
    methods.add_removed_methods()
    columns.write_back_to_frames()
    # Columns of text have the type `object`, as before pandas 3.
    with contextlib.suppress(KeyError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pd.set_option("future.infer_string", False)


def read_csv(*arguments: Any, **named: Any) -> Any:
    """Calls `pandas.read_csv`, and takes the arguments of pandas 1 too."""
    return _read(_read_csv, arguments, named)


def read_table(*arguments: Any, **named: Any) -> Any:
    """Calls `pandas.read_table`, and takes the arguments of pandas 1 too."""
    return _read(_read_table, arguments, named)


def _read(read: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    named = {name: value for name, value in named.items() if name not in _WITHOUT_EFFECT}
    if named.pop("delim_whitespace", False):
        named["sep"] = r"\s+"
    if not named.pop("error_bad_lines", True):
        named["on_bad_lines"] = "skip"
    squeezes = named.pop("squeeze", False)
    table = read(*arguments, **named)
    return table.squeeze("columns") if squeezes else table


def get_dummies(*arguments: Any, dtype: Any = None, **named: Any) -> Any:
    """Calls `pandas.get_dummies`; columns are numbers by default, as before pandas 2."""
    return pd.get_dummies(*arguments, dtype=np.uint8 if dtype is None else dtype, **named)


def to_datetime(*arguments: Any, **named: Any) -> Any:
    """Calls `pandas.to_datetime`; times count nanoseconds, as before pandas 3."""
    named.pop("infer_datetime_format", None)
    times = pd.to_datetime(*arguments, **named)
    if isinstance(times, pd.Series):
        is_time = isinstance(times.dtype, pd.DatetimeTZDtype) or times.dtype.kind == "M"
        return times.dt.as_unit("ns") if is_time else times
    return times.as_unit("ns") if hasattr(times, "as_unit") else times


def value_counts(values: Any, *arguments: Any, **named: Any) -> Any:
    """Does the same as `pandas.value_counts`: counts the values of an array."""
    return pd.Series(values).value_counts(*arguments, **named)
