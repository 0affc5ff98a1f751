"""The one-line message and the exit code of a failed command."""

import numpy as np
import pytest
import tensorflow as tf
from absl import flags as absl_flags

from estimator_train.cli import errors

tf1 = tf.compat.v1


def report(capsys, error, debug=False):
    code = errors.report_error(error, debug)
    return code, capsys.readouterr().err


def raised(make):
    """Returns the error that `make` raises, or that its tensor raises when it runs."""
    try:
        with tf.Graph().as_default(), tf1.Session() as session:
            session.run(make())
    except Exception as error:
        return error
    raise AssertionError("no error was raised")


def of_dataset(function):
    """Runs a dataset over the file `picture.jpg` through `function`."""
    dataset = tf.data.Dataset.from_tensors("picture.jpg").map(function)
    return tf1.data.make_one_shot_iterator(dataset).get_next()


@tf.autograph.experimental.do_not_convert
def four(path):
    return tf.reshape(path, [4])


def divide(_):
    return np.float32(1 // 0)


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (
            lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([7], [[0.1, 0.9]]),
            "Received a label value of 7 which is outside the valid range of [0, 2).  Label "
            "values: 7",
        ),
        (
            lambda: of_dataset(tf.io.decode_jpeg),
            "Unknown image file format. One of JPEG",
        ),
        (
            lambda: of_dataset(tf.io.read_file),
            "picture.jpg; No such file or directory",
        ),
        (
            lambda: of_dataset(four),
            "Cannot reshape a tensor with 1 elements to shape [4] (4 elements) for 'Reshape' "
            "with input shapes: [], [1] and with input tensors computed as partial shapes: ",
        ),
        (
            lambda: tf.debugging.Assert(tf.constant(False), ["a.jpg is damaged"]),
            "a.jpg is damaged\n",
        ),
        (
            lambda: tf.matmul(tf.zeros([2, 3]), tf.zeros([4, 5])),
            "Dimensions must be equal, but are 3 and 4 for 'MatMul' with input shapes: [2,3], "
            "[4,5].",
        ),
    ],
)
def test_the_relevant_line_of_tensorflow_errors_is_shown(capsys, make, line):
    code, text = report(capsys, raised(make))
    assert code == 2
    assert text.startswith(f"estimator-train: error: {line}")
    assert text.count("\n") == 1
    assert "{{" not in text


def test_the_cause_of_a_failed_restore_is_shown(capsys, tmp_path):
    def variable(name):
        return tf1.get_variable(name, initializer=1.0)

    with tf.Graph().as_default(), tf1.Session() as session:
        session.run(variable("a").initializer)
        path = tf1.train.Saver().save(session, str(tmp_path / "ckpt"))

    def restore():
        variable("b")
        tf1.train.Saver().restore(tf1.get_default_session(), path)

    assert report(capsys, raised(restore)) == (
        2,
        "estimator-train: error: Restoring from checkpoint failed: Key b not found in checkpoint\n",
    )


def test_an_error_in_a_python_function_of_the_input_is_named(capsys):
    code, text = report(
        capsys, raised(lambda: of_dataset(lambda x: tf.numpy_function(divide, [x], tf.float32)))
    )
    assert code == 1
    assert "ZeroDivisionError: integer division or modulo by zero" in text
    assert text.endswith("(unexpected; --debug shows the traceback)\n")
    assert text.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (tf1.train.NanLossDuringTrainingError(), 2, "NaN loss during training."),
        (errors.UsageError("--x is wrong."), 2, "--x is wrong."),
        (absl_flags.UnrecognizedFlagError("x"), 2, "Unknown command line flag 'x'"),
        (ValueError("\n  first\nsecond"), 2, "first"),
        (TypeError("no"), 2, "no"),
        (ModuleNotFoundError("No module named 'x'"), 2, "No module named 'x'"),
        (FileNotFoundError(2, "No such file or directory", "a.gz"), 2, "a.gz: No such file or"),
        (
            tf.errors.ResourceExhaustedError(None, None, "m/graph.pbtxt; No space left on device"),
            2,
            "m/graph.pbtxt; No space left on device",
        ),
        (
            tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor"),
            1,
            "ResourceExhaustedError: OOM when allocating tensor (unexpected",
        ),
        (KeyError("features"), 1, "KeyError: 'features' (unexpected; --debug shows the traceback)"),
        (AssertionError(), 1, "AssertionError (unexpected; --debug shows the traceback)"),
    ],
)
def test_exit_codes_distinguish_bad_input_from_unexpected_errors(capsys, error, code, line):
    found, text = report(capsys, error)
    assert found == code
    assert text.startswith(f"estimator-train: error: {line}")
    assert text.count("\n") == 1


def test_a_very_long_line_is_cut(capsys):
    _, text = report(capsys, ValueError("x" * 10_000))
    assert text.endswith("xxx...\n")
    assert len(text) < 700


def test_debug_shows_the_traceback_too(capsys):
    code, text = report(capsys, raised(lambda: {}["missing"]), debug=True)
    assert code == 1
    assert text.startswith("Traceback (most recent call last):")
    assert text.endswith("estimator-train: error: KeyError: 'missing'\n")


def test_a_keyboard_interrupt_exits_with_code_130(capsys):
    assert report(capsys, KeyboardInterrupt()) == (130, "estimator-train: interrupted\n")


def test_a_store_that_does_not_answer_is_retried_by_schedulers_and_one_that_refuses_is_not(capsys):
    text = "s3://bucket/run/data: OSError: [Errno 16] slow down"
    replaced = f"{text}\nExecuting <read> originally returned UnavailableError, and was replaced"
    cases = (
        (tf.errors.UnavailableError(None, None, text), 143),
        (tf.errors.InternalError(None, None, replaced), 143),
        (tf.errors.InternalError(None, None, text), 1),
        (tf.errors.UnavailableError(None, None, "a parameter server is away"), 1),
        (tf.errors.UnauthenticatedError(None, None, text), 2),
        (tf.errors.PermissionDeniedError(None, None, text), 2),
    )
    assert [report(capsys, error)[0] for error, _ in cases] == [code for _, code in cases]
