"""The commands for programs of old TensorFlow: `run`, `check` and `install-shim`."""

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from absl import flags as absl_flags

from estimator_train.cli import errors
from estimator_train.cli.errors import PROGRAM, UsageError
from estimator_train.cli.job.user_code import Group
from estimator_train.compat import require_legacy

if TYPE_CHECKING:
    from estimator_train.legacy.report import FileReport
    from estimator_train.legacy.rewriting.tree import Copy

_RUN = """
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
_RUN_USAGE = f"usage: {PROGRAM} run [--tf1|--tf2] [--seed=N] [--debug] SCRIPT|-m MODULE [arguments]"
_CHOICES = {"--tf1": "tf1", "--tf2": "tf2"}
_SEED = "--seed="
_DEBUG = "--debug"  # cli.main handles it.
_HELP = ("--help", "-h", "-help")
_CHECK_USAGE = f"usage: {PROGRAM} check PATH [--json] [--rewrite[=DIRECTORY]]"
_JSON = "--json"
_REWRITE = "--rewrite"
_CHECK = """
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
_INSTALL_SHIM = """
Adds the distribution estimator-train-shim to this Python environment. `python train.py` then has
`tf.estimator`, `tf.compat.v1.estimator` and `tensorflow_estimator`, without an edit and without
`estimator-train run`. Programs that do not use these see the installed TensorFlow as before.
`--remove`, or `pip uninstall estimator-train-shim`, removes it. Programs that use tf.contrib or
other names of TensorFlow 1 need `estimator-train run`.
"""


class Run:
    """`estimator-train run`: runs an unchanged script that uses old TensorFlow APIs."""

    DESCRIPTION = _RUN
    SWITCHES = (*_CHOICES, _SEED, _DEBUG, "-m")

    @staticmethod
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
                print(f"{_RUN_USAGE}\n\n{_RUN.strip()}")
                return 0
            if switch.startswith(_SEED):
                seed = _parse_seed(switch)
            elif switch in _CHOICES:
                choice = _CHOICES[switch]
            elif switch != _DEBUG:
                raise UsageError(
                    f"unknown switch '{switch}' before the script's name. {_RUN_USAGE}"
                )
        is_module = remaining[:1] == ["-m"]
        remaining = remaining[1:] if is_module else remaining
        if not remaining:
            raise UsageError(f"a script is needed. {_RUN_USAGE}")
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


class Check:
    """`estimator-train check`: reports which parts of an old codebase run here."""

    DESCRIPTION = _CHECK
    SWITCHES = (_JSON, _REWRITE)

    @staticmethod
    def main(arguments: Sequence[str]) -> int:
        """Reports on a codebase.

        Args:
          arguments: The arguments after `check`.

        Returns:
          The exit code.

        Raises:
          UsageError: The number of paths is not one, or a switch is unknown.
        """
        if {*_HELP} & {*arguments}:
            print(f"{_CHECK_USAGE}\n\n{_CHECK.strip()}")
            return 0
        paths = [argument for argument in arguments if not argument.startswith("-")]
        switches = [argument for argument in arguments if argument.startswith("-")]
        for switch in switches:
            if switch not in (_JSON, _REWRITE) and not switch.startswith(f"{_REWRITE}="):
                raise UsageError(f"unknown switch '{switch}'. {_CHECK_USAGE}")
        if len(paths) != 1:
            raise UsageError(f"exactly one path is needed, got {len(paths)}. {_CHECK_USAGE}")
        require_legacy("`estimator-train check`")
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


def _define_remove(flag_values: absl_flags.FlagValues) -> None:
    Group(flag_values).boolean("remove", False, "Remove the shim.")


class InstallShim:
    """`estimator-train install-shim`: shows tf.estimator to all programs of an environment."""

    DESCRIPTION = _INSTALL_SHIM
    FLAGS = (_define_remove,)

    @staticmethod
    def run(flag_values: absl_flags.FlagValues) -> int:
        """Installs or removes the shim.

        Args:
          flag_values: The parsed flags.

        Returns:
          The exit code.

        Raises:
          ValueError: The environment cannot take the shim.
        """
        from estimator_train import shim

        if not flag_values.remove:
            print(f"{shim.NAME} is installed in {shim.install_shim()}.")
            return 0
        folders = shim.remove_shim()
        for folder in folders:
            print(f"{shim.NAME} is removed from {folder}.")
        if not folders:
            print(f"{shim.NAME} is not installed.")
        return 0
