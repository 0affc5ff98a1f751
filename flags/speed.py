"""Flags for speed: loops of steps, asynchronous checkpoints, XLA, mixed precision."""

from absl import flags

from flags.group import Group

flags.disclaim_key_flags()


def define_speed_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines --steps_per_loop, --checkpoint_mode, --xla and --mixed_precision.

    Args:
      flag_values: Target of the definitions.
    """
    define = Group(flag_values)
    define.string(
        "steps_per_loop",
        "auto",
        "Maximum number of training steps in one session call; 'auto': as many as the hooks allow.",
    )
    flags.register_validator(
        "steps_per_loop",
        lambda value: value == "auto" or (value.isdigit() and int(value) > 0),
        message="must be 'auto' or a number above 0",
        flag_values=flag_values,
    )
    define.enum(
        "checkpoint_mode",
        "async",
        ["async", "sync"],
        "async: training continues while a checkpoint is written; sync: training waits.",
    )
    define.enum(
        "xla",
        "off",
        ["off", "on", "auto"],
        "Whether XLA compiles the training steps that run in loops; 'auto': where compiled steps "
        "are possible and faster.",
    )
    define.enum(
        "mixed_precision",
        "off",
        ["off", "bfloat16", "float16"],
        "Type of matrix products and convolutions in training; variables stay in float32.",
    )
