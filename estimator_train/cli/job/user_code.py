"""A user's own functions: `package.module:function`, and the arguments it is called with."""

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
      flag: The flag's name, for errors.
      path: `package.module:function`.

    Raises:
      UsageError: The module does not exist, or the function in it does not.
    """
    name, _, function_name = path.partition(":")
    # The user's modules may read absl flags of their own: they have their defaults here.
    absl_flags.FLAGS.mark_as_parsed()
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        # A module that the user's module misses is another mistake, with its own message.
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise UsageError(
            f"--{flag}={path}: there is no module '{error.name}' in the working directory or "
            "among the installed packages."
        ) from error
    function = getattr(module, function_name, None)
    if not callable(function):
        known = [n for n, value in vars(module).items() if callable(value)]
        close = difflib.get_close_matches(function_name, known, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise UsageError(f"--{flag}={path}: module {name} has no function '{function_name}'.{hint}")
    return function


def check_arguments(
    flag: str, path: str, function: Callable[..., Any], available: Iterable[str]
) -> None:
    """Checks that a function needs no argument that it cannot get.

    Args:
      flag: The flag that names the function, for the error.
      path: The flag's value.
      function: The function.
      available: Names of the arguments that it can get.

    Raises:
      UsageError: It needs another argument.
    """
    known = sorted(available)
    for p in inspect.signature(function).parameters.values():
        is_needed = p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        if is_needed and p.name not in known:
            raise UsageError(
                f"--{flag}={path} needs an argument '{p.name}', but gets only what it names of: "
                f"{', '.join(known)}. Give '{p.name}' a default."
            )
