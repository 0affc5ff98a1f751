"""Flags of input pipelines.

These tests cover `flags/input.py`.
"""

from absl import flags as absl_flags

import flags
from estimator_train import RunConfig
from input_fns import PipelineOptions


def parsed(*arguments):
    values = absl_flags.FlagValues()
    flags.define_input_flags(values)
    values(["program", *arguments])
    return values


def test_without_flags_the_options_are_the_defaults():
    assert flags.make_pipeline_options(PipelineOptions, parsed()) == PipelineOptions()


def test_each_flag_sets_its_option():
    values = parsed(
        "--shuffle_buffer=5",
        "--drop_remainder",
        "--input_cache=memory",
        "--num_parallel_calls=3",
        "--prefetch=2",
        "--prefetch_device=/gpu:0",
        "--nodeterministic_input",
        "--datasets_num_private_threads=4",
        "--on_bad_record=skip",
        "--max_bad_records=0",
        "--bad_records_file=bad.txt",
    )
    assert flags.make_pipeline_options(PipelineOptions, values, batch_size=7) == PipelineOptions(
        batch_size=7,
        buffer_size=5,
        drop_remainder=True,
        cache="memory",
        num_parallel_calls=3,
        prefetch_buffer_size=2,
        prefetch_device="/gpu:0",
        deterministic=False,
        private_threads=4,
        on_bad_record="skip",
        max_bad_records=0,
        bad_records_file="bad.txt",
    )


def test_the_position_is_a_setting_of_the_run():
    assert not flags.make_run_config(RunConfig, parsed()).save_input_position
    assert flags.make_run_config(RunConfig, parsed("--save_input_position")).save_input_position
