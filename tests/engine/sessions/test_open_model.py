"""evaluate and predict keep their model open, and return the values of a new model.

These tests cover `sessions/model_call.py`.
"""

import gc
import subprocess
import sys
import time
import weakref

import numpy as np
import pytest
import tensorflow as tf
from processes import run_process

import estimator_train as est
from estimator_train.engine.sessions import open_model


class Counted:
    """A model_fn that counts its calls by mode."""

    def __init__(self, model_fn):
        self.model_fn = model_fn
        self.calls = []

    def __call__(self, features, labels, mode):
        self.calls.append(mode)
        return self.model_fn(features, labels, mode)


@pytest.fixture
def counted(model_fn):
    return Counted(model_fn)


@pytest.fixture
def estimator(counted, input_fn, tmp_path):
    estimator = est.Estimator(counted, tmp_path).train(input_fn, steps=5)
    counted.calls.clear()
    return estimator


def rows(values, batch=2):
    return lambda: tf.data.Dataset.from_tensor_slices({"x": np.float32(values)}).batch(batch)


def test_predict_with_new_lambdas_builds_the_model_once(estimator, counted):
    w = estimator.get_variable_value("w")
    for scale in range(5):
        values = np.float32([[1, 2, 3], [4, 5, 6], [7, 8, 9]]) * scale
        found = [p["p"] for p in estimator.predict(rows(values))]
        np.testing.assert_allclose(found, values @ w, rtol=1e-5)
    assert counted.calls == ["infer"]


def test_a_newer_checkpoint_is_loaded_into_the_open_model(estimator, counted, input_fn, one_epoch):
    first = estimator.evaluate(one_epoch)
    estimator.train(input_fn, steps=5)
    second = estimator.evaluate(one_epoch)
    assert counted.calls == ["eval", "train"]
    assert (first["global_step"], second["global_step"]) == (5, 10)
    fresh = est.Estimator(counted, estimator.model_dir).evaluate(one_epoch)
    assert second == fresh


def test_metrics_are_reset_before_each_evaluation(estimator, one_epoch):
    results = [estimator.evaluate(one_epoch) for _ in range(3)]
    assert results[0] == results[1] == results[2]
    few = estimator.evaluate(one_epoch, steps=2)
    assert few["loss"] != results[0]["loss"]
    assert estimator.evaluate(one_epoch) == results[0]


@pytest.mark.long
def test_an_older_checkpoint_given_by_path_is_loaded(estimator, counted, one_epoch, input_fn):
    old = estimator.latest_checkpoint()
    before = estimator.evaluate(one_epoch)
    estimator.train(input_fn, steps=5)
    estimator.evaluate(one_epoch)
    assert estimator.evaluate(one_epoch, checkpoint_path=old) == before
    assert counted.calls == ["eval", "train"]


def test_an_input_of_another_shape_builds_another_model(estimator, counted):
    one = lambda: tf.data.Dataset.from_tensors({"x": np.ones([1, 3], np.float32)})  # noqa: E731
    two = lambda: tf.data.Dataset.from_tensors({"x": np.ones([2, 3], np.float32)})  # noqa: E731
    assert len(list(estimator.predict(one))) == 1
    assert len(list(estimator.predict(two))) == 2
    assert counted.calls == ["infer", "infer"]


@pytest.mark.long
def test_two_generators_at_once_do_not_share_an_input(estimator):
    w = estimator.get_variable_value("w")
    first = estimator.predict(rows(np.eye(3)))
    next(first)
    second = estimator.predict(rows(-np.eye(3)))
    np.testing.assert_allclose([p["p"] for p in second], -w, rtol=1e-5)
    np.testing.assert_allclose([p["p"] for p in first], w[1:], rtol=1e-5)


def test_a_generator_closed_early_leaves_the_model_for_the_next(estimator, counted):
    for _ in range(3):
        generator = estimator.predict(rows(np.eye(3)))
        next(generator)
        generator.close()
    assert len(list(estimator.predict(rows(np.eye(3))))) == 3
    assert counted.calls == ["infer"]


