"""Flags for training and evaluation: learning rate, numbers of steps, seed."""

from absl import flags

from flags.group import Group

flags.disclaim_key_flags()


def define_training_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines --learning_rate, --max_train_steps, --eval_steps and --seed.

    Args:
      flag_values: Target of the definitions.
    """
    define = Group(flag_values)
    define.float(
        "learning_rate", 0.001, "Learning rate of the optimizer.", short_name="lr", lower_bound=0.0
    )
    define.integer(
        "max_train_steps",
        None,
        "Stop at this global step, which includes the steps of earlier runs in --model_dir.",
        short_name="mts",
        lower_bound=1,
    )
    define.integer(
        "eval_steps",
        None,
        "Batches to evaluate on; all of the evaluation data by default.",
        lower_bound=1,
    )
    define.integer(
        "seed",
        None,
        "Seed of initial values and shuffling; different in each run by default.",
        lower_bound=0,
    )
