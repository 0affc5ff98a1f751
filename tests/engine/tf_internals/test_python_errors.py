"""Errors of the user's Python code within TensorFlow: one traceback that ends with that code."""

import traceback

import pytest
import tensorflow as tf

import estimator_train as est


def fails():
    for number in range(10):
        row = [0.0]
        yield [row[number // 5]]  # The sixth example has no value.


def generator_input():
    return tf.data.Dataset.from_generator(fails, tf.float32, [1])


def reads_no_column(value):
    raise KeyError("zip")


def mapped_input():
    numbers = tf.data.Dataset.from_tensors([1.0])
    return numbers.map(lambda x: tf.reshape(tf.py_function(reads_no_column, [x], tf.float32), [1]))


def yields_text():
    yield ["a"]


def text_input():
    return tf.data.Dataset.from_generator(yields_text, tf.float32, [1])


def model_fn(features, labels, mode):
    step = tf.compat.v1.train.get_global_step()
    loss = tf.reduce_sum(features)
    return est.EstimatorSpec(mode, features, loss, step.assign_add(1))


def run(verb, input_fn, model_dir):
    """Runs a verb of an Estimator to the end of the input, and returns its error."""
    call = getattr(est.Estimator(model_fn, model_dir), verb)
    with pytest.raises(tf.errors.OpError) as caught:
        list(call(input_fn))  # `predict` is a generator.
    return caught.value


@pytest.mark.parametrize("verb", ["train", "evaluate", "predict"])
@pytest.mark.parametrize(
    ("input_fn", "first", "line"),
    [
        (generator_input, "IndexError: list index out of range", "yield [row[number // 5]]"),
        (mapped_input, "KeyError: 'zip'", 'raise KeyError("zip")'),
    ],
)
def test_the_error_has_one_traceback_and_ends_with_the_users_line(
    tmp_path, verb, input_fn, first, line
):
    error = run(verb, input_fn, tmp_path)
    assert isinstance(error, tf.errors.UnknownError)
    lines = [text for text in str(error).splitlines() if set(text) - set(" ~^")]
    assert lines[0] == first
    assert __file__ in lines[-2]
    assert line in lines[-1]
    text = "".join(traceback.format_exception(error))
    assert text.count("Traceback (most recent call last)") == 1
    assert text.count(first) == 1


def raises_from_another(value):
    try:
        reads_no_column(value)
    except KeyError as error:
        raise ValueError("row 3 has no zip") from error


def test_only_the_lines_of_the_last_of_two_chained_errors_are_shown(tmp_path):
    def input_fn():
        numbers = tf.data.Dataset.from_tensors([1.0])
        call = tf.py_function
        return numbers.map(lambda x: tf.reshape(call(raises_from_another, [x], tf.float32), [1]))

    text = str(run("train", input_fn, tmp_path))
    assert text.startswith("ValueError: row 3 has no zip")
    assert text.count(__file__) == 1
    assert 'raise ValueError("row 3 has no zip") from error' in text


def test_an_error_of_tensorflow_itself_has_no_frames_of_a_library(tmp_path):
    error = run("train", text_input, tmp_path)
    assert isinstance(error, tf.errors.InvalidArgumentError)
    assert str(error).startswith("TypeError: `generator` yielded an element")
    assert "\n" not in str(error)


def test_an_error_without_python_code_keeps_its_message_and_comes_once(tmp_path):
    def input_fn():
        values = tf.data.Dataset.from_tensors([3])
        return values.map(lambda x: tf.cast(tf.reshape(x, x), tf.float32))

    error = run("train", input_fn, tmp_path)
    assert "Input to reshape is a tensor with 1 values" in str(error)
    text = "".join(traceback.format_exception(error))
    assert text.count("Traceback (most recent call last)") == 1