def test_a_call_with_hooks_has_its_own_session(estimator, counted, one_epoch):
    class Note(est.SessionRunHook):
        begun = 0

        def begin(self):
            tf.constant(1)  # Only a graph that is not finalized takes it.
            self.begun += 1

    hook = Note()
    plain = estimator.evaluate(one_epoch)
    assert estimator.evaluate(one_epoch, hooks=[hook]) == plain
    assert estimator.evaluate(one_epoch, hooks=[hook]) == plain
    assert hook.begun == 2
    assert counted.calls == ["eval"] * 3


@pytest.mark.long
def test_tables_of_each_new_input_are_initialized(estimator, counted):
    def by_name(scale):
        def input_fn():
            keys = tf.lookup.KeyValueTensorInitializer(["a", "b"], np.float32([1, 2]) * scale)
            table = tf.lookup.StaticHashTable(keys, 0.0)
            names = tf.data.Dataset.from_tensor_slices(["a", "b"])
            return names.map(lambda n: {"x": table.lookup(n) * tf.ones([3])}).batch(2)

        return input_fn

    w = estimator.get_variable_value("w").sum()
    for scale in (1, 10):
        found = [float(p["p"][0]) for p in estimator.predict(by_name(scale))]
        np.testing.assert_allclose(found, np.float32([1, 2]) * scale * w, rtol=1e-4)
    assert counted.calls == ["infer"]


def generated(values):
    """Returns rows that come from Python, so that no other graph can hold their dataset."""

    def input_fn():
        signature = {"x": tf.TensorSpec([None, 3], tf.float32)}
        return tf.data.Dataset.from_generator(
            lambda: ({"x": np.float32(values[i : i + 2])} for i in range(0, len(values), 2)),
            output_signature=signature,
        )

    return input_fn


@pytest.mark.long
def test_inputs_that_call_python_alternate_with_others(estimator, counted):
    w = estimator.get_variable_value("w")
    for scale in (1, 2, 3):
        values = np.eye(3) * scale
        for input_fn in (generated(values), rows(values)):
            np.testing.assert_allclose([p["p"] for p in estimator.predict(input_fn)], values @ w)
    assert counted.calls == ["infer"]


def test_an_input_is_freed_when_its_call_ends(estimator):
    # Freed by a thread, it would read the environment while the program may change it: a crash.
    ended = []

    def endless():
        try:
            while True:
                yield {"x": np.ones([2, 3], np.float32)}
        finally:
            ended.append(True)

    def input_fn():
        signature = {"x": tf.TensorSpec([None, 3], tf.float32)}
        return tf.data.Dataset.from_generator(endless, output_signature=signature)

    for count in (1, 2):
        predictions = estimator.predict(input_fn)
        next(predictions)
        predictions.close()
        assert len(ended) == count


def _graph_size(estimator):
    (model,) = estimator._open_models._models
    return len(model.built.graph.get_operations())


def test_inputs_that_differ_in_their_values_do_not_grow_the_graph(estimator, counted):
    sizes = set()
    for scale in range(4):
        list(estimator.predict(rows(np.eye(3) * scale)))
        sizes.add(_graph_size(estimator))
    assert len(sizes) == 1


def _predict_zeros(estimator):
    """Predicts zeros; returns a weak reference to their array."""
    values = np.zeros([20_000, 3], np.float32)
    values.flags.writeable = False  # Then the input takes the array without a copy.
    data = tf.data.Dataset.from_tensor_slices
    assert len(list(estimator.predict(lambda: data({"x": values}).batch(1000)))) == 20_000
    return weakref.ref(values)


def test_an_open_model_does_not_keep_the_arrays_of_a_call_that_has_ended(estimator):
    for _ in range(2):
        array = _predict_zeros(estimator)
        end = time.monotonic() + 60
        while array() is not None and time.monotonic() < end:
            gc.collect()  # Threads of tf.data may still be ending.
        assert array() is None


# Many rows make whole batches, whose operations may depend on the number of rows.
@pytest.mark.parametrize("count", [3, 20_000])
def test_inputs_of_other_numbers_of_rows_share_one_dataset(estimator, counted, count):
    w = estimator.get_variable_value("w")
    sizes = []
    for number, more in enumerate([0, 0, 1, 5, 0]):
        values = np.arange(3.0 * (count + more)).reshape(-1, 3) % 7 + number
        found = [p["p"] for p in estimator.predict(rows(values, batch=16))]
        np.testing.assert_allclose(found, np.float32(values) @ w, rtol=1e-5)
        sizes.append(_graph_size(estimator))
    assert counted.calls == ["infer"]
    assert sizes[0] == sizes[1] < sizes[2] == sizes[3] == sizes[4]


