"""Makes a RunConfig from flags."""

from typing import Any, TypeVar

from absl import flags

from flags.distribution import make_strategy, session_config

Config = TypeVar("Config")

_ARGUMENTS = {
    "model_dir": "model_dir",
    "seed": "tf_random_seed",
    "save_checkpoints_steps": "save_checkpoints_steps",
    "save_checkpoints_secs": "save_checkpoints_secs",
    "keep_checkpoint_max": "keep_checkpoint_max",
    "save_summary_steps": "save_summary_steps",
    "log_step_count_steps": "log_step_count_steps",
    "keep_best": "keep_best",
    "checkpoint_mode": "checkpoint_mode",
    "step_timeout_secs": "step_timeout_secs",
    "allow_shared_model_dir": "allow_shared_model_dir",
    "save_input_position": "save_input_position",
}

_XLA = {"off": False, "on": True, "auto": "auto"}


def make_run_config(
    config_class: type[Config],
    flag_values: flags.FlagValues = flags.FLAGS,
    **overrides: Any,
) -> Config:
    """Makes a RunConfig from the flags that are defined.

    Args:
      config_class: `estimator_train.RunConfig`, or a class with the same arguments.
      flag_values: The parsed flags. A group that was not defined leaves RunConfig's defaults.
      **overrides: Arguments of RunConfig that override the flags.

    Raises:
      ValueError: RunConfig or the distribution strategy rejects a value.
    """
    arguments = {
        argument: flag_values[flag].value
        for flag, argument in _ARGUMENTS.items()
        if flag in flag_values and flag_values[flag].value is not None
    }
    if "steps_per_loop" in flag_values:
        steps = flag_values.steps_per_loop
        arguments["steps_per_loop"] = steps if steps == "auto" else int(steps)
    if "xla" in flag_values:
        arguments["xla"] = _XLA[flag_values.xla]
    if "mixed_precision" in flag_values and flag_values.mixed_precision != "off":
        arguments["mixed_precision"] = flag_values.mixed_precision
    if "distribution_strategy" in flag_values:
        arguments["train_distribute"] = make_strategy(flag_values)
        arguments["session_config"] = session_config(flag_values)
    return config_class(**{**arguments, **overrides})
