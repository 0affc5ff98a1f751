"""`estimator-train to-keras`: converts a trained model to a Keras model file."""

import os
from collections.abc import Sequence

from absl import flags as absl_flags

from estimator_train.cli.job.own_packages import Group
from estimator_train.cli.output.errors import UsageError

DESCRIPTION = """
Loads the weights of the latest checkpoint in MODEL_DIR (or of a checkpoint, such as
DIR/model.ckpt-1000) into the Keras model that --model builds, and writes the model to --output:
a .keras or .h5 file, or otherwise the directory of a SavedModel. The command matches variables by
name and shape; use --name_map if that is not enough. Then it loads the written model, predicts one
batch with this model and with the checkpoint, and fails if the predictions differ.
"""


def _define_flags(flag_values: absl_flags.FlagValues) -> None:
    define = Group(flag_values)
    define.string(
        "model",
        None,
        "package.module:function that takes no arguments and returns the Keras model.",
    )
    define.string("output", None, "Path of the new file or directory; it must not exist.")
    define.list(
        "name_map",
        [],
        "Pairs of a variable's name in the model and in the checkpoint, such as "
        "hidden/kernel=layer1/w.",
    )
    define.boolean(
        "safe_mode",
        True,
        "Whether the check refuses to run Python code of Lambda layers from the file; "
        "--nosafe_mode trusts it.",
    )


FLAGS = (_define_flags,)


def run(flag_values: absl_flags.FlagValues, paths: Sequence[str]) -> None:
    """Converts the model of the flags.

    Args:
      flag_values: The parsed flags.
      paths: The model_dir or checkpoint.

    Raises:
      UsageError: A flag is missing or wrong, the output already exists, or the predictions of the
        written model differ from those of the checkpoint.
      ValueError: The variables of the checkpoint and the model do not match.
    """
    if len(paths) != 1:
        raise UsageError(
            f"one MODEL_DIR is needed, a directory of a training or a checkpoint, got {len(paths)}."
        )
    for name in ("model", "output"):
        if not flag_values[name].value:
            raise UsageError(f"--{name} is needed; to-keras --help describes it.")
    output = flag_values.output
    if os.path.exists(output):
        raise UsageError(f"--output={output} already exists. Remove it, or choose another path.")
    name_map = _parse_name_map(flag_values.name_map)
    from estimator_train.cli.inspect.keras_check import check_predictions
    from estimator_train.cli.job.user_code import check_arguments, load
    from estimator_train.keras import load_trained, propose_name_map

    function = load("model", flag_values.model)
    check_arguments("model", flag_values.model, function, ())
    model = function()
    load_trained(model, paths[0], name_map)
    names = propose_name_map(model, paths[0], name_map)
    for model_name, checkpoint_name in names.items():
        if model_name != checkpoint_name:
            print(f"{model_name} <- {checkpoint_name}")
    model.save(output)
    difference = check_predictions(model, output, paths[0], names, safe_mode=flag_values.safe_mode)
    print(f"{output}: {len(names)} variables; largest difference of predictions {difference:.2g}")


def _parse_name_map(pairs: Sequence[str]) -> dict[str, str]:
    bad_pairs = [pair for pair in pairs if pair.count("=") != 1]
    if bad_pairs:
        raise UsageError(
            f"--name_map={','.join(pairs)}: '{bad_pairs[0]}' must have the form NAME=NAME."
        )
    return dict(pair.split("=") for pair in pairs)