@pytest.mark.long
def test_the_graph_is_rebuilt_before_it_grows_without_limit(estimator, counted, monkeypatch):
    monkeypatch.setattr(open_model, "_MAX_IMPORTED", 3)
    for _ in range(5):
        next(estimator.predict(generated(np.eye(3))))
    assert counted.calls == ["infer", "infer"]


def test_a_seeded_input_has_the_same_order_at_every_call(counted, input_fn, tmp_path):
    def shuffled():
        values = np.arange(30, dtype=np.float32).reshape(10, 3)
        return tf.data.Dataset.from_tensor_slices({"x": values}).shuffle(10).batch(10)

    config = est.RunConfig(tf_random_seed=5)
    estimator = est.Estimator(counted, tmp_path, config).train(input_fn, steps=1)
    first, second, third = ([float(p["p"][0]) for p in estimator.predict(shuffled)] for _ in "123")
    assert first == second == third
    assert counted.calls == ["train", "infer"]


def test_an_error_in_the_input_closes_the_model_and_the_next_call_works(estimator):
    def broken():
        data = tf.data.Dataset.from_tensor_slices({"x": np.eye(3, dtype=np.float32)}).batch(2)
        return data.map(lambda f: {"x": tf.debugging.check_numerics(f["x"] / 0.0, "bad row")})

    assert len(list(estimator.predict(rows(np.eye(3))))) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad row"):
        list(estimator.predict(broken))
    assert len(list(estimator.predict(rows(np.eye(3))))) == 3


@pytest.mark.long
def test_close_releases_open_models_and_later_calls_work(estimator, counted, one_epoch):
    first = estimator.evaluate(one_epoch)
    estimator.close()
    assert estimator.evaluate(one_epoch) == first
    assert counted.calls == ["eval", "eval"]


def test_many_small_batches_have_correct_predictions(input_fn, tmp_path):
    def model_fn(features, labels, mode):
        x = features["x"]
        step = tf.compat.v1.train.get_or_create_global_step()
        predictions = {"sum": tf.reduce_sum(x, 1), "name": tf.strings.as_string(x), "all": x}
        return est.EstimatorSpec(
            mode, predictions, tf.reduce_sum(x), tf.compat.v1.assign_add(step, 1)
        )

    estimator = est.Estimator(model_fn, tmp_path).train(input_fn, steps=1)
    values = np.arange(1200, dtype=np.float32).reshape(400, 3)
    found = list(estimator.predict(rows(values)))
    assert {tuple(example) for example in found} == {("sum", "name", "all")}
    np.testing.assert_array_equal([example["all"] for example in found], values)
    np.testing.assert_array_equal([example["sum"] for example in found], values.sum(1))
    assert [example["name"][2] for example in found] == [b"%f" % row[2] for row in values]


UNFINISHED = """
import estimator_train as est, tensorflow as tf
def model_fn(features, labels, mode):
    loss = train_op = None
    if mode == "train":
        loss = tf.constant(0.0)
        train_op = tf.compat.v1.assign_add(tf.compat.v1.train.get_global_step(), 1)
    return est.EstimatorSpec(mode, predictions=features, loss=loss, train_op=train_op)
def input_fn():
    return tf.data.Dataset.range(100).batch(2)
estimator = est.Estimator(model_fn)
estimator.train(input_fn, steps=1)
predictions = estimator.predict(input_fn)
print(next(predictions), next(predictions), next(predictions))
"""


@pytest.mark.long
def test_a_program_with_unread_predictions_ends(tmp_path):
    # Python closes the generator when it exits, and a thread no longer starts then.
    script = tmp_path / "unfinished.py"
    script.write_text(UNFINISHED)
    done = run_process([sys.executable, script], timeout=300)
    assert done.stdout == "0 1 2\n"


