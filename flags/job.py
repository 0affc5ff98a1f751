"""Flags for the model and the input of a job."""

from absl import flags

from flags.group import Group

flags.disclaim_key_flags()


def define_job_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines --model and --input_fn.

    Args:
      flag_values: Target of the definitions.
    """
    define = Group(flag_values)
    define.string(
        "model",
        None,
        "package.module:function that is a model_fn (it has an argument named features) or "
        "returns a compiled tf_keras model.",
    )
    define.string(
        "input_fn",
        None,
        "package.module:function that returns a tf.data.Dataset of (features, labels), or "
        "another result of an input_fn.",
    )
    for name in ("model", "input_fn"):
        flags.register_validator(
            name,
            lambda value: value is None or _names_a_function(value),
            message="must be package.module:function",
            flag_values=flag_values,
        )


def _names_a_function(value: str) -> bool:
    module, _, function = value.partition(":")
    return all(part.isidentifier() for part in [*module.split("."), function])
