"""Names that Python and NumPy had when the codebase was written."""

import collections.abc
import dataclasses
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
}

MODULES = {
    "collections": ("collections",),
    "dataclasses": ("dataclasses",),
    "inspect": ("inspect",),
    "numpy": ("numpy",),
    "time": ("time",),
}
NAMES: dict[str, str | Callable[[], Any]] = {
    **{f"collections.{name}": f"collections.abc:{name}" for name in collections.abc.__all__},
    **{f"numpy.{name}": target for name, target in _NUMPY.items()},
    "dataclasses.dataclass": "estimator_train.legacy.trees.python:_dataclass",
    "inspect.getargspec": "estimator_train.legacy.trees.python:_getargspec",
    "time.clock": "time:process_time",
}


def _dataclass(cls: Any = None, /, **options: Any) -> Any:
    """`dataclasses.dataclass` as up to Python 3.10, whose defaults need not be hashable."""
    if cls is None:
        return lambda decorated: _dataclass(decorated, **options)
    kinds: set[Any] = set()
    for name in cls.__dict__.get("__annotations__", ()):
        default = cls.__dict__.get(name)
        kind = type(default.default if isinstance(default, dataclasses.Field) else default)
        # Lists, dicts and sets were errors then, too.
        if kind.__hash__ is None and not issubclass(kind, (list, dict, set)):
            kinds.add(kind)
    for kind in kinds:
        kind.__hash__ = object.__hash__
    try:
        return dataclasses.dataclass(**options)(cls)
    finally:
        for kind in kinds:
            kind.__hash__ = None


def _as_scalar(array: Any) -> Any:
    return array.item()


def _getargspec(function: Any) -> Any:
    import collections
    import inspect

    spec = inspect.getfullargspec(function)
    ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")  # noqa: N806
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)
