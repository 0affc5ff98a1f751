"""`estimator-train check`: reports which parts of an old codebase run here."""

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from estimator_train.cli.errors import PROGRAM, UsageError
from estimator_train.compat import require_legacy

if TYPE_CHECKING:
    from estimator_train.legacy.report import FileReport
    from estimator_train.legacy.rewriting.tree import Copy

_USAGE = f"usage: {PROGRAM} check PATH [--json] [--rewrite[=DIRECTORY]]"
_JSON = "--json"
_REWRITE = "--rewrite"
SWITCHES = (_JSON, _REWRITE)
DESCRIPTION = """
Reads a script and the local modules that it imports, or a directory, without executing anything.
For each file the command prints the TensorFlow version it was written for and the command that runs
it. For each TensorFlow name in the file that does not run unchanged it prints the lines, and
whether the name runs through a stand-in, is missing, or is a mistake that fails in the original
TensorFlow too. Files with findings come first. The exit code is 1 if a name is missing, if a file
cannot be read or imported, or if a rewritten file needs an edit by hand, otherwise 0.

--json prints the same as JSON. --rewrite also writes copies of the Python files to a new directory
(by default the name of PATH with `_rewritten` at its end). The copies use estimator_train directly
and run under `python`.
"""


def main(arguments: Sequence[str]) -> int:
    """Reports on a codebase.

    Args:
      arguments: The arguments after `check`.

    Returns:
      The exit code.

    Raises:
      UsageError: The number of paths is not one, or a switch is unknown.
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
        raise UsageError(f"exactly one path is needed, got {len(paths)}. {_USAGE}")
    require_legacy("`estimator-train check`")
    from estimator_train.cli import errors

    errors.configure(debug=False)
    from estimator_train.legacy import explanations, report
    from estimator_train.legacy.rewriting import tree

    files = report.report(paths[0])
    target = _choose_target(paths[0], switches)
    copies = tree.rewrite(files, target) if target else []
    if _JSON in switches:
        reports = [{**f._asdict(), "symbols": [s._asdict() for s in f.symbols]} for f in files]
        for file in reports:
            file["rewritten"] = next((c.path for c in copies if c.original == file["path"]), "")
        print(json.dumps(reports, indent=2))
    else:
        _print_files(files)
        if pin := explanations.describe_pin(paths[0]):
            print(pin)
        _print_copies(copies)
    needs_edits = any(copy.unreplaced for copy in copies)
    return 0 if all(file.is_covered for file in files) and not needs_edits else 1


def _choose_target(path: str, switches: Sequence[str]) -> str:
    """Returns the directory for rewritten copies, or "" without --rewrite."""
    requests = [switch for switch in switches if switch.startswith(_REWRITE)]
    if not requests:
        return ""
    directory = requests[-1].partition("=")[2]
    return directory or f"{os.path.splitext(path.rstrip(os.sep))[0]}_rewritten"


def _print_copies(copies: Sequence["Copy"]) -> None:
    for copy in copies:
        print(f"{copy.original} -> {copy.path}")
        for name in copy.unreplaced:
            print(f"  not replaced, line {name.line}: {name.name}  {name.reason}")


def _print_files(files: Sequence["FileReport"]) -> None:
    from estimator_train.legacy import report

    # Files with findings come first.
    for file in sorted(files, key=lambda file: file.is_covered):
        label = "Python 2" if "Python 2" in file.problem else file.generation
        print(f"{file.path}  ({label})")
        if file.problem:
            print(f"  cannot be read: {file.problem}")
        elif file.import_problem:
            print(f"  cannot be imported: {file.import_problem}")
        for status in (report.MISSING, report.MISTAKE, report.STAND_IN):
            for symbol in file.symbols:
                if symbol.status == status:
                    lines = ", ".join(map(str, symbol.lines))
                    hint = f"  {symbol.hint}" if symbol.hint else ""
                    if status == report.MISTAKE:
                        version = file.generation.removeprefix("tf")
                        hint = f"  fails in TensorFlow {version} too:{hint}"
                    print(f"  {status:<9} {symbol.name}  (line {lines}){hint}")
        unchanged = sum(symbol.status == report.UNCHANGED for symbol in file.symbols)
        if unchanged:
            print(f"  {report.UNCHANGED} {unchanged} other names")
        if file.command:
            print(f"  run it with: {file.command}")
    missing = sum(s.status == report.MISSING for file in files for s in file.symbols)
    problems = sum(bool(file.problem) for file in files)
    not_importable = sum(bool(file.import_problem) for file in files)
    print(
        f"{len(files)} files, {missing} names missing, {problems} files that cannot be read, "
        f"{not_importable} that cannot be imported"
    )
