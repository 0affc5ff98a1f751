"""The flag groups: names, defaults, and refused values.

These tests cover `flags/group.py` and `flags/schedule.py`.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from absl import flags as absl_flags

import flags

DEFINITIONS = [
    flags.define_base_flags,
    flags.define_training_flags,
    flags.define_evaluation_flags,
    flags.define_checkpoint_flags,
    flags.define_distribution_flags,
    flags.define_image_flags,
    flags.define_job_flags,
    flags.define_preset_flag,
]


def parse(*arguments, define=DEFINITIONS):
    values = absl_flags.FlagValues()
    for definition in define:
        definition(values)
    assert flags.parse_with_preset(["program", *arguments], values) == ["program"]
    return values


def test_flags_have_their_defaults():
    values = parse().flag_values_dict()
    assert values == {
        "data_dir": None,
        "mixed_channels": False,
        "model_dir": None,
        "clean": False,
        "train_epochs": 1,
        "batch_size": 32,
        "export_dir": None,
        "learning_rate": 0.001,
        "max_train_steps": None,
        "eval_steps": None,
        "seed": None,
        "eval": False,
        "eval_every_steps": None,
        "epochs_between_evals": None,
        "eval_throttle_secs": None,
        "stop_metric": None,
        "stop_if": None,
        "stop_threshold": None,
        "stop_patience_steps": None,
        "exporters": [],
        "best_metric": None,
        "best_mode": None,
        "exports_to_keep": None,
        "keep_best": None,
        "max_time": None,
        "save_checkpoints_steps": None,
        "save_checkpoints_secs": None,
        "keep_checkpoint_max": 5,
        "save_summary_steps": 100,
        "log_step_count_steps": 100,
        "distribution_strategy": "mirrored",
        "all_reduce_alg": None,
        "worker_hosts": None,
        "task_index": None,
        "num_gpus": None,
        "num_virtual_cpus": 1,
        "download": False,
        "image_size": 224,
        "labels": [],
        "file_pattern": "*/*.jpeg",
        "weights": None,
        "model": None,
        "input_fn": None,
        "input": None,
        "eval_input": None,
        "input_label": None,
        "input_columns": [],
        "preset": None,
        # Short names.
        "dd": None,
        "md": None,
        "te": 1,
        "bs": 32,
        "ed": None,
        "lr": 0.001,
        "ebe": None,
        "st": None,
        "mts": None,
        "ds": "mirrored",
        "ng": None,
    }


def test_short_names_equal_those_of_the_official_models():
    values = parse("-dd=d", "-md=m", "-te=3", "-bs=64", "-ed=e", "-mts=9", "-ds=off", "-ng=0")
    assert (values.data_dir, values.model_dir, values.export_dir) == ("d", "m", "e")
    assert (values.train_epochs, values.batch_size, values.max_train_steps) == (3, 64, 9)
    assert (values.distribution_strategy, values.num_gpus) == ("off", 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--batch_size=0"], "--batch_size=0"),
        (["--batch_size=many"], "--batch_size=many"),
        (["--train_epochs=-1"], "--train_epochs=-1"),
        (["--max_train_steps=0"], "--max_train_steps=0"),
        (["--learning_rate=-0.1"], "--learning_rate=-0.1"),
        (["--num_gpus=-2"], "--num_gpus=-2"),
        (["--distribution_strategy=horovod"], r"<off\|one_device\|mirrored\|central_storage\|"),
        (["--save_checkpoints_steps=5", "--save_checkpoints_secs=5"], "save_checkpoints_secs"),
        (["--model=module.function"], r"--model=module.function: must be package.module:functi"),
        (["--input_fn=a b:c"], "--input_fn=a b:c: must be package.module:function"),
        (["--preset=imagenet"], r"<digits\|fashion_mnist\|oct>"),
        (["--bach_size=3"], "Unknown command line flag 'bach_size'. Did you mean: batch_size"),
    ],
)
def test_wrong_values_are_refused(arguments, message):
    with pytest.raises(absl_flags.Error, match=message):
        parse(*arguments)


def test_a_group_works_alone_and_in_two_flag_values():
    for size in (1, 2):
        values = parse(f"--batch_size={size}", define=[flags.define_base_flags] + DEFINITIONS[-1:])
        assert values.batch_size == size
        assert "learning_rate" not in values


SCRIPT = """
import sys
from absl import app
from absl import flags as absl_flags
import flags

flags.define_base_flags()
absl_flags.FLAGS.set_default("batch_size", 8)

def main(_):
    assert "tensorflow" not in sys.modules
    print(absl_flags.FLAGS.batch_size, absl_flags.FLAGS.train_epochs)

app.run(main)
"""


def test_any_absl_script_can_define_a_group_and_its_help_lists_it(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)

    def run(*arguments):
        return subprocess.run(
            [sys.executable, str(script), *arguments],
            env={**os.environ, "PYTHONPATH": str(Path(flags.__file__).parents[1])},
            stdout=subprocess.PIPE,
            text=True,
            timeout=300,
            check=False,
        ).stdout

    assert run("--train_epochs=4") == "8 4\n"
    assert "-bs,--batch_size: Examples in one step" in run("--help")


@pytest.mark.parametrize(
    "define", [flags.__dict__[n] for n in flags.__all__ if n.startswith("def")]
)
def test_flags_belong_to_the_module_that_asks_for_them(define):
    values = absl_flags.FlagValues()
    define(values)
    (module,) = values.flags_by_module_dict()
    assert module == __name__
