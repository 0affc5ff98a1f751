"""From flags to a RunConfig, a strategy and the batch of a replica."""

import forked
import pytest
import tensorflow as tf
from absl import flags as absl_flags
from processes import run_process

import estimator_train
import flags
from flags import run_config


def parse(*arguments, define=None):
    values = absl_flags.FlagValues()
    for definition in define or [
        flags.define_base_flags,
        flags.define_training_flags,
        flags.define_checkpoint_flags,
        flags.define_distribution_flags,
    ]:
        definition(values)
    values(["program", *arguments])
    return values


def test_default_flags_make_the_default_config():
    config = flags.make_run_config(estimator_train.RunConfig, parse())
    default = estimator_train.RunConfig()
    for name in (
        "model_dir",
        "tf_random_seed",
        "save_checkpoints_steps",
        "save_checkpoints_secs",
        "keep_checkpoint_max",
        "save_summary_steps",
        "log_step_count_steps",
        "train_distribute",
        "session_config",
    ):
        assert getattr(config, name) == getattr(default, name), name


def test_every_flag_sets_its_setting():
    config = flags.make_run_config(
        estimator_train.RunConfig,
        parse(
            "--model_dir=here",
            "--seed=5",
            "--save_checkpoints_steps=7",
            "--keep_checkpoint_max=2",
            "--save_summary_steps=3",
            "--log_step_count_steps=4",
            "--distribution_strategy=one_device",
        ),
    )
    assert config.model_dir == "here"
    assert config.tf_random_seed == 5
    assert (config.save_checkpoints_steps, config.save_checkpoints_secs) == (7, None)
    assert config.keep_checkpoint_max == 2
    assert config.save_summary_steps == 3
    assert config.log_step_count_steps == 4
    assert isinstance(config.train_distribute, tf.distribute.OneDeviceStrategy)


def test_seconds_between_checkpoints_replace_steps():
    config = flags.make_run_config(estimator_train.RunConfig, parse("--save_checkpoints_secs=30"))
    assert (config.save_checkpoints_steps, config.save_checkpoints_secs) == (None, 30)


def test_groups_that_are_not_defined_leave_the_defaults_and_overrides_come_first():
    values = parse("--model_dir=here", define=[flags.define_base_flags])
    config = flags.make_run_config(estimator_train.RunConfig, values, keep_checkpoint_max=1)
    assert (config.model_dir, config.keep_checkpoint_max) == ("here", 1)
    assert config.save_summary_steps == 100


@pytest.mark.parametrize("name", ["off", "mirrored"])
def test_one_device_needs_no_strategy(name):
    values = parse(f"--distribution_strategy={name}", "--num_gpus=0")
    assert flags.make_strategy(values) is None
    assert flags.per_replica_batch_size(values) == 32


MIRRORED = """
import tensorflow as tf
from absl import flags as absl_flags
import flags
values = absl_flags.FlagValues()
flags.define_distribution_flags(values)
values(["program", "--num_virtual_cpus=3", "--num_gpus=0", "--distribution_strategy=mirrored"])
strategy = flags.make_strategy(values)
print(strategy.num_replicas_in_sync, len(tf.config.list_logical_devices("CPU")))
"""


def test_virtual_cpus_are_created():
    done = run_process(forked.python("-c", MIRRORED))
    assert done.stdout.split() == ["3", "3"]


@pytest.mark.parametrize(
    ("asked", "present", "used"), [(None, 0, 0), (None, 4, 1), (-1, 4, 4), (-1, 0, 0), (2, 4, 2)]
)
def test_num_gpus_selects_the_strategy_and_the_devices(asked, present, used):
    assert run_config._count_gpus(asked, present) == used


def test_more_gpus_than_there_are_is_an_error():
    with pytest.raises(ValueError, match="--num_gpus=100, but TensorFlow finds "):
        flags.make_strategy(parse("--num_gpus=100"))


def test_sessions_do_not_use_other_gpus():
    assert run_config._make_session_config(2, present=2) is None
    config = run_config._make_session_config(0, present=2)
    assert config.device_count["GPU"] == 0
    assert config.allow_soft_placement


def test_the_global_batch_is_divided_among_the_devices():
    values = parse("--batch_size=96", "--num_virtual_cpus=3", "--num_gpus=0")
    assert flags.per_replica_batch_size(values) == 32


@pytest.mark.parametrize(("size", "way_out"), [(100, "99 or 102"), (2, "3")])
def test_a_batch_that_does_not_divide_is_an_error(size, way_out):
    values = parse(f"--batch_size={size}", "--num_virtual_cpus=3", "--num_gpus=0")
    with pytest.raises(
        ValueError, match=f"--batch_size={size} is the global batch of 3 devices, .*: use {way_out}"
    ):
        flags.per_replica_batch_size(values)


@pytest.mark.parametrize("name", ["off", "one_device"])
def test_several_devices_need_a_strategy_that_uses_them(name):
    values = parse("--num_virtual_cpus=2", "--num_gpus=0", f"--distribution_strategy={name}")
    with pytest.raises(ValueError, match=f"--distribution_strategy={name} trains on one device"):
        flags.make_strategy(values)


def test_export_dir_may_be_inside_model_dir():
    assert flags.export_dir("runs/a", parse("--export_dir={model_dir}/out")) == "runs/a/out"
    assert flags.export_dir("runs/a", parse("--export_dir=out")) == "out"
    assert flags.export_dir("runs/a", parse("--export_dir=")) is None
    assert flags.export_dir("runs/a", parse()) is None


def test_performance_flags_set_the_config():
    def config(*arguments):
        values = parse(*arguments, define=[flags.define_speed_flags])
        found = flags.make_run_config(estimator_train.RunConfig, values)
        return found.steps_per_loop, found.checkpoint_mode, found.xla, found.mixed_precision

    assert config() == ("auto", "async", False, None)
    found = config("--steps_per_loop=7", "--checkpoint_mode=sync", "--xla=on")
    assert found == (7, "sync", True, None)
    assert config("--xla=auto")[2] == "auto"
    assert config("--mixed_precision=bfloat16")[3] == "bfloat16"
    with pytest.raises(ValueError, match="`xla` and `mixed_precision` cannot be both set"):
        config("--xla=on", "--mixed_precision=float16")
