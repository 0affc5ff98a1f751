"""Questions about log lines, and about errors of operations: what a user reads while a job runs."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Callable, Iterator
from typing import Any

import cases_tpu
import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
X = np.linspace(-1, 1, 16, dtype=np.float32).reshape(8, 2)
# Parts of lines that differ between runs, and lines of one package or of races.
_CHANGING = (
    (r"\d{4}-\d\d-\d\d[T-][\d:]+", "TIME"),
    (r"[\d.]+ sec|[\d.]+s$", "SECS"),
    (r"/\S*/", ""),
    (r"(\.\d{3})\d+", r"\1"),
)
_NOT_ASKED = (
    *("deprecated", "Using config", "global_step/sec"),
    *("has not been increased", "session call", "The input ended"),
    # A TPUEstimator without a TPU reports its default, and ends the loop of predictions twice.
    *("eval_on_tpu", "prediction_loop", "examples/sec"),
)
# The last frame of the program: before the name of the node, if the message has that.
_FRAME = re.compile(
    r'File "[^"]*ask_logs.py", line \d+, in (model_fn)(?:\n    (?! *File).*)?(?:\nNode: |\Z)'
)


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = record.getMessage()
        if any(part in line for part in _NOT_ASKED):
            return
        for pattern, text in _CHANGING:
            line = re.sub(pattern, text, line)
        self.lines.append(f"{record.levelname}: {line}")


@contextlib.contextmanager
def _log_lines() -> Iterator[list[str]]:
    logger, handler = tf.get_logger(), _Lines()
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield handler.lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def data(last: float = 1.0) -> Callable[[], tf.data.Dataset]:
    """Returns an input_fn of eight batches; `last` is the logarithm's argument in the last one."""
    positive = np.ones(8, np.float32)
    positive[-1] = last
    features = {"x": X, "positive": positive, "id": np.array(list("abcdefgh"))}
    labels = (X[:, :1] > 0).astype(np.float32)
    return lambda: tf.data.Dataset.from_tensor_slices((features, labels)).batch(1)


def model_fn_of(api: Any, metric_reads_input: bool = False) -> Callable[..., Any]:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weights = v1.get_variable("weights", [2, 1], initializer=v1.ones_initializer())
        logits = tf.matmul(features["x"], weights)
        logits += tf.raw_ops.CheckNumerics(tensor=tf.math.log(features["positive"]), message="log")
        if mode == "infer":
            return api.EstimatorSpec(mode, predictions=logits)
        loss = tf.reduce_mean((labels - logits) ** 2)
        step = v1.train.get_global_step()
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        read = tf.identity(labels[0]) if metric_reads_input else tf.constant(1.0)
        metrics = {"read": (read, tf.no_op())}
        return api.EstimatorSpec(mode, None, loss, train_op, eval_metric_ops=metrics)

    return model_fn


def _make(api: Any, base: str, *arguments: Any) -> Any:
    config = api.RunConfig(tf_random_seed=1, save_checkpoints_steps=5)
    return api.Estimator(model_fn_of(api, *arguments), base, config)


def _job(api: Any, base: str) -> None:
    _make(api, base).train(data())
    _make(api, base).train(data(), max_steps=8)
    estimator = _make(api, base)
    estimator.train(data(), steps=2)
    estimator.evaluate(data(), steps=2, name="set")
    list(estimator.predict(data()))


def _evaluate_in_memory(api: Any, base: str) -> None:
    estimator = _make(api, base)
    evaluator = api.experimental.InMemoryEvaluatorHook(estimator, data(), every_n_iter=6)
    estimator.train(data(), hooks=[evaluator])


def _train_sdca(l2: float) -> Callable[[Any, str], None]:
    def train(api: Any, base: str) -> None:
        sdca = api.experimental.LinearSDCA("id", symmetric_l2_regularization=l2)
        columns = [tf.feature_column.numeric_column("x", 2)]
        api.LinearClassifier(columns, base, optimizer=sdca).train(data(), steps=1)

    return train


