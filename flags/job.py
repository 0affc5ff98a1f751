"""Flags for the model and the directories of a job, its training and its speed."""

from absl import flags

from flags.group import Group

# The --help of a script then lists the flags with those of the script.
flags.disclaim_key_flags()

TABLE_READERS = ("parquet", "arrow", "csv")


def define_base_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines --data_dir, --model_dir, --clean, --train_epochs, --batch_size and --export_dir.

    Args:
      flag_values: Target of the definitions.
    """
    define = Group(flag_values)
    define.string("data_dir", None, "Directory of the input data.", short_name="dd")
    define.string(
        "model_dir",
        None,
        "Directory of checkpoints and event files. A job that finds a checkpoint there continues "
        "from it.",
        short_name="md",
    )
    define.boolean("clean", False, "Remove --model_dir first, to start over.")
    define.integer(
        "train_epochs",
        1,
        "Passes over the training data in one run.",
        short_name="te",
        lower_bound=1,
    )
    define.integer(
        "batch_size",
        32,
        "Examples in one step, over all devices (the global batch).",
        short_name="bs",
        lower_bound=1,
        upper_bound=2**31 - 1,  # tf.data reserves memory for a larger one, and crashes.
    )
    define.string(
        "export_dir",
        None,
        "Directory under which SavedModels are written, each in a directory named by its time; "
        "{model_dir} in the value is replaced by the value of --model_dir.",
        short_name="ed",
    )


def export_dir(model_dir: str, flag_values: flags.FlagValues = flags.FLAGS) -> str | None:
    """Returns the value of --export_dir with {model_dir} replaced; None if the flag is not set.

    Args:
      model_dir: The replacement of {model_dir}.
      flag_values: The parsed flags.
    """
    value = flag_values.export_dir
    return value.replace("{model_dir}", model_dir) if value else None


def define_job_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines --model, --input_fn, --input, --eval_input, --input_label and --input_columns.

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
    define.string(
        "input",
        None,
        "READER:PATH of a table instead of --input_fn, such as parquet:table/*.parquet. Readers: "
        "parquet, arrow, csv.",
    )
    define.string("eval_input", None, "READER:PATH for evaluation; by default that of --input.")
    define.string("input_label", None, "Label column of --input; predictions do not read it.")
    define.list("input_columns", [], "Feature columns of --input. The default is all.")
    for name in ("model", "input_fn"):
        flags.register_validator(
            name,
            lambda value: value is None or _names_a_function(value),
            message="must be package.module:function",
            flag_values=flag_values,
        )
    for name in ("input", "eval_input"):
        flags.register_validator(
            name,
            lambda value: value is None or _names_a_table(value),
            message="must be READER:PATH with the reader parquet, arrow or csv",
            flag_values=flag_values,
        )


def _names_a_table(value: str) -> bool:
    reader, _, path = value.partition(":")
    return reader in TABLE_READERS and bool(path)


def _names_a_function(value: str) -> bool:
    module, _, function = value.partition(":")
    return all(part.isidentifier() for part in [*module.split("."), function])


def define_training_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines --learning_rate, --max_train_steps, --eval_steps and --seed.

    Args:
      flag_values: Target of the definitions.
    """
    define = Group(flag_values)
    define.float(
        "learning_rate", 0.001, "Learning rate of the optimizer.", short_name="lr", lower_bound=0.0
    )
    define.integer(
        "max_train_steps",
        None,
        "Stop at this global step, which includes the steps of earlier runs in --model_dir.",
        short_name="mts",
        lower_bound=1,
    )
    define.integer(
        "eval_steps",
        None,
        "Batches to evaluate on; all of the evaluation data by default.",
        lower_bound=1,
    )
    define.integer(
        "seed",
        None,
        "Seed of initial values and shuffling; different in each run by default.",
        lower_bound=0,
    )


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
