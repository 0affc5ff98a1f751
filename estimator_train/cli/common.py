"""The flags that commands share: one flagfile serves all that make a job of them."""

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
      flag_values: Where to define it.
    """
    Group(flag_values).string(
        "checkpoint_path",
        None,
        "The checkpoint to use, such as DIR/model.ckpt-1000; the latest in --model_dir by default.",
    )


def define_roles(define: Group) -> None:
    """Defines --workers, --ps and --evaluator: the processes of a cluster beside its chief.

    Args:
      define: Where to define them.
    """
    define.integer("workers", 0, "Workers beside the chief.", lower_bound=0)
    define.integer("ps", 0, "Parameter servers, for asynchronous training.", lower_bound=0)
    define.boolean("evaluator", False, "Evaluate in a process of its own.")
