"""The commands that write a model for other programs: `export`, `to-keras`, `convert-trees`."""

from collections.abc import Callable, Mapping, Sequence

from absl import flags as absl_flags

from estimator_train.cli import results
from estimator_train.cli.errors import UsageError
from estimator_train.cli.job import user_code
from estimator_train.cli.job.user_code import Group

_EXPORT = """
Writes the model in MODEL_DIR (or --model_dir) in the format of --to. A SavedModel goes into a new
directory in --export_dir; the command prints its path. The served model takes the features of the
input_fn, in batches of any size. Other formats go to --output. `onnx`, `tflite` and `openvino` are
computed by the format's own runtime for rows of the input_fn, and the command fails if the answers
differ from those of TensorFlow by more than --tolerance; `tfjs` is not computed. `safetensors` and
`npz` hold the variables by name, and need no --model. `keras` writes the Keras model that --model
returns, with the weights of the checkpoint, as `to-keras` does. Use the --preset, or the --model
and --input_fn, of the training.
"""
_VARIABLES = ("safetensors", "npz")
_MODELS = ("onnx", "openvino", "tflite", "tfjs")
_FORMATS = ("saved_model", "keras", *_MODELS, *_VARIABLES)
_TO_KERAS = """
Loads the weights of the latest checkpoint in MODEL_DIR (or of a checkpoint, such as
DIR/model.ckpt-1000) into the Keras model that --model builds, and writes the model to --output:
a .keras or .h5 file, or otherwise the directory of a SavedModel. The command matches variables by
name and shape; use --name_map if that is not enough. Then it loads the written model, predicts one
batch with this model and with the checkpoint, and fails if the predictions differ.
"""
_CONVERT_TREES = """
Reads the SavedModel of boosted trees that tf.estimator exported to OLD_DIR, whose kernels
TensorFlow has removed, and writes to NEW_DIR a SavedModel with the same signatures and answers that
TensorFlow can run. Checkpoints need no conversion by hand: an Estimator converts those of its
model_dir.
"""


def _define_export(flag_values: absl_flags.FlagValues) -> None:
    define = Group(flag_values)
    define.string("to", "saved_model", f"The format: {', '.join(_FORMATS)}.")
    define.string(
        "output",
        None,
        "New path for formats other than saved_model: a directory with the model, encoder.json and "
        "encoder.py, a file of variables, or a .keras file.",
    )
    define.string(
        "signature",
        None,
        "Key of the export_outputs to convert. The default is predict, or the default signature.",
    )
    define.list("outputs", [], "Outputs to convert. The default is all that are not strings.")
    define.float(
        "tolerance",
        1e-5,
        "Largest difference of a converted output: absolute up to 1, relative for larger values.",
        lower_bound=0.0,
    )
    define.string(
        "converter_python",
        None,
        "Python of an environment that has the converter, such as tensorflowjs for --to=tfjs.",
    )


class Export:
    """`estimator-train export`: writes a checkpoint as a SavedModel or for other runtimes."""

    DESCRIPTION = _EXPORT
    FLAGS = (*user_code.JOB_FLAGS, user_code.define_checkpoint_path, _define_export)

    @staticmethod
    def run(flag_values: absl_flags.FlagValues, directories: Sequence[str]) -> None:
        """Exports the model of the flags.

        Args:
          flag_values: The parsed flags.
          directories: The model_dir, or nothing if --model_dir gives it.

        Raises:
          UsageError: A flag is missing or wrong, or there is no checkpoint.
        """
        with results.record_run(flag_values):
            _run(flag_values, directories)


def _run(flag_values: absl_flags.FlagValues, directories: Sequence[str]) -> None:
    if len(directories) > 1:
        raise UsageError(f"one MODEL_DIR is expected, got {len(directories)}: {directories[1]}.")
    if directories:
        flag_values.model_dir = directories[0]
    if flag_values.to not in _FORMATS:
        raise UsageError(f"--to={flag_values.to}: choose one of {', '.join(_FORMATS)}.")
    if flag_values.to == "saved_model":
        print(_export_saved_model(flag_values))
        return
    output = flag_values.output
    if not output:
        raise UsageError(f"--output=PATH is needed for --to={flag_values.to}.")
    from estimator_train import remote

    if remote.output_exists(output):
        raise UsageError(f"--output={output} already exists. Remove it, or choose another path.")
    writers = {"keras": _write_keras, **dict.fromkeys(_VARIABLES, _write_variables)}
    writers.get(flag_values.to, _convert)(flag_values)


