"""arg_scope: default arguments for the functions that are called in a `with` block."""

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tf_contrib._types import ArgScope

_stack: list[ArgScope] = [{}]


def add_arg_scope(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a function to read default arguments from the current arg_scope."""

    @functools.wraps(func)
    def call_in_scope(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **{**_stack[-1].get(_make_key(call_in_scope), {}), **kwargs})

    call_in_scope.__dict__["_takes_arg_scope"] = True
    return call_in_scope


@contextlib.contextmanager
def arg_scope(
    list_ops_or_scope: Sequence[Callable[..., Any]] | Mapping[Any, Any], **kwargs: Any
) -> Iterator[ArgScope]:
    """Sets default arguments of functions for a `with` block.

    Args:
      list_ops_or_scope: Functions, or a scope that an earlier arg_scope yielded.
      **kwargs: Default arguments.

    Yields:
      The scope, which another arg_scope can enter again.

    Raises:
      TypeError: list_ops_or_scope is neither a list, a tuple nor a dict.
      ValueError: A function has no arg_scope, or arguments come with an earlier scope.
    """
    if isinstance(list_ops_or_scope, Mapping):
        if kwargs:
            raise ValueError("When attempting to re-use a scope by suppling a dictionary, "
                             "kwargs must be empty.")  # fmt: skip
        scope = dict(list_ops_or_scope)
    elif isinstance(list_ops_or_scope, (list, tuple)):
        scope = {key: dict(arguments) for key, arguments in _stack[-1].items()}
        for function in list_ops_or_scope:
            if not has_arg_scope(function):
                raise ValueError(f"{function} is not decorated with @add_arg_scope")
            scope[_make_key(function)] = {**scope.get(_make_key(function), {}), **kwargs}
    else:
        raise TypeError("list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)")
    _stack.append(scope)
    try:
        yield scope
    finally:
        _stack.pop()


def has_arg_scope(func: Callable[..., Any]) -> bool:
    """Returns whether a function reads arguments from an arg_scope."""
    return hasattr(func, "_takes_arg_scope")


def current_arg_scope() -> ArgScope:
    """Returns the current scope."""
    return _stack[-1]


def arg_scoped_arguments(func: Callable[..., Any]) -> tuple[str, ...]:
    """Returns the names of the arguments of a function that an arg_scope can set."""
    parameters = inspect.signature(func).parameters.values()
    return tuple(p.name for p in parameters if p.default is not p.empty)


def _make_key(func: Callable[..., Any]) -> str:
    return f"{func.__module__}.{func.__qualname__}"
