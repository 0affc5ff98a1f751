"""`estimator-train validate`: checks that a program gives the numbers of tf.estimator."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from absl import flags as absl_flags

from estimator_train.cli.errors import UsageError
from estimator_train.cli.job.user_code import Group

DESCRIPTION = """
Compares two trainings: all variables of checkpoints of the same step, the losses, and all other
scalars in event files. `validate OLD_MODEL_DIR NEW_MODEL_DIR` compares existing trainings.
`validate --old_python=PYTHON -- train.py --model_dir={model_dir}` runs the program with that
interpreter, whose TensorFlow has tf.estimator, then with `estimator-train run`, and compares the
two. The exit code is 0 if all values are equal within the tolerances, and 1 otherwise.
"""
PLACEHOLDER = "{model_dir}"
_START = "model.ckpt-0"


def _define_flags(flag_values: absl_flags.FlagValues) -> None:
    define = Group(flag_values)
    define.string(
        "old_python",
        None,
        "Python interpreter with TensorFlow 2.15 or older, which runs the program first.",
    )
    define.string(
        "output_dir",
        "validation",
        "New directory for the model_dirs and the output of both runs of a program.",
    )
    define.boolean(
        "copy_start",
        False,
        "Start the second run from the first checkpoint of the first run (model.ckpt-0), so that "
        "the initial values are equal.",
    )
    define.float("rtol", 1e-4, "Tolerance relative to the old value.", lower_bound=0)
    define.float("atol", 1e-6, "Absolute tolerance.", lower_bound=0)


FLAGS = (_define_flags,)


def run(
    flag_values: absl_flags.FlagValues, model_dirs: Sequence[str], program: Sequence[str]
) -> int:
    """Compares two trainings and prints the result.

    Args:
      flag_values: The parsed flags.
      model_dirs: The old and the new model_dir, or nothing if there is a program.
      program: The script to run and its arguments.

    Returns:
      The exit code: 0 if the trainings are equal, 1 otherwise.

    Raises:
      UsageError: Arguments are missing, or a run of the program failed.
    """
    if bool(program) == bool(model_dirs) or len(model_dirs) not in (0, 2):
        raise UsageError(
            "two model directories are needed, or --old_python=PYTHON and a program: validate "
            "--old_python=PYTHON -- train.py --model_dir={model_dir}."
        )
    if program:
        if not flag_values.old_python:
            raise UsageError("--old_python=PYTHON is needed to run a program on both sides.")

        model_dirs = run_both(
            flag_values.old_python,
            program,
            flag_values.output_dir,
            copy_start=flag_values.copy_start,
        )
    from estimator_train.report.runs import compare_model_dirs

    old, new = model_dirs
    result = compare_model_dirs(old, new, flag_values.rtol, flag_values.atol)
    for line in result.describe():
        print(line)
    if not result.different and not result.missing:
        print(f"equal within rtol={flag_values.rtol:g} and atol={flag_values.atol:g}")
        return 0
    print(f"{len(result.different)} values differ, {len(result.missing)} are missing")
    if result.different:
        print(result.explain())
    return 1


def run_both(
    old_python: str, program: Sequence[str], directory: str, *, copy_start: bool
) -> tuple[str, str]:
    """Runs the program on both sides.

    Args:
      old_python: The Python interpreter whose TensorFlow has tf.estimator.
      program: The script and its arguments; `{model_dir}` in an argument is replaced.
      directory: The directory for both model_dirs and the output of both runs; it must not exist.
      copy_start: Whether the new side starts from the old side's checkpoint of step 0.

    Returns:
      The model_dirs: old and new.

    Raises:
      UsageError: The program has no placeholder, the directory exists, or a run fails.
    """
    if not any(PLACEHOLDER in argument for argument in program):
        raise UsageError(
            f"the program needs {PLACEHOLDER} in an argument, such as "
            f"`validate --old_python=PYTHON -- train.py --model_dir={PLACEHOLDER}`."
        )
    if os.path.exists(directory):
        raise UsageError(f"--output_dir={directory} already exists. Remove it, or choose another.")
    old, new = os.path.join(directory, "old"), os.path.join(directory, "new")
    os.makedirs(directory)
    _run([old_python], program, old)
    if copy_start:
        _copy_start(old, new)
    _run([sys.executable, "-m", "estimator_train", "run"], program, new)
    return old, new


def _run(command: Sequence[str], program: Sequence[str], model_dir: str) -> None:
    arguments = [argument.replace(PLACEHOLDER, model_dir) for argument in program]
    log = f"{model_dir}.log"
    print(f"{' '.join([*command, *arguments])} > {log}", file=sys.stderr)
    try:
        with open(log, "wb") as output:
            code = subprocess.call([*command, *arguments], stdout=output, stderr=output)
    except OSError as error:
        raise UsageError(f"{command[0]} cannot be started: {error.strerror}.") from error
    if code:
        raise UsageError(f"the program failed with exit code {code}; its output is in {log}.")


def _copy_start(old: str, new: str) -> None:
    """Makes the old side's first checkpoint the latest of the new side."""
    names = [name for name in os.listdir(old) if name.startswith(f"{_START}.")]
    if not names:
        raise UsageError(
            f"--copy_start needs {_START} in {old}. Raise keep_checkpoint_max in RunConfig, so "
            "that the first checkpoint is kept."
        )
    os.makedirs(new)
    for name in names:
        shutil.copy(os.path.join(old, name), new)
    with open(os.path.join(new, "checkpoint"), "w", encoding="utf-8") as file:
        file.write(f'model_checkpoint_path: "{_START}"\n')
