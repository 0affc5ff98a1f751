"""`estimator-train to-keras`: converts a trained model to a Keras model file."""

from collections.abc import Mapping, Sequence

from absl import flags as absl_flags

from estimator_train.cli.job.user_code import Group
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
    from estimator_train import remote

    if remote.output_exists(output):
        raise UsageError(f"--output={output} already exists. Remove it, or choose another path.")
    name_map = _parse_name_map(flag_values.name_map)
    write_keras_model(
        flag_values.model, paths[0], output, name_map, safe_mode=flag_values.safe_mode
    )


def write_keras_model(
    model_name: str,
    checkpoint: str,
    output: str,
    name_map: Mapping[str, str],
    *,
    safe_mode: bool = True,
) -> None:
    """Writes a Keras model with the weights of a checkpoint, and prints the difference.

    Args:
      model_name: package.module:function that takes no arguments and returns the Keras model.
      checkpoint: A model_dir or a checkpoint.
      output: Path of the new file or directory.
      name_map: A variable's name in the model to its name in the checkpoint.
      safe_mode: Whether the check refuses to run Python code of Lambda layers.

    Raises:
      UsageError: The function returns no Keras model, or the predictions differ.
      ValueError: The variables of the checkpoint and the model do not match.
    """
    from estimator_train.cli.job.models import check_predictions
    from estimator_train.cli.job.user_code import list_required_arguments, load
    from estimator_train.keras import load_trained, propose_name_map

    function = load("model", model_name)
    required = list_required_arguments(function)
    if required:
        raise UsageError(
            f"--model={model_name} requires the arguments {', '.join(required)}, expected a "
            "function that takes no arguments and returns the Keras model. A model_fn returns "
            "none: only the weights of a Keras model go back to Keras. Use --to=saved_model."
        )
    model = function()
    if not (hasattr(model, "layers") and hasattr(model, "save")):
        raise UsageError(
            f"--model={model_name} returns {type(model).__name__}, expected a Keras model: only "
            "the weights of a Keras model go back to Keras. Use --to=saved_model."
        )
    load_trained(model, checkpoint, name_map)
    names = propose_name_map(model, checkpoint, name_map)
    for model_name, checkpoint_name in names.items():
        if model_name != checkpoint_name:
            print(f"{model_name} <- {checkpoint_name}")
    model.save(output)
    difference = check_predictions(model, output, checkpoint, names, safe_mode=safe_mode)
    print(f"{output}: {len(names)} variables; largest difference of predictions {difference:.2g}")


def _parse_name_map(pairs: Sequence[str]) -> dict[str, str]:
    bad_pairs = [pair for pair in pairs if pair.count("=") != 1]
    if bad_pairs:
        raise UsageError(
            f"--name_map={','.join(pairs)}: '{bad_pairs[0]}' must have the form NAME=NAME."
        )
    return dict(pair.split("=") for pair in pairs)
