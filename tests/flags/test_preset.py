"""Presets are flagfiles that every flag on the command line overrides."""

import pytest
from absl import flags as absl_flags

import flags

DEFINITIONS = [
    flags.define_base_flags,
    flags.define_training_flags,
    flags.define_image_flags,
    flags.define_job_flags,
    flags.define_preset_flag,
]


def parse(*arguments):
    values = absl_flags.FlagValues()
    for definition in DEFINITIONS:
        definition(values)
    rest = flags.parse_with_preset(["program", *arguments], values)
    return values, rest


def test_there_are_three_presets():
    assert flags.preset_names() == ["digits", "fashion_mnist", "oct"]


@pytest.mark.parametrize("name", flags.preset_names())
def test_each_preset_is_a_complete_job(name):
    values, rest = parse("--preset", name)
    assert rest == ["program"]
    assert values.preset == name
    assert values.model.startswith("estimator_train.cli.job.models:")
    assert values.input_fn.startswith("estimator_train.cli.job.inputs:")
    assert values.model_dir == f"runs/{name}"
    assert values.export_dir == "{model_dir}/export"


def test_flags_override_the_preset_before_and_after_it():
    for arguments in (
        ["--train_epochs=2", "--preset", "digits", "--batch_size", "8"],
        ["--preset=digits", "--batch_size=8", "--train_epochs=2"],
    ):
        values, _ = parse(*arguments)
        assert (values.train_epochs, values.batch_size) == (2, 8)
        assert values.learning_rate == 0.001


def test_a_flagfile_may_choose_the_preset_and_override_it(tmp_path):
    flagfile = tmp_path / "mine.flags"
    flagfile.write_text("# mine\n--batch_size=16\n--preset=oct\n--labels=A,B\n")
    values, _ = parse(f"--flagfile={flagfile}", "--image_size=32")
    assert (values.preset, values.batch_size, values.labels) == ("oct", 16, ["A", "B"])
    assert (values.image_size, values.train_epochs) == (32, 2)


def test_arguments_that_are_not_flags_are_returned():
    assert parse("extra", "--preset=digits")[1] == ["program", "extra"]
