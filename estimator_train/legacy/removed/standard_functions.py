"""Functions of Python's standard library as they were before they were removed or changed."""

import collections
import dataclasses
import html
import inspect
import json
import pathlib
import plistlib
import random
import unittest
from collections.abc import Callable, MutableSequence, Set
from typing import Any

ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")


def getargspec(function: Callable[..., Any]) -> ArgSpec:
    """Does the same as `inspect.getargspec` of Python 3.10."""
    spec = inspect.getfullargspec(function)
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


def dataclass(cls: Any = None, /, **options: Any) -> Any:
    """Does the same as `dataclasses.dataclass` of Python 3.10: defaults need not be hashable."""
    if cls is None:
        return lambda decorated: dataclass(decorated, **options)
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


def load_json(file: Any, *, encoding: Any = None, **named: Any) -> Any:
    """Calls `json.load`; ignores `encoding`, as before Python 3.9."""
    return json.load(file, **named)


def loads_json(text: Any, *, encoding: Any = None, **named: Any) -> Any:
    """Calls `json.loads`; ignores `encoding`, as before Python 3.9."""
    return json.loads(text, **named)


def escape(text: str, quote: bool = False) -> str:
    """Does the same as `cgi.escape` of Python 3.7: quotes remain by default."""
    return html.escape(text, quote)


def linux_distribution(*_: Any, **__: Any) -> tuple[str, str, str]:
    """Returns the name, version and code name of the Linux distribution, "" where unknown."""
    try:
        lines = pathlib.Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "", "", ""
    known = {key: value.strip('"') for key, _, value in (line.partition("=") for line in lines)}
    return tuple(known.get(key, "") for key in ("NAME", "VERSION_ID", "VERSION_CODENAME"))  # type: ignore[return-value]


def read_plist(path: Any) -> Any:
    """Does the same as `plistlib.readPlist`: takes a path or an open file."""
    if hasattr(path, "read"):
        return plistlib.load(path)
    with open(path, "rb") as file:
        return plistlib.load(file)


def write_plist(value: Any, path: Any) -> None:
    """Does the same as `plistlib.writePlist`: takes a path or an open file."""
    if hasattr(path, "write"):
        plistlib.dump(value, path)
        return
    with open(path, "wb") as file:
        plistlib.dump(value, file)


def sample(population: Any, k: int, **named: Any) -> list[Any]:
    """Calls `random.sample`; takes sets, as before Python 3.11."""
    return random.sample(
        tuple(population) if isinstance(population, Set) else population, k, **named
    )


def shuffle(x: MutableSequence[Any], random_number: Callable[[], float] | None = None) -> None:
    """Calls `random.shuffle`; takes a source of random numbers, as before Python 3.11."""
    if random_number is None:
        random.shuffle(x)
        return
    for i in reversed(range(1, len(x))):
        j = int(random_number() * (i + 1))
        x[i], x[j] = x[j], x[i]


def randint(a: Any, b: Any) -> int:
    """Calls `random.randint`; takes whole floats, as before Python 3.12."""
    return random.randint(_to_int(a), _to_int(b))


def randrange(start: Any, stop: Any = None, step: Any = 1) -> int:
    """Calls `random.randrange`; takes whole floats, as before Python 3.12."""
    if stop is None:
        return random.randrange(_to_int(start))
    return random.randrange(_to_int(start), _to_int(stop), _to_int(step))


def _to_int(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def make_suite(cls: type[unittest.TestCase], prefix: str = "test", **_: Any) -> unittest.TestSuite:
    """Does the same as `unittest.makeSuite` of Python 3.12."""
    loader = unittest.TestLoader()
    loader.testMethodPrefix = prefix
    return loader.loadTestsFromTestCase(cls)
