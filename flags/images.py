"""Flags for image data and the network that classifies it."""

from absl import flags

from flags.group import Group

flags.disclaim_key_flags()


def define_image_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines --download, --image_size, --labels, --file_pattern, --mixed_channels and --weights.

    Args:
      flag_values: Target of the definitions.
    """
    define = Group(flag_values)
    define.boolean(
        "download",
        False,
        "Download files that are missing in --data_dir, for data sets with a known source.",
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
        "The classes, in the order of the model's outputs; each has a folder of the same name.",
    )
    define.string(
        "file_pattern",
        "*/*.jpeg",
        "Pattern of image files below the train and the test folder of --data_dir.",
    )
    define.boolean(
        "mixed_channels",
        False,
        "Accept images whose number of channels differs from the first, such as grey among colour.",
    )
    define.string(
        "weights",
        None,
        "Initial weights of the network: imagenet (tf_keras downloads them), or the path of a "
        "weights file; random values by default.",
    )
