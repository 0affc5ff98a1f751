"""Names of Python, NumPy, SciPy and Pillow that were removed after the codebase was written."""

import collections.abc
import dataclasses
import importlib
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
    "alen": "builtins:len",
    "asfarray": "estimator_train.legacy.trees.python:_as_float_array",
    "bool8": "numpy:bool_",
    "bytes0": "numpy:bytes_",
    "int0": "numpy:intp",
    "mat": "numpy:asmatrix",
    "object0": "numpy:object_",
    "round_": "numpy:round",
    "str0": "numpy:str_",
    "uint0": "numpy:uintp",
    "AxisError": "numpy:exceptions.AxisError",
    "ComplexWarning": "numpy:exceptions.ComplexWarning",
    "RankWarning": "numpy:exceptions.RankWarning",
    "VisibleDeprecationWarning": "numpy:exceptions.VisibleDeprecationWarning",
    "array": "estimator_train.legacy.trees.python:_array",
    "asarray": "estimator_train.legacy.trees.python:_as_array",
    "fromstring": "estimator_train.legacy.trees.python:_from_string",
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
    "fractions": ("fractions",),
    "inspect": ("inspect",),
    "json": ("json",),
    "numpy": ("numpy",),
    "pandas": ("estimator_train.legacy.trees.pandas_names", "pandas"),
    "PIL": ("PIL",),
    "PIL.Image": ("PIL.Image",),
    "scipy": ("scipy",),
    "scipy.misc": ("estimator_train.legacy.trees.scipy_misc",),
    "sklearn": ("sklearn",),
    "sklearn.cross_validation": ("sklearn.model_selection",),
    "sklearn.externals": ("sklearn.externals",),
    "sklearn.externals.joblib": ("joblib",),
    "sklearn.externals.six": ("six",),
    "sklearn.grid_search": ("sklearn.model_selection",),
    "time": ("time",),
    "xml": ("xml",),
    "xml.etree": ("xml.etree",),
    "xml.etree.cElementTree": ("xml.etree.ElementTree",),
    "yaml": ("yaml",),
}
NAMES: dict[str, str | Callable[[], Any]] = {
    **{f"collections.{name}": f"collections.abc:{name}" for name in collections.abc.__all__},
    **{f"numpy.{name}": target for name, target in _NUMPY.items()},
    "PIL.Image.ANTIALIAS": "PIL.Image:Resampling.LANCZOS",
    "PIL.Image.LINEAR": "PIL.Image:Resampling.BILINEAR",
    "PIL.Image.CUBIC": "PIL.Image:Resampling.BICUBIC",
    "dataclasses.dataclass": "estimator_train.legacy.trees.python:_dataclass",
    "inspect.getargspec": "estimator_train.legacy.trees.python:_getargspec",
    "fractions.gcd": "math:gcd",
    "json.load": "estimator_train.legacy.trees.python:_load_json",
    "json.loads": "estimator_train.legacy.trees.python:_loads_json",
    "time.clock": "time:process_time",
    "yaml.load": "estimator_train.legacy.trees.python:_load_yaml",
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


def _array(value: Any, *arguments: Any, **named: Any) -> Any:
    """Calls `numpy.array`; rows of different lengths become objects, as before NumPy 1.24."""
    import numpy as np

    return _make_array(np.array, value, arguments, named)


def _as_array(value: Any, *arguments: Any, **named: Any) -> Any:
    """Calls `numpy.asarray`; rows of different lengths become objects, as before NumPy 1.24."""
    import numpy as np

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


def _as_float_array(value: Any, dtype: Any = float) -> Any:
    import numpy as np

    return np.asarray(value, dtype)


def _from_string(string: Any, dtype: Any = float, count: int = -1, sep: str = "") -> Any:
    """Calls `numpy.fromstring`; reads bytes too, as before NumPy 2.3."""
    import numpy as np

    if sep:
        return np.fromstring(string, dtype, count, sep=sep)
    data = string.encode("latin1") if isinstance(string, str) else string
    return np.frombuffer(data, dtype, count).copy()


def _load_json(file: Any, *, encoding: Any = None, **named: Any) -> Any:
    """Calls `json.load`; ignores `encoding`, as before Python 3.9."""
    import json

    return json.load(file, **named)


def _loads_json(text: Any, *, encoding: Any = None, **named: Any) -> Any:
    """Calls `json.loads`; ignores `encoding`, as before Python 3.9."""
    import json

    return json.loads(text, **named)


def _load_yaml(stream: Any, Loader: Any = None) -> Any:  # noqa: N803
    """Calls `yaml.load`; needs no loader, as before PyYAML 6."""
    yaml: Any = importlib.import_module("yaml")
    return yaml.load(stream, Loader or yaml.FullLoader)


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
