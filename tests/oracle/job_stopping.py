"""When hooks stop a job early."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from cases_events import events
from job_cases import case_of, estimator, global_step, once, run
from jobs import Api, tiny_input, tiny_parts

tf1 = tf.compat.v1
stopping = case_of("stopping")
EVERY_STEP = {"run_every_secs": None, "run_every_steps": 1}


def _function_case(name: str, **arguments: Any) -> None:
    def stop_by_function(api: Api, model_dir: str) -> Any:
        calls: list[int] = []

        def should_stop() -> bool:
            calls.append(len(calls))
            return len(calls) >= 3

        job = estimator(api, model_dir)
        hook = api.estimator.experimental.make_early_stopping_hook(job, should_stop, **arguments)
        job.train(tiny_input, max_steps=20, hooks=[hook])
        names = [name for name, _ in tf.train.list_variables(model_dir)]
        return [len(calls), global_step(job), names]

    stop_by_function.__name__ = f"a_function_called_{name}"
    stopping(stop_by_function)


_function_case("every_step", **EVERY_STEP)
_function_case("every_third_step", run_every_secs=None, run_every_steps=3)
_function_case("every_0_seconds", run_every_secs=0)
_function_case("every_minute")


@stopping
def a_function_in_three_trainings(api: Api, model_dir: str) -> Any:
    calls: list[int] = []
    job = estimator(api, model_dir)
    hook = api.estimator.experimental.make_early_stopping_hook(
        job, lambda: calls.append(len(calls)), None, 3
    )
    counts = []
    for _ in range(3):
        job.train(tiny_input, steps=4, hooks=[hook])
        counts.append(len(calls))
    return counts


def _metric_case(name: str, kind: str, *args: Any, max_steps: int = 20, **arguments: Any) -> None:
    """Returns a metric of a train_and_evaluate that evaluates every second step."""

    def stop_by_metric(api: Api, model_dir: str) -> Any:
        job = estimator(api, model_dir, save_checkpoints_steps=2)
        make = getattr(api.estimator.experimental, kind)
        hook = make(job, *args, **{**EVERY_STEP, **arguments})
        return run(api, job, {"hooks": [hook], "max_steps": max_steps})

    stop_by_metric.__name__ = name
    stopping(stop_by_metric)


_metric_case("lower_than", "stop_if_lower_hook", "mae", 0.1)
_metric_case("lower_than_from_a_step_on", "stop_if_lower_hook", "mae", 0.1, min_steps=12)
_metric_case("higher_than", "stop_if_higher_hook", "loss", 0.01)
_metric_case("never_higher", "stop_if_higher_hook", "loss", 100.0, max_steps=4)
_metric_case("no_increase", "stop_if_no_increase_hook", "loss", 4)
_metric_case("no_increase_from_a_step_on", "stop_if_no_increase_hook", "loss", 4, min_steps=9)
_metric_case("no_increase_for_0_steps", "stop_if_no_increase_hook", "loss", 0)
_metric_case("always_a_decrease", "stop_if_no_decrease_hook", "loss", 4, max_steps=8)


@stopping
def the_evaluations_of_a_name(api: Api, model_dir: str) -> Any:
    job = estimator(api, model_dir, save_checkpoints_steps=2)
    hook = api.estimator.experimental.stop_if_lower_hook(
        job, "mae", 0.1, eval_dir=job.eval_dir("other"), **EVERY_STEP
    )
    return run(api, job, {"hooks": [hook], "max_steps": 20}, {"name": "other"})


def _written(model_dir: str, values: list[tuple[int, float]]) -> None:
    with tf.Graph().as_default():
        writer = tf1.summary.FileWriter(f"{model_dir}/eval")
        for step, value in values:
            summary = tf1.Summary(value=[tf1.Summary.Value(tag="m", simple_value=value)])
            writer.add_summary(summary, step)
        writer.close()


def _history_case(name: str, kind: str, limit: float, *values: tuple[int, float]) -> None:
    """Returns a metric `m` whose evaluations were written before training starts."""

    def stop_by_history(api: Api, model_dir: str) -> Any:
        _written(model_dir, list(values))
        job = estimator(api, model_dir)
        hook = getattr(api.estimator.experimental, kind)(job, "m", limit, **EVERY_STEP)
        job.train(tiny_input, max_steps=5, hooks=[hook])
        return global_step(job)

    stop_by_history.__name__ = f"history_{name}"
    stopping(stop_by_history)


_history_case("once_higher", "stop_if_higher_hook", 3.0, (1, 5.0), (2, 1.0))
_history_case("just_as_high", "stop_if_higher_hook", 5.0, (1, 5.0))
_history_case("just_as_low", "stop_if_lower_hook", 5.0, (1, 5.0))
_history_case("not_a_number", "stop_if_higher_hook", 3.0, (1, float("nan")))
_history_case("once_stalled", "stop_if_no_increase_hook", 9, (1, 5.0), (10, 4.0), (20, 6.0))
_history_case("out_of_order", "stop_if_no_increase_hook", 9, (10, 4.0), (1, 5.0))
_history_case("of_equal_values", "stop_if_no_decrease_hook", 9, (1, 5.0), (10, 5.0))
_history_case("of_nan_first", "stop_if_no_increase_hook", 9, (1, float("nan")), (10, 4.0))
_history_case("empty", "stop_if_no_increase_hook", 9)


@stopping
def at_a_checkpoint_step_alone(api: Api, model_dir: str) -> Any:
    job = estimator(api, model_dir)
    hook = api.estimator.experimental.make_stop_at_checkpoint_step_hook(job, 5)
    job.train(tiny_input, hooks=[hook])
    return [type(hook).__name__, global_step(job)]


def _memory_case(
    case: str, /, make_model_fn: Callable[[Api], Any] | None = None, **arguments: Any
) -> None:
    def evaluate_in_memory(api: Api, model_dir: str) -> Any:
        model_fn = make_model_fn(api) if make_model_fn else None
        job = estimator(api, model_dir, model_fn, save_checkpoints_steps=100)
        for _ in range(2):
            hook = api.estimator.experimental.InMemoryEvaluatorHook(job, once, **arguments)
            job.train(tiny_input, steps=5, hooks=[hook])
        written = {}
        for directory, rows in events(model_dir).items():
            written[directory] = [row for row in rows if directory != "."]
        return [written, _values(job)]

    evaluate_in_memory.__name__ = f"in_memory_{case}"
    stopping(evaluate_in_memory)


def _values(job: Any) -> list[Any]:
    """Returns the records of the evaluations: [step, tag, value]."""
    found = []
    for path in tf.io.gfile.glob(f"{job.model_dir}/eval*/*tfevents*"):
        for event in tf1.train.summary_iterator(path):
            found += [
                [event.step, value.tag, value.simple_value]
                for value in event.summary.value
                if value.HasField("simple_value")
            ]
    return sorted(found)


def _with_scaffold(api: Api, **parts: Any) -> Any:
    def model_fn(features, labels, mode):
        spec = tiny_parts(features, labels)
        made = {name: make() for name, make in parts.items()}
        return api.estimator.EstimatorSpec(mode, scaffold=tf1.train.Scaffold(**made), **spec)

    return model_fn


_memory_case("every_second_step", every_n_iter=2)
_memory_case("every_hundredth_step")
_memory_case("of_a_name", every_n_iter=100, name="other", steps=1)
_memory_case(
    "with_init_fn",
    lambda api: _with_scaffold(api, init_fn=lambda: lambda scaffold, session: None),
)
_memory_case("with_saver", lambda api: _with_scaffold(api, saver=tf1.train.Saver))
_memory_case(
    "with_both",
    lambda api: _with_scaffold(api, saver=tf1.train.Saver, init_fn=lambda: lambda *arguments: None),
)


def _with_table(api: Api, *modes: str, changing: bool = True) -> Any:
    """Returns a model_fn that has a table in some modes."""

    def model_fn(features, labels, mode):
        parts = tiny_parts(features, labels)
        if mode in modes:
            one = tf.constant([1], tf.int64)
            if changing:
                table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, -1.0)
                parts["train_op"] = tf.group(parts["train_op"], table.insert(one, [2.0]))
            else:
                values = tf.lookup.KeyValueTensorInitializer(one, [2.0])
                table = tf.lookup.StaticHashTable(values, -1.0)
            parts["eval_metric_ops"]["table"] = tf1.metrics.mean(table.lookup(one))
        return api.estimator.EstimatorSpec(mode, **parts)

    return model_fn


_memory_case("over_a_table", lambda api: _with_table(api, "train", "eval"))
_memory_case("beside_a_table", lambda api: _with_table(api, "train"))
_memory_case("with_a_table_of_its_own", lambda api: _with_table(api, "eval"))
_memory_case("over_constants", lambda api: _with_table(api, "train", "eval", changing=False))


@stopping
def more_metrics(api: Api, model_dir: str) -> Any:
    mean = tf1.metrics.mean

    def metric_fn(features, labels, predictions, config):
        return {
            "mae": mean(predictions["score"]),
            "features": mean(features["x"]),
            "labels": mean(labels),
            "config": mean(float(config.save_summary_steps)),
        }

    job = api.estimator.add_metrics(estimator(api, model_dir), metric_fn)
    job.train(tiny_input, steps=2)
    return {name: value.item() for name, value in job.evaluate(once).items()}


@stopping
def more_metrics_of_keras(api: Api, model_dir: str) -> Any:
    def metric_fn(labels):
        metric = api.keras.metrics.Mean()
        metric.update_state(labels)
        return {"labels": metric}

    job = api.estimator.add_metrics(estimator(api, model_dir), metric_fn)
    job.train(tiny_input, steps=2)
    return {name: value.item() for name, value in job.evaluate(once).items()}


@stopping
def more_metrics_that_are_none(api: Api, model_dir: str) -> Any:
    job = api.estimator.add_metrics(estimator(api, model_dir), lambda: {"a": 3})
    job.train(tiny_input, steps=2)
    job.evaluate(once)
