"""Names of Python, NumPy, SciPy and Pillow that were removed after the codebase was written."""

import collections.abc
import dataclasses
import types
from collections.abc import Callable
from typing import Any

_NUMPY = {
    "bool": "builtins:bool",
    "int": "builtins:int",
    "float": "builtins:float",
    "complex": "builtins:complex",
    "object": "builtins:object",
    "str": "builtins:str",
    "long": "builtins:int",
    "unicode": "builtins:str",
    "float_": "numpy:float64",
    "complex_": "numpy:complex128",
    "string_": "numpy:bytes_",
    "unicode_": "numpy:str_",
    "NaN": "numpy:nan",
    "NAN": "numpy:nan",
    "Inf": "numpy:inf",
    "Infinity": "numpy:inf",
    "PINF": "numpy:inf",
    "infty": "numpy:inf",
    "product": "numpy:prod",
    "cumproduct": "numpy:cumprod",
    "sometrue": "numpy:any",
    "alltrue": "numpy:all",
    "in1d": "numpy:isin",
    "row_stack": "numpy:vstack",
    "trapz": "numpy:trapezoid",
    "asscalar": "estimator_train.legacy.trees.python:_as_scalar",
    "sum": "estimator_train.legacy.trees.python:_sum",
    "quantile": "estimator_train.legacy.trees.python:_quantile",
    "percentile": "estimator_train.legacy.trees.python:_percentile",
}

MODULES = {
    "collections": ("collections",),
    "cv2": ("cv2",),
    "cv2.cv2": ("cv2",),
    "dataclasses": ("dataclasses",),
    "inspect": ("inspect",),
    "numpy": ("numpy",),
    "PIL": ("PIL",),
    "PIL.Image": ("PIL.Image",),
    "scipy": ("scipy",),
    "scipy.misc": ("estimator_train.legacy.trees.scipy_misc",),
    "time": ("time",),
}
NAMES: dict[str, str | Callable[[], Any]] = {
    **{f"collections.{name}": f"collections.abc:{name}" for name in collections.abc.__all__},
    **{f"numpy.{name}": target for name, target in _NUMPY.items()},
    "PIL.Image.ANTIALIAS": "PIL.Image:Resampling.LANCZOS",
    "PIL.Image.LINEAR": "PIL.Image:Resampling.BILINEAR",
    "PIL.Image.CUBIC": "PIL.Image:Resampling.BICUBIC",
    "dataclasses.dataclass": "estimator_train.legacy.trees.python:_dataclass",
    "inspect.getargspec": "estimator_train.legacy.trees.python:_getargspec",
    "time.clock": "time:process_time",
}


def _dataclass(cls: Any = None, /, **options: Any) -> Any:
    """Does the same as `dataclasses.dataclass` of Python 3.10: defaults need not be hashable."""
    if cls is None:
        return lambda decorated: _dataclass(decorated, **options)
    types: set[Any] = set()
    for name in cls.__dict__.get("__annotations__", ()):
        default = cls.__dict__.get(name)
        value = default.default if isinstance(default, dataclasses.Field) else default
        # Python 3.10 rejects lists, dicts and sets too.
        if type(value).__hash__ is None and not isinstance(value, (list, dict, set)):
            types.add(type(value))
    for unhashable in types:
        unhashable.__hash__ = object.__hash__
    try:
        return dataclasses.dataclass(**options)(cls)
    finally:
        for unhashable in types:
            unhashable.__hash__ = None


def _as_scalar(array: Any) -> Any:
    return array.item()


def _sum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, **more: Any) -> Any:
    """Calls `numpy.sum`; adds up the items of a generator, as NumPy did before 2.4."""
    import numpy as np

    if not isinstance(a, types.GeneratorType):
        return np.sum(a, axis, dtype, out, **more)
    total = sum(a)
    if out is None:
        return total
    out[...] = total
    return out


def _rename_interpolation(arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns arguments with the name that replaced `interpolation` in NumPy 1.22."""
    if "interpolation" in arguments:
        method = arguments.pop("interpolation")
        return {**arguments, "method": method}
    return arguments


def _quantile(*arguments: Any, **named: Any) -> Any:
    import numpy as np

    return np.quantile(*arguments, **_rename_interpolation(named))


def _percentile(*arguments: Any, **named: Any) -> Any:
    import numpy as np

    return np.percentile(*arguments, **_rename_interpolation(named))


def _getargspec(function: Any) -> Any:
    import collections
    import inspect

    spec = inspect.getfullargspec(function)
    ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")  # noqa: N806
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)
