"""Where pictures come from, and the network that sorts them."""

from absl import flags

from flags.group import Group

flags.disclaim_key_flags()


def define_image_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines --download, --image_size, --labels, --file_pattern, --mixed_channels and --weights.

    Args:
      flag_values: Where to define them.
    """
    define = Group(flag_values)
    define.boolean(
        "download",
        False,
        "Fetch files that --data_dir lacks, for data sets that have a known source.",
    )
    define.integer(
        "image_size",
        224,
        "Height and width, in pixels, that pictures are resized to.",
        lower_bound=1,
    )
    define.list(
        "labels",
        [],
        "The classes, in the order of the model's outputs; each has a folder of its name.",
    )
    define.string(
        "file_pattern",
        "*/*.jpeg",
        "Which files are pictures, below the train and the test folder of --data_dir.",
    )
    define.boolean(
        "mixed_channels",
        False,
        "Take grey pictures among coloured ones, rather than refuse what is unlike the first.",
    )
    define.string(
        "weights",
        None,
        "First weights of the network: imagenet (tf_keras downloads them), or the path of a "
        "weights file; random values by default.",
    )
