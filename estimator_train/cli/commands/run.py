"""`estimator-train run`: an old script on today's TensorFlow, as it is."""

import sys
from collections.abc import Sequence

from estimator_train.cli.output.errors import PROGRAM, UsageError

DESCRIPTION = """
Runs a script that was written for TensorFlow 1 or 2 and uses Estimators, sessions or tf.contrib,
without an edit: `estimator-train run train.py --its --own --flags`, or `run -m package.module`.
All that follows the script's name is the script's.

The script, the modules beside it and the libraries that were built on tf.estimator or tf.contrib
see the TensorFlow of their time; other installed libraries see the one that is installed. Whether
that is TensorFlow 1 or 2 is told from the source; `--tf1` or `--tf2` before the script's name
overrides it. `--seed=N` there repeats a run of a script that sets no seed.
The exit code is the script's; 2 if it cannot be run, which is told in one line (--debug before its
name shows where).
"""
_USAGE = f"usage: {PROGRAM} run [--tf1|--tf2] [--seed=N] [--debug] SCRIPT|-m MODULE [arguments]"
_CHOICES = {"--tf1": "tf1", "--tf2": "tf2"}
_SEED = "--seed="
_DEBUG = "--debug"  # The command line's own, which shows tracebacks.
SWITCHES = (*_CHOICES, _SEED, _DEBUG, "-m")
_HELP = ("--help", "-h", "-help")


def main(arguments: Sequence[str]) -> int:
    """Runs a script.

    Args:
      arguments: What follows `run`.

    Returns:
      The exit code.

    Raises:
      UsageError: There is no script, or an unknown switch or a malformed seed stands before it.
      ValueError: It is not there, or cannot be run by no mistake of its own.
    """
    choice, seed, rest = None, None, list(arguments)
    while rest and rest[0].startswith("-") and rest[0] != "-m":
        switch = rest.pop(0)
        if switch in _HELP:
            print(f"{_USAGE}\n\n{DESCRIPTION.strip()}")
            return 0
        if switch.startswith(_SEED):
            seed = _seed(switch)
        elif switch in _CHOICES:
            choice = _CHOICES[switch]
        elif switch != _DEBUG:
            raise UsageError(f"unknown switch '{switch}' before the script's name. {_USAGE}")
    by_name = rest[:1] == ["-m"]
    rest = rest[1:] if by_name else rest
    if not rest:
        raise UsageError(f"which script is to be run? {_USAGE}")
    from estimator_train.legacy import runner

    name, *own = rest
    program = runner.module(name) if by_name else runner.script(name)
    try:
        return runner.run(program, own, choice, seed)
    finally:
        sys.stdout.flush()


def _seed(switch: str) -> int:
    text = switch.removeprefix(_SEED)
    if not text.isdecimal() or int(text) >= 2**31:
        raise UsageError(f"{switch}: a seed is a whole number from 0 to {2**31 - 1}.")
    return int(text)
