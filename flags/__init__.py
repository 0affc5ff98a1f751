"""absl flags that describe a training job, in groups that any script can define.

    from absl import app
    import estimator_train
    import flags

    flags.define_base_flags()
    flags.define_training_flags()
    flags.define_checkpoint_flags()
    flags.define_distribution_flags()

    def main(_):
        config = flags.make_run_config(estimator_train.RunConfig)
        batch_size = flags.per_replica_batch_size()
        ...

    app.run(main)

Names, short names and meanings are those of the official TensorFlow models. In particular,
`--batch_size` is the global batch. Each `define_*` function takes the `FlagValues` to define flags
in; `FlagValues.set_default` changes a default afterwards. The functions import TensorFlow only when
they need it, so that `--help` and errors in flags are quick.
"""

from flags.group import define_preset_flag, parse_with_preset, preset_names
from flags.input import define_image_flags, define_input_flags, make_pipeline_options
from flags.job import (
    define_base_flags,
    define_job_flags,
    define_speed_flags,
    define_training_flags,
    export_dir,
)
from flags.run_config import (
    define_distribution_flags,
    make_run_config,
    make_strategy,
    per_replica_batch_size,
)
from flags.schedule import define_batch_job_flags, define_checkpoint_flags, define_evaluation_flags

__all__ = [
    "define_base_flags",
    "define_batch_job_flags",
    "define_checkpoint_flags",
    "define_distribution_flags",
    "define_evaluation_flags",
    "define_image_flags",
    "define_input_flags",
    "define_job_flags",
    "define_preset_flag",
    "define_speed_flags",
    "define_training_flags",
    "export_dir",
    "make_pipeline_options",
    "make_run_config",
    "make_strategy",
    "parse_with_preset",
    "per_replica_batch_size",
    "preset_names",
]
