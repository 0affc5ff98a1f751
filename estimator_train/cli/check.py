"""`estimator-train check`: what of an old codebase runs, before it is run."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from estimator_train.cli.errors import PROGRAM, UsageError

if TYPE_CHECKING:
    from estimator_train.legacy.report import FileReport

_USAGE = f"usage: {PROGRAM} check PATH [--json]"
DESCRIPTION = """
Reads a script or a directory, executes nothing, and tells file by file which TensorFlow it was
written for, and of each name of TensorFlow in it whether it runs as it is, runs through a stand-in,
or is missing, with its lines. The exit code is 0 if all is there, 1 if something is missing.
"""


def main(arguments: Sequence[str]) -> int:
    """Reports on a codebase.

    Args:
      arguments: What follows `check`.

    Returns:
      The exit code.

    Raises:
      UsageError: There is not one path, or an unknown switch.
    """
    if {"--help", "-h", "-help"} & set(arguments):
        print(f"{_USAGE}\n\n{DESCRIPTION.strip()}")
        return 0
    paths = [argument for argument in arguments if not argument.startswith("-")]
    switches = set(arguments) - set(paths)
    if switches - {"--json"}:
        raise UsageError(f"unknown switch '{min(switches - {'--json'})}'. {_USAGE}")
    if len(paths) != 1:
        raise UsageError(f"one path is to be checked, got {len(paths)}. {_USAGE}")
    from estimator_train.cli import logs

    logs.set_up(debug=False)
    from estimator_train.legacy import report

    files = report.report(paths[0])
    if "--json" in switches:
        found = [{**f._asdict(), "symbols": [s._asdict() for s in f.symbols]} for f in files]
        print(json.dumps(found, indent=2))
    else:
        _print(files)
    return 0 if all(file.is_covered for file in files) else 1


def _print(files: Sequence["FileReport"]) -> None:
    from estimator_train.legacy import report

    for file in files:
        print(f"{file.path}  ({file.generation})")
        if file.problem:
            print(f"  cannot be read: {file.problem}")
        for status in (report.MISSING, report.STAND_IN, report.AS_IT_IS):
            for symbol in file.symbols:
                if symbol.status == status:
                    lines = ", ".join(map(str, symbol.lines))
                    hint = f"  {symbol.hint}" if symbol.hint else ""
                    print(f"  {status:<9} {symbol.name}  (line {lines}){hint}")
        if file.command:
            print(f"  run it with: {file.command}")
    missing = sum(s.status == report.MISSING for file in files for s in file.symbols)
    problems = sum(bool(file.problem) for file in files)
    print(f"{len(files)} files, {missing} names missing, {problems} files that cannot be read")
