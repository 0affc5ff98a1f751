import logging
import time

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.engine.inputs.start import is_endless


def test_the_inference_time_begins_after_input_fn(model_fn, input_fn, one_epoch, tmp_path, caplog):
    estimator = est.Estimator(model_fn, tmp_path).train(input_fn, steps=1)
    built = []

    def slow_input_fn():
        time.sleep(0.05)
        built.append(time.time())
        return one_epoch()

    with caplog.at_level(logging.INFO):
        estimator.evaluate(slow_input_fn)
    (record,) = [r for r in caplog.records if r.getMessage().startswith("Inference Time")]
    seconds = float(record.getMessage().split(": ")[1].removesuffix("s"))
    assert 0 < seconds < record.created - built[0]


def test_each_evaluation_logs_its_start(model_fn, input_fn, one_epoch, tmp_path, caplog):
    estimator = est.Estimator(model_fn, tmp_path).train(input_fn, steps=1)
    with caplog.at_level(logging.INFO):
        for _ in range(3):  # The second and third use the open model.
            estimator.evaluate(one_epoch)
    beginnings = ("Starting evaluation at", "Finished evaluation at")
    lines = [line for line in caplog.messages if line.startswith(beginnings)]
    assert [line.split()[0] for line in lines] == ["Starting", "Finished"] * 3


ROWS = tf.data.Dataset.range


@pytest.mark.parametrize(
    ("arrange", "expected"),
    [
        (lambda rows: rows.repeat().batch(2), True),
        (lambda rows: rows.repeat(2).repeat(-1).map(tf.identity).prefetch(1), True),
        (lambda rows: tf.data.Dataset.zip((rows.repeat(), rows.repeat())).shuffle(3), True),
        (lambda rows: rows.repeat().interleave(lambda row: ROWS(row), 2), True),
        (lambda rows: rows.apply(tf.data.experimental.shuffle_and_repeat(3)), True),
        (lambda rows: rows.repeat(3).batch(2), False),
        (lambda rows: rows.repeat().batch(2).take(3), False),
        (lambda rows: rows.repeat().take_while(lambda row: row < 2), False),
        (lambda rows: tf.data.Dataset.zip((rows.repeat(), rows)), False),
        (lambda rows: rows.apply(tf.data.experimental.shuffle_and_repeat(3, 2)), False),
    ],
)
def test_datasets_that_repeat_for_ever_are_known(arrange, expected):
    with tf.Graph().as_default():
        dataset = tf.data.experimental.to_variant(arrange(ROWS(4)))
        assert is_endless(dataset.op) == expected


def test_an_evaluation_without_an_end_is_named(model_fn, input_fn, one_epoch, tmp_path, caplog):
    class StopAfterTwo(tf.compat.v1.train.SessionRunHook):
        def begin(self):
            self.batches = 0

        def after_run(self, run_context, run_values):
            self.batches += 1
            if self.batches == 2:
                run_context.request_stop()

    estimator = est.Estimator(model_fn, tmp_path).train(input_fn, steps=1)
    estimator.evaluate(one_epoch)
    estimator.evaluate(lambda: one_epoch().repeat(), steps=2)
    assert "does not end" not in caplog.text
    metrics = estimator.evaluate(lambda: one_epoch().repeat(), hooks=[StopAfterTwo()])
    assert metrics["global_step"] == 1
    assert "The evaluation does not end unless a hook stops it" in caplog.text


def test_a_fraction_of_a_step_is_a_batch(model_fn, input_fn, one_epoch, tmp_path):
    estimator = est.Estimator(model_fn, tmp_path).train(input_fn, steps=1)
    expected = estimator.evaluate(lambda: one_epoch().repeat(50), steps=3)
    assert estimator.evaluate(lambda: one_epoch().repeat(50), steps=2.5) == expected
    assert estimator.evaluate(lambda: one_epoch().repeat(50), steps=np.float32(2.5)) == expected
