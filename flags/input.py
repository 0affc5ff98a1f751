"""How input pipelines shuffle, batch and read ahead: settings of `input_fns.PipelineOptions`."""

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
      flag_values: Where to define them.
    """
    define = Group(flag_values)
    for name, help_text in (
        ("shuffle_buffer", "How far a shuffle moves an example; anywhere by default."),
        ("num_parallel_calls", "Examples or batches worked on at a time; one a processor."),
        ("datasets_num_private_threads", "Threads of a pool of the input's own."),
    ):
        define.integer(name, None, help_text, lower_bound=1)
    for name, help_text, least in (
        ("prefetch", "Batches made ahead of their use; -1 lets tf.data choose, as by default.", -1),
        ("max_bad_records", "How many bad records --on_bad_record=skip may leave out.", 0),
    ):
        define.integer(name, None, help_text, lower_bound=least)
    for name, value, help_text in (
        ("drop_remainder", False, "Leave out a last batch that is smaller than the others."),
        ("deterministic_input", True, "The same order in each run of the same seed."),
        (
            "save_input_position",
            False,
            "Save the position in the input with each checkpoint: a job that is started again "
            "reads on from there.",
        ),
    ):
        define.boolean(name, value, help_text)
    for name, help_text in (
        (
            "input_cache",
            "Keep decoded examples from their first use on: 'memory', or the path of a file.",
        ),
        (
            "prefetch_device",
            "Device on which batches are waiting, such as /gpu:0, where no strategy has its own.",
        ),
        ("bad_records_file", "File to which a line is added for each record that is left out."),
    ):
        define.string(name, None, help_text)
    define.enum(
        "on_bad_record",
        "raise",
        ["raise", "skip"],
        "What to do about a record that cannot be read: stop, or leave it out.",
    )


def make_pipeline_options(
    options_class: Callable[..., Options],
    flag_values: flags.FlagValues = flags.FLAGS,
    **overrides: Any,
) -> Options:
    """Makes PipelineOptions of the flags that are defined.

    Args:
      options_class: `input_fns.PipelineOptions`, or whatever takes its arguments.
      flag_values: The parsed flags. A flag that was not given leaves the class's default.
      **overrides: Settings that come before what the flags say, such as `batch_size`.

    Raises:
      ValueError: The class does not take a value.
    """
    settings = {
        setting: flag_values[flag].value
        for flag, setting in _SETTINGS.items()
        if flag in flag_values and flag_values[flag].value is not None
    }
    return options_class(**{**settings, **overrides})
