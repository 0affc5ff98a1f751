"""`estimator-train run`: runs an unchanged script that uses old TensorFlow APIs."""

import sys
from collections.abc import Sequence

from estimator_train.cli.errors import PROGRAM, UsageError
from estimator_train.compat import require_legacy

DESCRIPTION = """
Runs an unchanged script for TensorFlow 1 or 2 that uses Estimators, sessions or tf.contrib:
`estimator-train run train.py --flags --of --the --script`, or `run -m package.module`. All
arguments after the script's name belong to the script.

The script, the modules in its directory, and libraries that need tf.estimator or tf.contrib see the
API of the TensorFlow version for which they were written; other libraries see the installed
TensorFlow. The command detects from the source whether that version is TensorFlow 1 or 2; `--tf1`
or `--tf2` before the script's name overrides this. `--seed=N` before the name makes runs of a
script without a seed reproducible.
The exit code is that of the script, or 2 with an error in one line if the script cannot run
(--debug before its name shows the traceback).
"""
_USAGE = f"usage: {PROGRAM} run [--tf1|--tf2] [--seed=N] [--debug] SCRIPT|-m MODULE [arguments]"
_CHOICES = {"--tf1": "tf1", "--tf2": "tf2"}
_SEED = "--seed="
_DEBUG = "--debug"  # cli.main handles it.
SWITCHES = (*_CHOICES, _SEED, _DEBUG, "-m")
_HELP = ("--help", "-h", "-help")


def main(arguments: Sequence[str]) -> int:
    """Runs a script.

    Args:
      arguments: The arguments after `run`.

    Returns:
      The exit code.

    Raises:
      UsageError: There is no script, or a switch before its name is unknown or malformed.
      ValueError: The script does not exist, or cannot run for a reason outside the script.
    """
    choice, seed, remaining = None, None, list(arguments)
    while remaining and remaining[0].startswith("-") and remaining[0] != "-m":
        switch = remaining.pop(0)
        if switch in _HELP:
            print(f"{_USAGE}\n\n{DESCRIPTION.strip()}")
            return 0
        if switch.startswith(_SEED):
            seed = _parse_seed(switch)
        elif switch in _CHOICES:
            choice = _CHOICES[switch]
        elif switch != _DEBUG:
            raise UsageError(f"unknown switch '{switch}' before the script's name. {_USAGE}")
    is_module = remaining[:1] == ["-m"]
    remaining = remaining[1:] if is_module else remaining
    if not remaining:
        raise UsageError(f"a script is needed. {_USAGE}")
    require_legacy("`estimator-train run`")
    from estimator_train.legacy import runner

    name, *script_arguments = remaining
    program = runner.load_module(name) if is_module else runner.load_script(name)
    try:
        return runner.run(program, script_arguments, choice, seed)
    finally:
        sys.stdout.flush()


def _parse_seed(switch: str) -> int:
    text = switch.removeprefix(_SEED)
    if not text.isdecimal() or int(text) >= 2**31:
        raise UsageError(f"{switch}: the seed must be an integer from 0 to {2**31 - 1}.")
    return int(text)
