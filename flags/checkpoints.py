"""Flags for the intervals of checkpoints, summaries and log lines."""

from absl import flags

from flags.group import Group

flags.disclaim_key_flags()


def define_checkpoint_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines --save_checkpoints_steps, --save_checkpoints_secs, --keep_checkpoint_max, and more.

    The others are --save_summary_steps and --log_step_count_steps. Names and defaults are those of
    RunConfig's arguments.

    Args:
      flag_values: Target of the definitions.
    """
    define = Group(flag_values)
    define.integer(
        "save_checkpoints_steps", None, "Steps from one checkpoint to the next.", lower_bound=1
    )
    define.integer(
        "save_checkpoints_secs",
        None,
        "Seconds from one checkpoint to the next; 600 if neither this nor the steps are given.",
        lower_bound=1,
    )
    flags.mark_flags_as_mutual_exclusive(
        ["save_checkpoints_steps", "save_checkpoints_secs"], flag_values=flag_values
    )
    define.integer(
        "keep_checkpoint_max",
        5,
        "Number of the newest checkpoints to keep; 0 keeps all.",
        lower_bound=0,
    )
    define.integer(
        "save_summary_steps",
        100,
        "Steps from one summary in the event files to the next; 0 writes none.",
        lower_bound=0,
    )
    define.integer(
        "log_step_count_steps",
        100,
        "Steps from one global_step/sec in the event files to the next.",
        lower_bound=1,
    )
