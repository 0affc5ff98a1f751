"""`estimator-train export`: writes a checkpoint as a SavedModel or for other runtimes."""

from collections.abc import Sequence

from absl import flags as absl_flags

from estimator_train.cli import results
from estimator_train.cli.errors import UsageError
from estimator_train.cli.job import user_code
from estimator_train.cli.job.user_code import Group

DESCRIPTION = """
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


def _define_flags(flag_values: absl_flags.FlagValues) -> None:
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


FLAGS = (*user_code.JOB_FLAGS, user_code.define_checkpoint_path, _define_flags)


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
    from estimator_train.cli.commands.to_keras import write_keras_model
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
