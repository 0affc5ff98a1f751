"""`estimator-train convert-trees`: converts a SavedModel of boosted trees of tf.estimator."""

from collections.abc import Callable, Sequence

from absl import flags as absl_flags

from estimator_train.cli.errors import UsageError

DESCRIPTION = """
Reads the SavedModel of boosted trees that tf.estimator exported to OLD_DIR, whose kernels
TensorFlow has removed, and writes to NEW_DIR a SavedModel with the same signatures and answers that
TensorFlow can run. Checkpoints need no conversion by hand: an Estimator converts those of its
model_dir.
"""


FLAGS: tuple[Callable[[absl_flags.FlagValues], None], ...] = ()


def run(flag_values: absl_flags.FlagValues, directories: Sequence[str]) -> None:
    """Converts a SavedModel.

    Args:
      flag_values: The parsed flags, unused.
      directories: The directories of the old and the new SavedModel.

    Raises:
      UsageError: There are not two directories, the first has no boosted trees, or the second
        exists.
    """
    if len(directories) != 2:
        raise UsageError(
            f"two directories are needed, OLD_DIR and NEW_DIR, got {len(directories)}."
        )
    import estimator_train as est

    try:
        est.export.convert_boosted_trees(*directories)
    except ValueError as error:
        raise UsageError(str(error)) from error
    print(f"{directories[1]}: converted from {directories[0]}")