def _read_input_in_metric(api: Any, base: str) -> None:
    _make(api, base).train(data(), steps=1)
    _make(api, base, True).evaluate(data())


def _train_on_bad_batch(batches: int) -> Callable[[Any, str], None]:
    return lambda api, base: _make(api, base).train(lambda: data(-1.0)().skip(8 - batches))


def _evaluate_bad_batch(api: Any, base: str) -> None:
    _make(api, base).train(data(), steps=1)
    _make(api, base).evaluate(data(-1.0))


def _predict_bad_batch(api: Any, base: str) -> None:
    _make(api, base).train(data(), steps=1)
    list(_make(api, base).predict(data(-1.0)))


class _LookAround(v1.train.SessionRunHook):
    """Hook that logs what each of its methods finds, and unpacks the fetches."""

    def __init__(self, mode: str) -> None:
        self._mode = mode

    def begin(self) -> None:
        self._graph = v1.get_default_graph()

    def before_run(self, run_context: Any) -> Any:
        fetches = run_context.original_args.fetches
        self._log("before_run", str(isinstance(fetches, list)))
        if self._mode == "train":
            train_op, loss = fetches
            self._log("fetches", train_op.name, loss.name)
        steps = v1.get_collection(v1.GraphKeys.EVAL_STEP)
        return v1.train.SessionRunArgs([steps, v1.train.get_global_step()])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._log("after_run")

    def end(self, session: Any) -> None:
        steps = v1.get_collection(v1.GraphKeys.EVAL_STEP)
        self._log("end", *map(str, session.run(steps)))

    def _log(self, method: str, *found: str) -> None:
        is_default = v1.get_default_graph() is self._graph
        tf.get_logger().info("%s %s %s %s", self._mode, method, is_default, " ".join(found))


def _look_around(api: Any, base: str) -> None:
    estimator = _make(api, base)
    estimator.train(data(), steps=2, hooks=[_LookAround("train")])
    estimator.evaluate(data(), steps=2, hooks=[_LookAround("eval")])
    list(estimator.predict(lambda: data()().take(2), hooks=[_LookAround("infer")]))


def _use_tpu_estimator(api: Any, base: str) -> None:
    settings = {"log_step_count_steps": None}  # The original logs no losses, this package does.
    estimator = cases_tpu.make_estimator(base, use_tpu=False, params={"a": 1}, run_config=settings)
    estimator.train(cases_tpu.input_fn, max_steps=2)
    estimator.train(cases_tpu.input_fn, max_steps=2)
    estimator.evaluate(cases_tpu.input_fn, steps=1)
    list(estimator.predict(cases_tpu.input_fn))


JOBS: dict[str, Callable[[Any, str], None]] = {
    "train, continue, evaluate, predict": _job,
    "TPUEstimator without a TPU": _use_tpu_estimator,
    "hooks that look around": _look_around,
    "evaluate in memory": _evaluate_in_memory,
    "SDCA with little regularization": _train_sdca(1.0),
    "SDCA with more regularization": _train_sdca(2.0),
    "a metric that reads the input": _read_input_in_metric,
    "an error in the first step": _train_on_bad_batch(1),
    "an error in a later step": _train_on_bad_batch(8),
    "an error in evaluate": _evaluate_bad_batch,
    "an error in predict": _predict_bad_batch,
}


def ask(api: Any, name: str, base: str) -> dict[str, Any]:
    """Returns the log lines of a job and its error: the operation and the function that made it."""
    answer: dict[str, Any] = {}
    with _log_lines() as lines:
        try:
            JOBS[name](api, base)
        except tf.errors.OpError as error:
            answer["error"] = type(error).__name__
            answer["operation"] = error.op and error.op.name
            answer["made in"] = _FRAME.findall(error.message)
    return {"lines": lines, **answer}
