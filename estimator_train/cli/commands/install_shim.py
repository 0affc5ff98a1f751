"""`estimator-train install-shim`: shows tf.estimator to all programs of an environment."""

from absl import flags as absl_flags

from estimator_train.cli.job.user_code import Group

DESCRIPTION = """
Adds the distribution estimator-train-shim to this Python environment. `python train.py` then has
`tf.estimator`, `tf.compat.v1.estimator` and `tensorflow_estimator`, without an edit and without
`estimator-train run`. Programs that do not use these see the installed TensorFlow as before.
`--remove`, or `pip uninstall estimator-train-shim`, removes it. Programs that use tf.contrib or
other names of TensorFlow 1 need `estimator-train run`.
"""


def _define_remove(flag_values: absl_flags.FlagValues) -> None:
    Group(flag_values).boolean("remove", False, "Remove the shim.")


FLAGS = (_define_remove,)


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
