"""`estimator-train check`: what of an old codebase runs, before it is run."""

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from estimator_train.cli.output.errors import PROGRAM, UsageError

if TYPE_CHECKING:
    from estimator_train.legacy.report import FileReport
    from estimator_train.legacy.rewriting.tree import Copy

_USAGE = f"usage: {PROGRAM} check PATH [--json] [--rewrite[=DIRECTORY]]"
_JSON = "--json"
_REWRITE = "--rewrite"
SWITCHES = (_JSON, _REWRITE)
DESCRIPTION = """
Reads a script with the modules of its own that it imports, or a directory, executes nothing, and
tells file by file which TensorFlow it was written for, and of each name of TensorFlow in it whether
it runs as it is, runs through a stand-in, or is missing, with its lines, and the command that runs
it. The exit code is 0 if all is there, 1 if something is missing or, of copies, left to do by hand.

--json tells the same as JSON. --rewrite also writes copies of the Python files into a new directory
(by default beside PATH, with `_rewritten` behind its name), which use estimator_train directly and
run under `python`.
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
    switches = [argument for argument in arguments if argument.startswith("-")]
    for switch in switches:
        if switch not in (_JSON, _REWRITE) and not switch.startswith(f"{_REWRITE}="):
            raise UsageError(f"unknown switch '{switch}'. {_USAGE}")
    if len(paths) != 1:
        raise UsageError(f"one path is to be checked, got {len(paths)}. {_USAGE}")
    from estimator_train.cli.output import logs

    logs.set_up(debug=False)
    from estimator_train.legacy import explanations, report
    from estimator_train.legacy.rewriting import tree

    files = report.report(paths[0])
    target = _target(paths[0], switches)
    copies = tree.rewrite(files, target) if target else []
    if _JSON in switches:
        found = [{**f._asdict(), "symbols": [s._asdict() for s in f.symbols]} for f in files]
        for file in found:
            file["rewritten"] = next((c.path for c in copies if c.original == file["path"]), "")
        print(json.dumps(found, indent=2))
    else:
        _print(files)
        if pin := explanations.pin_of(paths[0]):
            print(pin)
        _print_copies(copies)
    is_left = any(copy.left for copy in copies)
    return 0 if all(file.is_covered for file in files) and not is_left else 1


def _target(path: str, switches: Sequence[str]) -> str:
    """The directory that copies are written to, "" if none are asked for."""
    asked = [switch for switch in switches if switch.startswith(_REWRITE)]
    if not asked:
        return ""
    return asked[-1].partition("=")[2] or f"{os.path.splitext(path.rstrip(os.sep))[0]}_rewritten"


def _print_copies(copies: Sequence["Copy"]) -> None:
    for copy in copies:
        print(f"{copy.original} -> {copy.path}")
        for left in copy.left:
            print(f"  left as it was, line {left.line}: {left.name}  {left.reason}")


def _print(files: Sequence["FileReport"]) -> None:
    from estimator_train.legacy import report

    for file in files:
        print(f"{file.path}  ({file.generation})")
        if file.problem:
            print(f"  cannot be read: {file.problem}")
        elif file.import_problem:
            print(f"  cannot be imported: {file.import_problem}")
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
    closed = sum(bool(file.import_problem) for file in files)
    print(
        f"{len(files)} files, {missing} names missing, {problems} files that cannot be read, "
        f"{closed} that cannot be imported"
    )
