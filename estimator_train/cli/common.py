"""Flags that several commands share, so that one flagfile works for all of these commands."""

import dataclasses
from typing import Any

from absl import flags as absl_flags

from estimator_train.cli.job.own_packages import Group, flags

JOB_FLAGS = (
    flags.define_preset_flag,
    flags.define_job_flags,
    flags.define_base_flags,
    flags.define_training_flags,
    flags.define_evaluation_flags,
    flags.define_checkpoint_flags,
    flags.define_distribution_flags,
    flags.define_batch_job_flags,
    flags.define_speed_flags,
    flags.define_image_flags,
    flags.define_input_flags,
)


def define_checkpoint_path(flag_values: absl_flags.FlagValues) -> None:
    """Defines --checkpoint_path.

    Args:
      flag_values: FlagValues that get the flag.
    """
    Group(flag_values).string(
        "checkpoint_path",
        None,
        "Checkpoint to use, such as DIR/model.ckpt-1000. The default is the latest in --model_dir.",
    )


def define_roles(define: Group) -> None:
    """Defines --workers, --ps and --evaluator, the processes of a cluster in addition to the chief.

    Args:
      define: Group that gets the flags.
    """
    define.integer("workers", 0, "Number of workers in addition to the chief.", lower_bound=0)
    define.integer(
        "ps", 0, "Number of parameter servers, for asynchronous training.", lower_bound=0
    )
    define.boolean("evaluator", False, "Evaluate in a separate process.")


def read_fields(dataclass: type, flag_values: absl_flags.FlagValues) -> dict[str, Any]:
    """Returns the values of the flags that have the names of a dataclass's fields.

    Args:
      dataclass: The dataclass.
      flag_values: The parsed flags.
    """
    names = [field.name for field in dataclasses.fields(dataclass) if field.name in flag_values]
    return {name: flag_values[name].value for name in names}