BUSY = """
import sys
import numpy as np
import estimator_train as est
import tensorflow as tf

def model_fn(features, labels, mode):
    return est.EstimatorSpec(mode, predictions={"p": features})

def generate():
    while True:
        yield np.ones(3, np.float32)

def double(rows):
    return tf.numpy_function(lambda array: array * 2, [rows], tf.float32)

def input_fn():
    rows = tf.data.Dataset.from_generator(generate, tf.float32, [3])
    rows = rows.map(double, num_parallel_calls=2).map(lambda row: tf.reshape(row, [3]))
    return rows.batch(4).prefetch(4)

predictions = est.Estimator(model_fn, sys.argv[1]).predict(input_fn)
for _, prediction in zip(range(5), predictions):
    pass
print(prediction["p"].tolist())
"""


@pytest.mark.long
def test_a_program_with_unread_predictions_from_a_generator_ends(tmp_path):
    """Without the end of the session at exit, one process in three waits for ever."""
    script = tmp_path / "busy.py"
    script.write_text(BUSY)
    processes = [
        subprocess.Popen(
            [sys.executable, script, tmp_path / str(number)], stdout=subprocess.PIPE, text=True
        )
        for number in range(4)
    ]
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    assert outputs == ["[2.0, 2.0, 2.0]\n"] * 4


WAITING = """
import queue, sys
import estimator_train as est
import tensorflow as tf

def model_fn(features, labels, mode):
    return est.EstimatorSpec(mode, predictions=features)

def input_fn():
    rows = queue.Queue()
    rows.put(5.0)
    generate = lambda: iter(rows.get, None)
    return tf.data.Dataset.from_generator(generate, tf.float32, []).batch(1).prefetch(1)

with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    tf.compat.v1.train.create_global_step()
    session.run(tf.compat.v1.global_variables_initializer())
    tf.compat.v1.train.Saver().save(session, sys.argv[1] + "/model.ckpt")
estimator = est.Estimator(model_fn, sys.argv[1])
hooks = [], [tf.compat.v1.train.SessionRunHook()]
kept = [estimator.predict(input_fn, hooks=one) for one in hooks]
print(*map(next, kept))
"""


@pytest.mark.long
def test_a_program_ends_whose_unread_predictions_wait_for_rows(tmp_path):
    """The thread that reads ahead waits for a row of the queue, which never comes."""
    script = tmp_path / "waiting.py"
    script.write_text(WAITING)
    done = run_process([sys.executable, script, tmp_path], timeout=300)
    assert done.stdout == "5.0 5.0\n"
    assert "Exception ignored" not in done.stderr


BUSY_MACHINE = """
import sys
import numpy as np
import estimator_train as est
import tensorflow as tf
from estimator_train.engine.sessions import open_model

def model_fn(features, labels, mode):
    return est.EstimatorSpec(mode, predictions=features)

def input_fn():
    rows = tf.data.Dataset.from_tensor_slices(np.ones([8, 4], np.float32)).repeat()
    return rows.map(lambda row: row + 1.0).batch(2)

open_model._MAX_EXIT_SECS = 0.0  # As if each session ended later than that.
kept = [est.Estimator(model_fn, f"{sys.argv[1]}/{number}").predict(input_fn) for number in range(4)]
print(*(next(predictions)[0] for predictions in kept))
"""


@pytest.mark.long
def test_a_program_with_unread_predictions_ends_on_a_busy_machine(tmp_path):
    """Without the wait for the session, its thread aborts the process."""
    script = tmp_path / "busy_machine.py"
    script.write_text(BUSY_MACHINE)
    done = run_process([sys.executable, script, tmp_path], timeout=300)
    assert done.stdout == "2.0 2.0 2.0 2.0\n"


@pytest.mark.parametrize("hooks", [[], [tf.compat.v1.train.SessionRunHook()]])
def test_predictions_in_a_cycle_are_collected_without_an_error(estimator, monkeypatch, hooks):
    # Python calls the finalizer of the model before it closes the generator.
    gc.collect()  # What earlier tests have left is not of this test.
    errors = []
    monkeypatch.setattr(sys, "unraisablehook", errors.append)
    cycle = [estimator.predict(rows([[1, 2, 3]] * 4), hooks=hooks)]
    next(cycle[0])
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert errors == []
    assert len(list(estimator.predict(rows([[1, 2, 3]])))) == 1
