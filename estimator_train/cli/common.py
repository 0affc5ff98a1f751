"""The flags that the commands share: one flagfile serves them all."""

from absl import flags as absl_flags

from estimator_train.cli.job.own_packages import flags

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
    absl_flags.DEFINE_string(
        "checkpoint_path",
        None,
        "The checkpoint to use, such as DIR/model.ckpt-1000; the latest in --model_dir by default.",
        flag_values=flag_values,
    )
