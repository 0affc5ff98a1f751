"""`estimator-train to-keras`: a trained model as a Keras model in a file."""

import os
from collections.abc import Sequence

from absl import flags as absl_flags

from estimator_train.cli.job.own_packages import Group
from estimator_train.cli.output.errors import UsageError

DESCRIPTION = """
Puts the weights of the latest checkpoint in MODEL_DIR (or of one checkpoint, such as
DIR/model.ckpt-1000) into the tf_keras model that --model builds, and writes it to --output: a
.keras or .h5 file, or else a SavedModel's directory. Variables are found by their names and shapes;
--name_map helps where that is not enough. Then it loads what it wrote, predicts one batch with it
and with the checkpoint in a graph of its own, and fails if they differ.
"""


def _define_flags(flag_values: absl_flags.FlagValues) -> None:
    define = Group(flag_values)
    define.string(
        "model",
        None,
        "package.module:function that returns the tf_keras model; it is called without arguments.",
    )
    define.string("output", None, "The path to write; nothing may be there.")
    define.list(
        "name_map",
        [],
        "Names of the model's variables and the checkpoint's: hidden/kernel=layer1/w,...",
    )
    define.boolean(
        "safe_mode",
        True,
        "Whether the check refuses to run Python code of Lambda layers from the file; "
        "--nosafe_mode trusts it.",
    )


FLAGS = (_define_flags,)


def run(flag_values: absl_flags.FlagValues, paths: Sequence[str]) -> None:
    """Writes the model as the flags say.

    Args:
      flag_values: The parsed flags.
      paths: The model_dir or checkpoint.

    Raises:
      UsageError: A flag is missing or wrong, the output is there already, or the model that was
        written predicts otherwise than the checkpoint.
      ValueError: The checkpoint does not fit the model.
    """
    if len(paths) != 1:
        raise UsageError("which MODEL_DIR? One directory that was trained in, or one checkpoint.")
    for name in ("model", "output"):
        if not flag_values[name].value:
            raise UsageError(f"--{name} is needed; see to-keras --help.")
    output = flag_values.output
    if os.path.exists(output):
        raise UsageError(f"--output={output} exists already. Remove it, or give another path.")
    name_map = _name_map(flag_values.name_map)
    from estimator_train.cli.inspect.keras_check import check_predictions
    from estimator_train.cli.job.user_code import check_arguments, load
    from estimator_train.keras import load_trained, propose_name_map

    function = load("model", flag_values.model)
    check_arguments("model", flag_values.model, function, ())
    model = function()
    load_trained(model, paths[0], name_map)
    names = propose_name_map(model, paths[0], name_map)
    for ours, theirs in names.items():
        if ours != theirs:  # Found under another name.
            print(f"{ours} <- {theirs}")
    model.save(output)
    difference = check_predictions(model, output, paths[0], names, safe_mode=flag_values.safe_mode)
    print(f"{output}: {len(names)} variables; largest difference of predictions {difference:.2g}")


def _name_map(pairs: Sequence[str]) -> dict[str, str]:
    wrong = [pair for pair in pairs if pair.count("=") != 1]
    if wrong:
        raise UsageError(f"--name_map={','.join(pairs)}: '{wrong[0]}' is not NAME=NAME.")
    return dict(pair.split("=") for pair in pairs)
