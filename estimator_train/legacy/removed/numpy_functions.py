"""Functions of NumPy and SciPy as they were before they were removed or changed."""

import math
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

trapezoid = np.trapezoid if hasattr(np, "trapezoid") else np.trapz  # type: ignore[attr-defined]  # NumPy 1
NINF, NZERO, PZERO = -math.inf, -0.0, 0.0
SCTYPES = {
    "int": [np.int8, np.int16, np.int32, np.int64],
    "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
    "float": [np.float16, np.float32, np.float64, np.longdouble],
    "complex": [np.complex64, np.complex128, np.clongdouble],
    "others": [bool, object, bytes, str, np.void],
}


def as_scalar(array: Any) -> Any:
    """Does the same as `numpy.asscalar`."""
    return array.item()


def sum_items(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, **more: Any) -> Any:
    """Calls `numpy.sum`; adds up the items of a generator, as NumPy did before 2.4."""
    if not isinstance(a, types.GeneratorType):
        return np.sum(a, axis, dtype, out, **more)
    total = sum(a)
    if out is None:
        return total
    out[...] = total
    return out


def array(value: Any, *arguments: Any, **named: Any) -> Any:
    """Calls `numpy.array` as before NumPy 1.24.

    Rows of different lengths become objects, and `copy=False` copies where it has to.
    """
    if named.get("copy") is False:
        del named["copy"]
        return _make_array(np.asarray, value, arguments, named)
    return _make_array(np.array, value, arguments, named)


def as_array(value: Any, *arguments: Any, **named: Any) -> Any:
    """Calls `numpy.asarray`; rows of different lengths become objects, as before NumPy 1.24."""
    return _make_array(np.asarray, value, arguments, named)


def _make_array(
    make: Callable[..., Any], value: Any, arguments: tuple[Any, ...], named: dict[str, Any]
) -> Any:
    try:
        return make(value, *arguments, **named)
    except ValueError as error:
        if "inhomogeneous" not in str(error) or arguments or "dtype" in named:
            raise
        return make(value, dtype=object, **named)


def as_float_array(value: Any, dtype: Any = float) -> Any:
    """Does the same as `numpy.asfarray`."""
    return np.asarray(value, dtype)


def from_string(string: Any, dtype: Any = float, count: int = -1, sep: str = "") -> Any:
    """Calls `numpy.fromstring`; reads bytes too, as before NumPy 2.3."""
    if sep:
        return np.fromstring(string, dtype, count, sep=sep)
    data = string.encode("latin1") if isinstance(string, str) else string
    return np.frombuffer(data, dtype, count).copy()


def _rename_interpolation(arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns arguments with the name that replaced `interpolation` in NumPy 1.22."""
    if "interpolation" in arguments:
        method = arguments.pop("interpolation")
        return {**arguments, "method": method}
    return arguments


def quantile(*arguments: Any, **named: Any) -> Any:
    """Calls `numpy.quantile`; takes `interpolation`, as before NumPy 2."""
    return np.quantile(*arguments, **_rename_interpolation(named))


def percentile(*arguments: Any, **named: Any) -> Any:
    """Calls `numpy.percentile`; takes `interpolation`, as before NumPy 2."""
    return np.percentile(*arguments, **_rename_interpolation(named))


def histogram(
    a: Any,
    bins: Any = 10,
    range: Any = None,
    normed: bool | None = None,
    weights: Any = None,
    density: bool | None = None,
) -> Any:
    """Calls `numpy.histogram`; takes `normed`, as before NumPy 1.24."""
    return np.histogram(a, bins, range, density=density or normed, weights=weights)


def set_printoptions(precision: Any = None, threshold: Any = None, *more: Any, **named: Any) -> Any:
    """Calls `numpy.set_printoptions`; a threshold of NaN prints all, as before NumPy 1.16."""
    threshold = sys.maxsize if threshold is not None and np.isnan(threshold) else threshold
    np.set_printoptions(precision, threshold, *more, **named)


def find_common_type(array_types: Sequence[Any], scalar_types: Sequence[Any]) -> Any:
    """Does nearly the same as `numpy.find_common_type`: the type that holds all others."""
    return np.result_type(*array_types, *scalar_types)


def msort(a: Any) -> Any:
    """Does the same as `numpy.msort`: sorts along the first axis."""
    return np.sort(a, axis=0)


def disp(message: object, device: Any = None, linefeed: bool = True) -> None:
    """Does the same as `numpy.disp`: prints a message."""
    print(message, file=device, end="\n" if linefeed else "", flush=True)


def issubclass_(cls: Any, base: Any) -> bool:
    """Does the same as `numpy.issubclass_`: returns False unless it gets a class."""
    return isinstance(cls, type) and issubclass(cls, base)


def ignore(*_: Any, **__: Any) -> None:
    """Does nothing: today's NumPy has no such setting."""


def deprecate(*arguments: Any, **_: Any) -> Any:
    """Does the same as `numpy.deprecate`, without its warnings."""
    return arguments[0] if arguments and callable(arguments[0]) else lambda function: function


def recfromtxt(file: Any, **named: Any) -> Any:
    """Does the same as `numpy.recfromtxt`: reads a text file into a record array."""
    return np.genfromtxt(file, **{"dtype": None, **named}).view(np.recarray)


def recfromcsv(file: Any, **named: Any) -> Any:
    """Does the same as `numpy.recfromcsv`: reads a CSV file with a header into a record array."""
    settings = {"case_sensitive": "lower", "names": True, "delimiter": ",", **named}
    return recfromtxt(file, **settings)


def itemfreq(a: Any) -> Any:
    """Does the same as `scipy.stats.itemfreq`: returns each value and how often it occurs."""
    return np.array(np.unique(a, return_counts=True)).T


class _Casts(dict[Any, Callable[[Any], Any]]):
    """The dictionary `numpy.cast` of a function for each data type."""

    def __missing__(self, dtype: Any) -> Callable[[Any], Any]:
        return lambda value: np.asarray(value).astype(dtype)


CAST = _Casts()
