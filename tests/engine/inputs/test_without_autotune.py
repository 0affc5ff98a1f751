"""Inputs in which nothing can be tuned have no thread that tunes; all others keep it."""

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.engine.inputs.start import optimize_start


def data():
    return tf.data.Dataset.from_tensor_slices(np.arange(24, dtype=np.float32))


def generated():
    signature = tf.TensorSpec([], tf.float32)
    return tf.data.Dataset.from_generator(lambda: iter(range(24)), output_signature=signature)


def with_options():
    options = tf.data.Options()
    options.autotune.enabled = True
    return data().batch(3).with_options(options)


PLAIN = {
    "batched": lambda: data().batch(3),
    "shuffled": lambda: data().shuffle(24, seed=1).repeat(2).batch(5).prefetch(2),
    "zipped": lambda: tf.data.Dataset.zip((data(), data().skip(1))).take(7).batch(2),
    "generated": lambda: generated().batch(3),
}
TUNED = {
    "prefetched": lambda: data().batch(3).prefetch(tf.data.AUTOTUNE),
    "parallel": lambda: data().map(lambda x: x + 1, num_parallel_calls=tf.data.AUTOTUNE),
    "mapped": lambda: data().map(lambda x: x + 1),  # tf.data makes it parallel.
    "interleaved": lambda: data().interleave(tf.data.Dataset.from_tensors),
    "within": lambda: data().flat_map(
        lambda x: tf.data.Dataset.from_tensors(x).prefetch(tf.data.AUTOTUNE)
    ),
    "asked for": with_options,
}


def read(make, change):
    """Returns all elements, and whether the start was changed."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        iterator = tf.compat.v1.data.make_initializable_iterator(make())
        element = iterator.get_next()
        start = optimize_start(iterator.initializer, iterator) if change else None
        found = []
        session.run(start or iterator.initializer)
        while True:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return found, start not in (None, iterator.initializer)


@pytest.mark.parametrize("name", [*PLAIN, *TUNED])
def test_only_plain_inputs_are_changed_and_their_elements_never(name):
    found, is_changed = read({**PLAIN, **TUNED}[name], change=True)
    assert is_changed == (name in PLAIN)
    expected, _ = read({**PLAIN, **TUNED}[name], change=False)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        tf.nest.map_structure(np.testing.assert_array_equal, one, other)


def starts_run(monkeypatch):
    """Returns the operations that start iterators, in the order in which sessions run them."""
    found = []
    run = tf.compat.v1.Session.run

    def noted(session, fetches, *arguments, **named):
        if getattr(fetches, "type", None) == "MakeIterator":
            found.append(fetches)
        return run(session, fetches, *arguments, **named)

    monkeypatch.setattr(tf.compat.v1.Session, "run", noted)
    return found


def is_tuned(start):
    """Returns whether the options of the dataset that an operation starts leave it to be tuned."""
    source = start.inputs[0].op
    if source.type != "OptionsDataset":
        return True
    options = tf.data.Options()
    options.autotune.enabled = False
    with tf.Graph().as_default() as graph:
        tf.data.experimental.to_variant(tf.data.Dataset.range(1).with_options(options))
        (off,) = (op for op in graph.get_operations() if op.type == "OptionsDataset")
        return source.get_attr("serialized_options") != off.get_attr("serialized_options")


def test_training_and_open_models_run_without_autotune(model_fn, tmp_path, monkeypatch):
    def rows(*labels):
        x = np.ones([64, 3], np.float32)
        parts = ({"x": x}, *labels) if labels else {"x": x}
        return tf.data.Dataset.from_tensor_slices(parts).batch(2)

    def training():
        return rows(np.ones([64, 1], np.float32))

    def predicting(tuned):
        return rows().prefetch(tf.data.AUTOTUNE) if tuned else rows()

    found = starts_run(monkeypatch)
    estimator = est.Estimator(model_fn, tmp_path).train(training, steps=1)
    estimator.evaluate(training)
    estimator.evaluate(training)
    for tuned in (False, True, False):
        assert len(list(estimator.predict(lambda: predicting(tuned)))) == 64  # noqa: B023
    kept = [is_tuned(start) for start in found if not start.name.startswith("no_input")]
    assert kept == [False, False, False, False, True, False]


def test_a_generator_is_not_read_ahead(model_fn, tmp_path):
    taken = []

    def elements():
        for number in range(10):
            taken.append(number)
            yield {"x": np.ones([2, 3], np.float32)}, np.ones([2, 1], np.float32)

    def input_fn():
        signature = (
            {"x": tf.TensorSpec([2, 3], tf.float32)},
            tf.TensorSpec([2, 1], tf.float32),
        )
        return tf.data.Dataset.from_generator(elements, output_signature=signature)

    est.Estimator(model_fn, tmp_path).train(input_fn, steps=3)
    assert taken == [0, 1, 2]
