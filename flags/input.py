"""Flags for input pipelines: the settings of `input_fns.PipelineOptions`."""

from collections.abc import Callable
from typing import Any, TypeVar

from absl import flags

from flags.group import Group

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
    for name, help_text in (
        ("shuffle_buffer", "Examples in the shuffle buffer; by default all."),
        (
            "num_parallel_calls",
            "Examples or batches processed in parallel; by default one per CPU.",
        ),
        ("datasets_num_private_threads", "Threads of a private pool for the input."),
    ):
        define.integer(name, None, help_text, lower_bound=1)
    for name, help_text, minimum in (
        ("prefetch", "Batches to prefetch; by default -1: tf.data chooses.", -1),
        ("max_bad_records", "Maximum number of bad records that --on_bad_record=skip may skip.", 0),
    ):
        define.integer(name, None, help_text, lower_bound=minimum)
    for name, value, help_text in (
        ("drop_remainder", False, "Drop a last batch that is smaller than the others."),
        ("deterministic_input", True, "Produce the same order in each run with the same seed."),
        (
            "save_input_position",
            False,
            "Save the position in the input with each checkpoint, so that a restarted job "
            "continues from there.",
        ),
    ):
        define.boolean(name, value, help_text)
    for name, help_text in (
        (
            "input_cache",
            "Cache decoded examples: 'memory', or the path of a file.",
        ),
        (
            "prefetch_device",
            "Device to prefetch batches to, such as /gpu:0, if no strategy chooses one.",
        ),
        ("bad_records_file", "File with a line for each skipped record."),
    ):
        define.string(name, None, help_text)
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
