"""Runs a program with tf.estimator and with this package, each in a separate model_dir."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from estimator_train.cli.output.errors import UsageError

PLACEHOLDER = "{model_dir}"
_START = "model.ckpt-0"


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
