"""Imports the user's functions that flags name as `package.module:function`."""

import difflib
import importlib
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from absl import flags as absl_flags

from estimator_train.cli.output.errors import UsageError


def load(flag: str, path: str) -> Callable[..., Any]:
    """Imports the function that a flag names.

    Args:
      flag: Name of the flag, for errors.
      path: `package.module:function`.

    Raises:
      UsageError: The module or the function does not exist.
    """
    name, _, function_name = path.partition(":")
    # A user's module may read absl flags when it is imported: they have their default values.
    absl_flags.FLAGS.mark_as_parsed()
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        # The user's module exists, but imports a missing one: that error has its own message.
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise UsageError(
            f"--{flag}={path}: there is no module '{error.name}' in the working directory or "
            "among the installed packages."
        ) from error
    function = getattr(module, function_name, None)
    if not callable(function):
        names = [name for name, value in vars(module).items() if callable(value)]
        close = difflib.get_close_matches(function_name, names, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise UsageError(f"--{flag}={path}: module {name} has no function '{function_name}'.{hint}")
    return function


def check_arguments(
    flag: str, path: str, function: Callable[..., Any], available: Iterable[str]
) -> None:
    """Checks that all required arguments of a function are available.

    Args:
      flag: The flag that names the function, for the error.
      path: Value of the flag.
      function: The function.
      available: Names of the available arguments.

    Raises:
      UsageError: The function requires another argument.
    """
    known = sorted(available)
    for p in inspect.signature(function).parameters.values():
        is_required = p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        if is_required and p.name not in known:
            raise UsageError(
                f"--{flag}={path} requires the argument '{p.name}', which is not available. The "
                f"available arguments are {', '.join(known)}. Give '{p.name}' a default value."
            )
