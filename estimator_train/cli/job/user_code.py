"""Flags of jobs, and the functions of the user that they name.

A user's codebase may contain a `flags.py`. So this package imports its own `flags` from its own
directory, and removes it from `sys.modules` again: then the user's code can import the other one.
"""

import dataclasses
import difflib
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from absl import flags as absl_flags

from estimator_train.cli.errors import UsageError

_HOME = str(Path(__file__).parents[3])


def import_own_package(name: str) -> ModuleType:
    """Imports a package that was installed with this one, without changing `sys.modules`.

    Args:
      name: `flags` or `input_fns`.
    """
    # A flags.py of the user may be imported already, or come first on sys.path.
    user_modules = _remove_modules(name)
    sys.path.insert(0, _HOME)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(_HOME)
        _remove_modules(name)
        sys.modules.update(user_modules)


def _remove_modules(name: str) -> dict[str, ModuleType]:
    """Removes a package and its submodules from `sys.modules`, and returns them."""
    keys = [key for key in sys.modules if key == name or key.startswith(name + ".")]
    return {key: sys.modules.pop(key) for key in keys}


if TYPE_CHECKING:
    import flags as flags
    from flags.group import Group as Group
else:
    flags = import_own_package("flags")
    Group = flags.group.Group

# Flags that several commands share, so that one flagfile works for all of these commands.
JOB_FLAGS = (
    flags.define_preset_flag,
    flags.define_job_flags,
    flags.define_base_flags,
    flags.define_training_flags,
    flags.define_evaluation_flags,
    flags.define_checkpoint_flags,
    flags.define_distribution_flags,
    flags.define_batch_job_flags,
    flags.define_speed_flags,
    flags.define_image_flags,
    flags.define_input_flags,
)


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
    for name in list_required_arguments(function):
        if name not in known:
            raise UsageError(
                f"--{flag}={path} requires the argument '{name}', which is not available. The "
                f"available arguments are {', '.join(known)}. Give '{name}' a default value."
            )


def list_required_arguments(function: Callable[..., Any]) -> list[str]:
    """Returns the names of the arguments that a function requires.

    Args:
      function: The function.
    """
    return [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]


def define_checkpoint_path(flag_values: absl_flags.FlagValues) -> None:
    """Defines --checkpoint_path.

    Args:
      flag_values: FlagValues that get the flag.
    """
    Group(flag_values).string(
        "checkpoint_path",
        None,
        "Checkpoint to use, such as DIR/model.ckpt-1000. The default is the latest in --model_dir.",
    )


def define_roles(define: Group) -> None:
    """Defines --workers, --ps and --evaluator, the processes of a cluster in addition to the chief.

    Args:
      define: Group that gets the flags.
    """
    define.integer("workers", 0, "Number of workers in addition to the chief.", lower_bound=0)
    define.integer(
        "ps", 0, "Number of parameter servers, for asynchronous training.", lower_bound=0
    )
    define.boolean("evaluator", False, "Evaluate in a separate process.")


def read_fields(dataclass: type, flag_values: absl_flags.FlagValues) -> dict[str, Any]:
    """Returns the values of the flags that have the names of a dataclass's fields.

    Args:
      dataclass: The dataclass.
      flag_values: The parsed flags.
    """
    names = [field.name for field in dataclasses.fields(dataclass) if field.name in flag_values]
    return {name: flag_values[name].value for name in names}
