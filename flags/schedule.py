"""Flags for when a job saves, evaluates, exports and stops."""

from collections.abc import Callable, Mapping
from typing import Any

from absl import flags

from flags.group import DurationParser, Group, KeepBestParser

# The --help of a script then lists the flags with those of the script.
flags.disclaim_key_flags()

EXPORTERS = ("final", "latest", "best")
_WHEN = ("eval_every_steps", "epochs_between_evals", "eval_throttle_secs")
_STOP = ("stop_metric", "stop_if", "stop_threshold", "stop_patience_steps")
_EXPORT = ("exporters", "best_metric", "best_mode", "exports_to_keep")


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


def define_evaluation_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines --eval and its intervals, early stopping, exporters, --keep_best and --max_time.

    Args:
      flag_values: Target of the definitions.
    """
    define = Group(flag_values)
    define.boolean(
        "eval", False, "Evaluate checkpoints as training writes them; by default only the last."
    )
    _define_when(define)
    _define_early_stopping(define)
    _define_exporters(define)
    define.parsed(
        KeepBestParser(),
        "keep_best",
        None,
        "METRIC:min:N or METRIC:max:N keeps the N evaluated checkpoints with the lowest or the "
        "highest value in the directory best of --model_dir.",
    )
    define.parsed(
        DurationParser(),
        "max_time",
        None,
        "Stop training after this time, such as 90m, 2h or 600 (seconds); the last evaluation and "
        "export follow.",
    )
    flags.register_validator("exporters", _check_exporter_names, flag_values=flag_values)
    _register_rule(_check_eval, ("eval", *_WHEN, "stop_metric", "exporters"), flag_values)
    _register_rule(_check_intervals, _WHEN, flag_values)
    _register_rule(_check_early_stopping, _STOP, flag_values)
    _register_rule(_check_exporters, _EXPORT, flag_values)


def _define_when(define: Group) -> None:
    define.integer(
        "eval_every_steps",
        None,
        "Steps from one evaluated checkpoint to the next; by default every checkpoint is "
        "evaluated.",
        lower_bound=1,
    )
    define.integer(
        "epochs_between_evals",
        None,
        "The same in passes over the training data, whose dataset must know its length.",
        short_name="ebe",
        lower_bound=1,
    )
    define.float(
        "eval_throttle_secs",
        None,
        "Evaluate a checkpoint only if the previous evaluation began at least this long ago.",
        lower_bound=0.0,
    )


def _define_early_stopping(define: Group) -> None:
    define.string(
        "stop_metric",
        None,
        "The metric of the evaluations by which training stops early, such as loss.",
    )
    define.enum(
        "stop_if",
        None,
        ["higher", "lower", "no_increase", "no_decrease"],
        "Stop if --stop_metric is higher or lower than --stop_threshold, or has not increased or "
        "decreased for --stop_patience_steps.",
    )
    define.float(
        "stop_threshold", None, "The value for --stop_if=higher and lower.", short_name="st"
    )
    define.integer(
        "stop_patience_steps",
        None,
        "Training steps for --stop_if=no_increase and no_decrease.",
        lower_bound=1,
    )


def _define_exporters(define: Group) -> None:
    define.list(
        "exporters",
        [],
        "Checkpoints to export as SavedModels to export/NAME in --model_dir: final, the last; "
        "latest, each evaluated one; best, each that is better than those before it.",
    )
    define.string(
        "best_metric", None, "Metric that the exporter best compares; the loss by default."
    )
    define.enum(
        "best_mode",
        None,
        ["min", "max"],
        "Whether the lowest or the highest --best_metric is the best.",
    )
    define.integer(
        "exports_to_keep",
        None,
        "Number of the newest exports that the exporters latest and best keep; 5 by default, 0 "
        "keeps all.",
        lower_bound=0,
    )


def _check_exporter_names(names: list[str]) -> bool:
    for name in names:
        if name not in EXPORTERS:
            raise flags.ValidationError(f"'{name}' is not one of {', '.join(EXPORTERS)}")
        if names.count(name) > 1:
            raise flags.ValidationError(f"the name '{name}' is taken; name each exporter once")
    return True


def _register_rule(
    rule: Callable[[Mapping[str, Any]], str | None],
    names: tuple[str, ...],
    flag_values: flags.FlagValues,
) -> None:
    """Registers a rule on several flags; it returns an error text or None when flags are parsed."""

    def check(values: Mapping[str, Any]) -> bool:
        if problem := rule(values):
            raise flags.ValidationError(problem)
        return True

    flags.register_multi_flags_validator(names, check, flag_values=flag_values)


def _check_eval(values: Mapping[str, Any]) -> str | None:
    given = [name for name, value in values.items() if value or value == 0 and value is not False]
    return None if values["eval"] or not given else f"--{given[0]} needs --eval"


def _check_intervals(values: Mapping[str, Any]) -> str | None:
    given = [f"--{name}" for name, value in values.items() if value is not None]
    return f"give only one of {' and '.join(given)}" if len(given) > 1 else None


def _check_early_stopping(values: Mapping[str, Any]) -> str | None:
    metric, rule = values["stop_metric"], values["stop_if"]
    given = [name for name in _STOP[1:] if values[name] is not None]
    if metric is None:
        return f"--{given[0]} needs --stop_metric" if given else None
    if rule is None:
        return "--stop_metric needs --stop_if: when is training to stop?"
    needed, other = "stop_threshold", "stop_patience_steps"
    if rule.startswith("no_"):
        needed, other = other, needed
    if values[needed] is None:
        return f"--stop_if={rule} needs --{needed}"
    return f"--stop_if={rule} does not use --{other}" if values[other] is not None else None


def _check_exporters(values: Mapping[str, Any]) -> str | None:
    exporters, metric, mode = values["exporters"], values["best_metric"], values["best_mode"]
    if (metric is None) != (mode is None):
        return "--best_metric and --best_mode need each other"
    if metric is not None and "best" not in exporters:
        return "--best_metric needs --exporters=best"
    if values["exports_to_keep"] is not None and not {"latest", "best"}.intersection(exporters):
        return "--exports_to_keep needs --exporters with latest or best"
    return None


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
