"""Flags for the directories of a job, its epochs and its batch size."""

from absl import flags

from flags.group import Group

flags.disclaim_key_flags()  # The --help of a script then lists them with the flags of the script.


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
