import logging
import time

import numpy as np

import estimator_train as est


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


def test_a_fraction_of_a_step_is_a_batch(model_fn, input_fn, one_epoch, tmp_path):
    estimator = est.Estimator(model_fn, tmp_path).train(input_fn, steps=1)
    expected = estimator.evaluate(lambda: one_epoch().repeat(50), steps=3)
    assert estimator.evaluate(lambda: one_epoch().repeat(50), steps=2.5) == expected
    assert estimator.evaluate(lambda: one_epoch().repeat(50), steps=np.float32(2.5)) == expected
