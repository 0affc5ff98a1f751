"""Methods and arguments that pandas has removed, for its frames and series."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import pandas as pd
from pandas.core.groupby import DataFrameGroupBy
from pandas.core.indexes import accessors

from estimator_train.legacy.removed.add import accept_positions, add_missing
from estimator_train.legacy.removed.frames.ix import MixedIndexer

# Before pandas 2 these left out columns without numbers.
_REDUCTIONS = ("mean", "median", "std", "var", "sem", "skew", "kurt", "corr", "cov", "quantile")
_GROUP_SETTINGS = ("as_index", "sort", "group_keys", "observed", "dropna")


def add_removed_methods() -> None:
    """Adds removed methods, and accepts removed arguments and ways to give them."""
    for cls in (pd.DataFrame, pd.Series):
        add_missing(cls, _METHODS)
        _accept_positions(cls)
        cls.fillna = _accept_method(cls.fillna)
        cls.to_csv = _rename(cls.to_csv, "line_terminator", "lineterminator")
    add_missing(pd.DataFrame, _METHODS_OF_FRAMES)
    add_missing(pd.Series, {"is_monotonic": _IS_MONOTONIC, "view": _view})
    add_missing(pd.Index, {"is_monotonic": _IS_MONOTONIC, "get_values": pd.Index.to_numpy})
    for name in _REDUCTIONS:
        setattr(pd.DataFrame, name, _leave_out_text(getattr(pd.DataFrame, name)))
    for name in ("mean", "median", "std", "var", "sem"):
        setattr(DataFrameGroupBy, name, _leave_out_text_of_groups(getattr(DataFrameGroupBy, name)))
    DataFrameGroupBy.apply = _keep_groups(DataFrameGroupBy.apply)
    week = property(lambda self: self.isocalendar().week.astype("int64"))
    for cls in (accessors.DatetimeProperties, pd.DatetimeIndex):
        add_missing(cls, {"week": week, "weekofyear": week})


def _accept_positions(cls: type) -> None:
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        if not name.startswith("_"):
            setattr(cls, name, accept_positions(method))


def _rename(method: Callable[..., Any], old: str, new: str) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        if old in named:
            named[new] = named.pop(old)
        return method(self, *arguments, **named)

    return call


def _leave_out_text(method: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a method that leaves out columns without numbers where it failed with them."""

    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return method(self, *arguments, **named)
        except (TypeError, ValueError):
            numbers = self.select_dtypes(["number", "bool"])
            if "numeric_only" in named or numbers.shape[1] in (0, self.shape[1]):
                raise
            return method(numbers, *arguments, **named)

    return call


def _leave_out_text_of_groups(method: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a method of groups that leaves out columns without numbers where it failed."""

    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return method(self, *arguments, **named)
        except TypeError:
            if "numeric_only" in named:
                raise
            return method(self, *arguments, numeric_only=True, **named)

    return call


def _keep_groups(apply: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `apply` of groups whose tables keep the grouped columns, as before pandas 3."""

    @functools.wraps(apply)
    def call(
        self: Any, func: Any, *arguments: Any, include_groups: bool = True, **named: Any
    ) -> Any:
        if not include_groups or not self.exclusions or self._selection is not None:
            return apply(self, func, *arguments, **named)
        keys = self.keys if isinstance(self.keys, list) else [self.keys]
        # pandas leaves out what is a column itself; a copy is none.
        copies = [self.obj[key].copy() if key in self.exclusions else key for key in keys]
        settings = {name: getattr(self, name) for name in _GROUP_SETTINGS}
        return apply(self.obj.groupby(copies, **settings), func, *arguments, **named)

    return call


def _accept_method(original: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a `fillna` that takes `method`, as in pandas 1 and 2."""

    @functools.wraps(original)
    def fillna(self: Any, value: Any = None, method: Any = None, *more: Any, **named: Any) -> Any:
        if isinstance(method, (int, bool)) or more:
            # The positions of today: value, axis, inplace, limit.
            return original(self, value, *([] if method is None else [method]), *more, **named)
        if method is None:
            return original(self, value, **named)
        fill = self.ffill if method in ("ffill", "pad") else self.bfill
        return fill(**named)

    return fillna


def _append(self: Any, other: Any, ignore_index: bool = False, **more: Any) -> Any:
    more.pop("sort", None)
    added = other if isinstance(other, (list, tuple)) else [other]
    if isinstance(self, pd.DataFrame):
        added = [_to_frame(rows) for rows in added]
    return pd.concat([self, *added], ignore_index=ignore_index, **more)


def _to_frame(rows: Any) -> Any:
    if isinstance(rows, dict):
        return pd.DataFrame([rows])
    if isinstance(rows, pd.Series):
        return rows.to_frame().T.infer_objects()
    return rows


def _as_matrix(self: Any, columns: Any = None) -> Any:
    return (self if columns is None else self[columns]).to_numpy()


def _get_value(self: Any, *place: Any) -> Any:
    return self.at[place if len(place) > 1 else place[0]]


def _set_value(self: Any, *arguments: Any) -> Any:
    *place, value = arguments
    self.at[tuple(place) if len(place) > 1 else place[0]] = value
    return self


def _iteritems(self: Any) -> Any:
    return iter(self.items())


def _applymap(self: Any, function: Callable[[Any], Any], **named: Any) -> Any:
    return self.map(function, **named)


def _mad(self: Any, axis: int = 0) -> Any:
    centered = (
        self.sub(self.mean(axis=axis), axis=1 - axis) if self.ndim > 1 else self - self.mean()
    )
    return centered.abs().mean(axis=axis)


def _lookup(self: Any, row_labels: Any, col_labels: Any) -> Any:
    rows, columns = self.index.get_indexer(row_labels), self.columns.get_indexer(col_labels)
    return self.to_numpy()[rows, columns]


def _sort(self: Any, columns: Any = None, **named: Any) -> Any:
    return self.sort_index(**named) if columns is None else self.sort_values(columns, **named)


def _view(self: Any, dtype: Any = None) -> Any:
    return pd.Series(self.to_numpy().view(dtype), index=self.index, name=self.name)


_IS_MONOTONIC = property(lambda self: self.is_monotonic_increasing)
_METHODS: dict[str, Any] = {
    "append": _append,
    "as_matrix": _as_matrix,
    "backfill": lambda self, *a, **k: self.bfill(*a, **k),
    "get_value": _get_value,
    "get_values": lambda self: self.to_numpy(),
    "iteritems": _iteritems,
    "ix": property(MixedIndexer),
    "mad": _mad,
    "pad": lambda self, *a, **k: self.ffill(*a, **k),
    "set_value": _set_value,
}
_METHODS_OF_FRAMES: dict[str, Any] = {
    "applymap": _applymap,
    "from_csv": classmethod(
        lambda cls, path, header=0, sep=",", index_col=0, parse_dates=True, **named: pd.read_csv(
            path, header=header, sep=sep, index_col=index_col, parse_dates=parse_dates, **named
        )
    ),
    "get_dtype_counts": lambda self: self.dtypes.astype(str).value_counts(),
    "lookup": _lookup,
    "sort": _sort,
}
