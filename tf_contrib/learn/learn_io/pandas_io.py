"""Arrays from data frames of pandas."""

import sys
from typing import Any

import numpy as np


def extract_pandas_data(data: Any) -> Any:
    """Returns the values of a data frame as floats, and other data unchanged.

    Args:
      data: Data frame of numbers or bools, or anything else.

    Raises:
      ValueError: A column has other values.
    """
    if not _is_frame(data):
        return data
    wrong = [
        f"'{name}' type='{kind}'" for name, kind in data.dtypes.items() if kind.kind not in "iufb"
    ]
    if wrong:
        raise ValueError(
            "Data types for extracting pandas data must be int, float, or bool. Found: "
            + ", ".join(wrong)
        )
    return data.values.astype(np.float64)


def extract_pandas_matrix(data: Any) -> Any:
    """Returns the values of a data frame, and other data unchanged."""
    return data.values if _is_frame(data) else data


def extract_pandas_labels(labels: Any) -> Any:
    """Returns the values of a data frame of one column, and other data unchanged.

    Args:
      labels: Data frame of one column of numbers or bools, or anything else.

    Raises:
      ValueError: There are several columns, or the column has other values.
    """
    if not _is_frame(labels):
        return labels
    if len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    wrong = [
        f"'{name}' type={kind}" for name, kind in labels.dtypes.items() if kind.kind not in "iufb"
    ]
    if wrong:
        raise ValueError(
            "Data types for extracting labels must be int, float, or bool. Found: "
            + ", ".join(wrong)
        )
    return labels.values


def _is_frame(data: Any) -> bool:
    # A program that has a data frame has imported pandas, which is slow to import.
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(data, pandas.DataFrame)
