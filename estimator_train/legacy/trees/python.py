"""Names that Python and NumPy had when the codebase was written."""

from collections.abc import Callable
from typing import Any

_ABSTRACT = [
    "Callable",
    "Container",
    "Hashable",
    "ItemsView",
    "Iterable",
    "Iterator",
    "KeysView",
    "Mapping",
    "MappingView",
    "MutableMapping",
    "MutableSequence",
    "MutableSet",
    "Sequence",
    "Set",
    "Sized",
    "ValuesView",
]
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
    "inspect": ("inspect",),
    "numpy": ("numpy",),
    "time": ("time",),
}
NAMES: dict[str, str | Callable[[], Any]] = {
    **{f"collections.{name}": f"collections.abc:{name}" for name in _ABSTRACT},
    **{f"numpy.{name}": target for name, target in _NUMPY.items()},
    "inspect.getargspec": "estimator_train.legacy.trees.python:_getargspec",
    "time.clock": "time:process_time",
}


def _as_scalar(array: Any) -> Any:
    return array.item()


def _getargspec(function: Any) -> Any:
    import collections
    import inspect

    spec = inspect.getfullargspec(function)
    ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")  # noqa: N806
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)
