"""Flags for input pipelines and pictures: the settings of `input_fns.PipelineOptions`."""

from collections.abc import Callable
from typing import Any, TypeVar

from absl import flags

from flags.group import Group

# The --help of a script then lists the flags with those of the script.
flags.disclaim_key_flags()


Options = TypeVar("Options")

# Flag name to setting; --batch_size and --seed belong to other groups.
_SETTINGS = {
    "shuffle_buffer": "buffer_size",
    "drop_remainder": "drop_remainder",
    "input_cache": "cache",
    "num_parallel_calls": "num_parallel_calls",
    "prefetch": "prefetch_buffer_size",
    "prefetch_device": "prefetch_device",
    "deterministic_input": "deterministic",
    "datasets_num_private_threads": "private_threads",
    "on_bad_record": "on_bad_record",
    "max_bad_records": "max_bad_records",
    "bad_records_file": "bad_records_file",
}


def define_input_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines --shuffle_buffer, --input_cache, --on_bad_record, --save_input_position and more.

    The others are --drop_remainder, --num_parallel_calls, --prefetch, --prefetch_device,
    --deterministic_input, --datasets_num_private_threads, --max_bad_records and
    --bad_records_file.

    Args:
      flag_values: Target of the definitions.
    """
    define = Group(flag_values)
    define.integer(
        "shuffle_buffer", None, "Examples in the shuffle buffer; by default all.", lower_bound=1
    )
    define.integer(
        "num_parallel_calls",
        None,
        "Examples or batches processed in parallel; by default one per CPU.",
        lower_bound=1,
    )
    define.integer(
        "datasets_num_private_threads",
        None,
        "Threads of a private pool for the input.",
        lower_bound=1,
    )
    define.integer(
        "prefetch", None, "Batches to prefetch; by default -1: tf.data chooses.", lower_bound=-1
    )
    define.integer(
        "max_bad_records",
        None,
        "Maximum number of bad records that --on_bad_record=skip may skip.",
        lower_bound=0,
    )
    define.boolean("drop_remainder", False, "Drop a last batch that is smaller than the others.")
    define.boolean(
        "deterministic_input", True, "Produce the same order in each run with the same seed."
    )
    define.boolean(
        "save_input_position",
        False,
        "Save the position in the input with each checkpoint, so that a restarted job continues "
        "from there.",
    )
    define.string("input_cache", None, "Cache decoded examples: 'memory', or the path of a file.")
    define.string(
        "prefetch_device",
        None,
        "Device to prefetch batches to, such as /gpu:0, if no strategy chooses one.",
    )
    define.string("bad_records_file", None, "File with a line for each skipped record.")
    define.enum(
        "on_bad_record",
        "raise",
        ["raise", "skip"],
        "Whether to stop or skip when a record cannot be read.",
    )


def make_pipeline_options(
    options_class: Callable[..., Options],
    flag_values: flags.FlagValues = flags.FLAGS,
    **overrides: Any,
) -> Options:
    """Makes PipelineOptions from the flags that are defined.

    Args:
      options_class: `input_fns.PipelineOptions`, or another class with the same arguments.
      flag_values: The parsed flags. A flag that was not given leaves the class's default.
      **overrides: Settings that override the flags, such as `batch_size`.

    Raises:
      ValueError: The class rejects a value.
    """
    settings = {
        setting: flag_values[flag].value
        for flag, setting in _SETTINGS.items()
        if flag in flag_values and flag_values[flag].value is not None
    }
    return options_class(**{**settings, **overrides})


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
