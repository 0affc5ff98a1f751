"""How a job behaves among others: signals, limits, records."""

from absl import flags

flags.disclaim_key_flags()


def define_batch_job_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines --preemption_signals, --grace_secs, --step_timeout_secs, --job_summary and more.

    The others are --slurm_requeue, --allow_shared_model_dir and --deterministic.

    Args:
      flag_values: Where to define them.
    """
    flags.DEFINE_list(
        "preemption_signals",
        None,
        "Signals at which training saves a checkpoint and ends with code 143, as SIGTERM,SIGUSR1; "
        "SIGTERM by default, and SIGUSR1 in a job of Slurm's.",
        flag_values=flag_values,
    )
    flags.DEFINE_float(
        "grace_secs",
        None,
        "Seconds from such a signal to the end of the process, saved or not; no limit by default.",
        lower_bound=0.0,
        flag_values=flag_values,
    )
    flags.DEFINE_boolean(
        "slurm_requeue",
        False,
        "Have Slurm queue the job again when such a signal ends it.",
        flag_values=flag_values,
    )
    flags.DEFINE_float(
        "step_timeout_secs",
        None,
        "A step that takes longer ends the process with code 142, after it has said where every "
        "thread stands.",
        lower_bound=0.0,
        flag_values=flag_values,
    )
    flags.DEFINE_boolean(
        "allow_shared_model_dir",
        False,
        "Train in --model_dir even if another job trains there now.",
        flag_values=flag_values,
    )
    flags.DEFINE_string(
        "job_summary",
        None,
        "A file for a JSON record of the run, written at its end or failure.",
        flag_values=flag_values,
    )
    flags.DEFINE_boolean(
        "deterministic",
        False,
        "Have equal runs give equal checkpoints on one machine, if more slowly; needs --seed.",
        flag_values=flag_values,
    )