def _export_saved_model(flag_values: absl_flags.FlagValues) -> str | None:
    from estimator_train.cli.job.job import Job

    if not flag_values.export_dir:
        raise UsageError("--export_dir=DIR is needed, the directory for the SavedModel.")
    job = Job(flag_values)
    job.get_trained_estimator()
    return job.export(flag_values.checkpoint_path)


def _write_variables(flag_values: absl_flags.FlagValues) -> None:
    import tensorflow as tf

    import estimator_train as est
    from estimator_train.cli.job.job import find_checkpoint

    output = flag_values.output
    left_out = est.export.write_variables(find_checkpoint(flag_values), output, flag_values.to)
    print(f"{output}: {tf.io.gfile.stat(output).length} bytes")
    if left_out:
        print(f"left out, because they are strings: {', '.join(left_out)}")


def _write_keras(flag_values: absl_flags.FlagValues) -> None:
    if not flag_values.model:
        raise UsageError("--model=module:function is needed, which returns the Keras model.")
    from estimator_train.cli.job.job import find_checkpoint

    write_keras_model(flag_values.model, find_checkpoint(flag_values), flag_values.output, {})


def _convert(flag_values: absl_flags.FlagValues) -> None:
    import estimator_train as est
    from estimator_train.cli.job.job import Job, find_checkpoint

    checkpoint_path = find_checkpoint(flag_values)
    job = Job(flag_values)
    conversion = est.export.convert(
        job.estimator,
        flag_values.output,
        job.make_input_fn(est.ModeKeys.PREDICT),
        to=flag_values.to,
        signature=flag_values.signature,
        outputs=flag_values.outputs or None,
        checkpoint_path=checkpoint_path,
        tolerance=flag_values.tolerance,
        converter_python=flag_values.converter_python,
    )
    if not conversion.rows:
        print(f"{conversion.path}: not compared with TensorFlow")
        return
    name, largest = max(conversion.differences.items(), key=lambda pair: pair[1])
    print(f"{conversion.path}: largest difference of {conversion.rows} rows {largest:.2g} ({name})")


def _define_to_keras(flag_values: absl_flags.FlagValues) -> None:
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


class ToKeras:
    """`estimator-train to-keras`: converts a trained model to a Keras model file."""

    DESCRIPTION = _TO_KERAS
    FLAGS = (_define_to_keras,)

    @staticmethod
    def run(flag_values: absl_flags.FlagValues, paths: Sequence[str]) -> None:
        """Converts the model of the flags.

        Args:
          flag_values: The parsed flags.
          paths: The model_dir or checkpoint.

        Raises:
          UsageError: A flag is missing or wrong, the output already exists, or the predictions of
            the written model differ from those of the checkpoint.
          ValueError: The variables of the checkpoint and the model do not match.
        """
        if len(paths) != 1:
            raise UsageError(
                "one MODEL_DIR is needed, a directory of a training or a checkpoint, got "
                f"{len(paths)}."
            )
        for name in ("model", "output"):
            if not flag_values[name].value:
                raise UsageError(f"--{name} is needed; to-keras --help describes it.")
        output = flag_values.output
        from estimator_train import remote

        if remote.output_exists(output):
            raise UsageError(
                f"--output={output} already exists. Remove it, or choose another path."
            )
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


class ConvertTrees:
    """`estimator-train convert-trees`: converts a SavedModel of boosted trees of tf.estimator."""

    DESCRIPTION = _CONVERT_TREES
    FLAGS: tuple[Callable[[absl_flags.FlagValues], None], ...] = ()

    @staticmethod
    def run(flag_values: absl_flags.FlagValues, directories: Sequence[str]) -> None:
        """Converts a SavedModel.

        Args:
          flag_values: The parsed flags, unused.
          directories: The directories of the old and the new SavedModel.

        Raises:
          UsageError: There are not two directories, the first has no boosted trees, or the second
            exists.
        """
        if len(directories) != 2:
            raise UsageError(
                f"two directories are needed, OLD_DIR and NEW_DIR, got {len(directories)}."
            )
        import estimator_train as est

        try:
            est.export.convert_boosted_trees(*directories)
        except ValueError as error:
            raise UsageError(str(error)) from error
        print(f"{directories[1]}: converted from {directories[0]}")
