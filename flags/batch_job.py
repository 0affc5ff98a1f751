"""Flags for signals, time limits, determinism and the record of a job."""

from absl import flags

from flags.group import Group

flags.disclaim_key_flags()


def define_batch_job_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines --preemption_signals, --grace_secs, --step_timeout_secs, --job_summary and more.

    The others are --slurm_requeue, --allow_shared_model_dir and --deterministic.

    Args:
      flag_values: Target of the definitions.
    """
    define = Group(flag_values)
    define.list(
        "preemption_signals",
        None,
        "Signals at which training saves a checkpoint and exits with code 143, such as "
        "SIGTERM,SIGUSR1; by default SIGTERM, and in a Slurm job also SIGUSR1.",
    )
    define.float(
        "grace_secs",
        None,
        "The process ends this many seconds after such a signal, even if the checkpoint is not "
        "written yet; unlimited by default.",
        lower_bound=0.0,
    )
    define.boolean(
        "slurm_requeue", False, "Request that Slurm requeues the job when such a signal ends it."
    )
    define.float(
        "step_timeout_secs",
        None,
        "End the process with code 142 when a step takes longer than this; the stack of every "
        "thread is written to standard error first.",
        lower_bound=0.0,
    )
    define.boolean(
        "allow_shared_model_dir",
        False,
        "Train in --model_dir even if another job trains there now.",
    )
    define.string(
        "job_summary",
        None,
        "File for a JSON record of the run, written at its start and again when it ends or fails.",
    )
    define.boolean(
        "deterministic",
        False,
        "Make two runs with equal flags write equal checkpoints on one machine; slower. Needs "
        "--seed.",
    )
