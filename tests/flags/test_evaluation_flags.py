"""The flags of evaluation: their effects and contradictions."""

import pytest
from absl import flags as absl_flags

import estimator_train
import flags


def parse(*arguments):
    values = absl_flags.FlagValues()
    flags.define_evaluation_flags(values)
    values(["program", *arguments])
    return values


@pytest.mark.parametrize(
    ("text", "seconds"), [("90m", 5400), ("2h", 7200), ("1.5d", 129600), ("45s", 45), ("600", 600)]
)
def test_a_time_is_given_in_any_unit(text, seconds):
    assert parse(f"--max_time={text}").max_time == seconds


@pytest.mark.parametrize(
    ("text", "value"),
    [("accuracy:max:3", ("accuracy", "max", 3)), ("head/a:b:min:1", ("head/a:b", "min", 1))],
)
def test_keep_best_reaches_the_run_config(text, value):
    values = parse(f"--keep_best={text}")
    assert values.keep_best == value
    assert flags.make_run_config(estimator_train.RunConfig, values).keep_best == value


def test_short_names_equal_those_of_the_official_models():
    values = parse("--eval", "-ebe=2", "-st=0.97", "--stop_metric=accuracy", "--stop_if=higher")
    assert (values.epochs_between_evals, values.stop_threshold) == (2, 0.97)


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        (
            ["--eval", "--exporters=final,latest,best", "--exports_to_keep=0"],
            {"eval": True, "exporters": ["final", "latest", "best"], "exports_to_keep": 0},
        ),
        (
            ["--eval", "--exporters=best", "--best_metric=accuracy", "--best_mode=max"],
            {"exporters": ["best"], "best_metric": "accuracy", "best_mode": "max"},
        ),
        (
            ["--eval", "--stop_metric=loss", "--stop_if=no_decrease", "--stop_patience_steps=9"],
            {"stop_metric": "loss", "stop_if": "no_decrease", "stop_patience_steps": 9},
        ),
        (
            ["--keep_best=loss:min:1", "--max_time=9"],
            {"keep_best": ("loss", "min", 1), "max_time": 9},
        ),
    ],
)
def test_combined_flags_have_their_values(arguments, values):
    parsed = parse(*arguments)
    assert {name: parsed[name].value for name in values} == values


STOP = ("--eval", "--stop_metric=loss")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--eval_every_steps=3"], "--eval_every_steps needs --eval"),
        (["--eval_throttle_secs=0"], "--eval_throttle_secs needs --eval"),
        (["--exporters=final"], "--exporters needs --eval"),
        (
            ["--stop_metric=loss", "--stop_if=lower", "--stop_threshold=1"],
            "--stop_metric needs --eval",
        ),
        (
            ["--eval", "--eval_every_steps=3", "--epochs_between_evals=4"],
            "give only one of --eval_every_steps and --epochs_between_evals",
        ),
        (["--eval", "--stop_threshold=1"], "--stop_threshold needs --stop_metric"),
        (STOP, "--stop_metric needs --stop_if: when is training to stop?"),
        ((*STOP, "--stop_if=lower"), "--stop_if=lower needs --stop_threshold"),
        (
            (*STOP, "--stop_if=no_increase", "--stop_threshold=1"),
            "--stop_if=no_increase needs --stop_patience_steps",
        ),
        (
            (*STOP, "--stop_if=lower", "--stop_threshold=1", "--stop_patience_steps=2"),
            "--stop_if=lower does not use --stop_patience_steps",
        ),
        (["--eval", "--exporters=best,final,best"], "the name 'best' is taken"),
        (["--eval", "--exporters=newest"], "'newest' is not one of final, latest, best"),
        (["--best_metric=loss"], "--best_metric and --best_mode need each other"),
        (["--best_metric=loss", "--best_mode=min"], "--best_metric needs --exporters=best"),
        (
            ["--eval", "--exporters=final", "--exports_to_keep=2"],
            "--exports_to_keep needs --exporters with latest or best",
        ),
        (["--max_time=3w"], "--max_time=3w: must be a time, such as 90m"),
        (["--max_time=0h"], "--max_time=0h: must be a time, such as 90m"),
        (["--keep_best=accuracy"], "--keep_best=accuracy: must be METRIC:min:N or"),
        (["--keep_best=accuracy:max:0"], "--keep_best=accuracy:max:0: must be METRIC:min:N"),
    ],
)
def test_wrong_and_contradictory_values_are_rejected(arguments, message):
    with pytest.raises(absl_flags.IllegalFlagValueError) as error:
        parse(*arguments)
    assert message in str(error.value)
