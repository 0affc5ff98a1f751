"""Examples of `flags`: a section for one or several names."""

import estimator_train as est
import flags
from absl import flags as absl_flags

values = absl_flags.FlagValues()  # A program leaves it out: its flags are absl's FLAGS.

# %% define_base_flags, export_dir
flags.define_base_flags(values)
values(["program", "--model_dir=runs/mine", "--export_dir=runs/export"])
print(values.model_dir, flags.export_dir("runs/mine", values))  # runs/mine runs/export

# %% define_training_flags
flags.define_training_flags(values)
values(["program", "--max_train_steps=100"])
print(values.max_train_steps)  # 100

# %% define_checkpoint_flags, make_run_config
flags.define_base_flags(values)
flags.define_checkpoint_flags(values)
values(["program", "--save_checkpoints_steps=50"])
config = flags.make_run_config(est.RunConfig, values)
print(config.save_checkpoints_steps)  # 50

# %% define_distribution_flags, make_strategy, per_replica_batch_size
flags.define_base_flags(values)
flags.define_distribution_flags(values)
values(["program", "--distribution_strategy=one_device", "--num_gpus=0", "--batch_size=32"])
strategy = flags.make_strategy(values)
print(flags.per_replica_batch_size(values))  # 32

# %% define_input_flags, make_pipeline_options
import input_fns

flags.define_base_flags(values)
flags.define_input_flags(values)
values(["program", "--on_bad_record=skip"])
options = flags.make_pipeline_options(input_fns.PipelineOptions, values, batch_size=16)
print(options.batch_size, options.on_bad_record)  # 16 skip

# %% define_batch_job_flags
flags.define_batch_job_flags(values)
values(["program", "--grace_secs=30", "--job_summary=runs/mine.json"])
print(values.grace_secs)  # 30.0

# %% define_evaluation_flags
flags.define_evaluation_flags(values)
values(["program", "--eval", "--eval_every_steps=100"])
print(values.eval_every_steps)  # 100

# %% define_speed_flags
flags.define_speed_flags(values)
values(["program", "--steps_per_loop=20"])
print(values.steps_per_loop)  # 20

# %% define_image_flags
flags.define_image_flags(values)
values(["program", "--image_size=64", "--labels=cat,dog"])
print(values.image_size, values.labels)  # 64 ['cat', 'dog']

# %% define_job_flags
flags.define_job_flags(values)
values(["program", "--model=my_digits:build", "--input_fn=my_digits:data"])
print(values.model)  # my_digits:build

# %% define_preset_flag, parse_with_preset, preset_names
print(flags.preset_names())  # ['digits', 'fashion_mnist', 'oct']
for define in (
    flags.define_preset_flag,
    flags.define_base_flags,
    flags.define_training_flags,
    flags.define_job_flags,
):
    define(values)
flags.parse_with_preset(["program", "--preset=digits", "--batch_size=16"], values)
print(values.train_epochs, values.batch_size)  # 40 16
