"""The course of train_and_evaluate: evaluations, exports, results and files."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from cases_events import events
from job_cases import case_of, estimator, files, global_step, noting_exporter, once, run
from jobs import Api, tiny_input, tiny_parts
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

tf1 = tf.compat.v1
flow = case_of("flow")


@flow
def evaluates_every_checkpoint_and_exports(api: Api, model_dir: str) -> Any:
    calls: list[Any] = []
    exporters = [noting_exporter(api, calls, "a", "made a"), noting_exporter(api, calls, "b")]
    returned = run(api, estimator(api, model_dir), evaluate={"exporters": exporters})
    return [returned, calls, events(model_dir), files(model_dir)]


@flow
def what_tensorboard_reads(api: Api, model_dir: str) -> Any:
    """Steps of each tag of each directory, by TensorBoard's own reader."""

    def model_fn(features, labels, mode):
        tf1.summary.scalar("own/mean", tf.reduce_mean(features["x"]))
        return api.estimator.EstimatorSpec(mode, **tiny_parts(features, labels))

    job = estimator(api, model_dir, model_fn)
    run(api, job, evaluate={"name": "other"})
    job.evaluate(once)
    found = {}
    for directory in (".", "eval", "eval_other"):
        events_of = EventAccumulator(f"{model_dir}/{directory}")
        events_of.Reload()
        tags = events_of.Tags()
        found[directory] = {
            "scalars": {tag: [e.step for e in events_of.Scalars(tag)] for tag in tags["scalars"]},
            "tensors": {tag: [e.step for e in events_of.Tensors(tag)] for tag in tags["tensors"]},
            "others": {kind: tags[kind] for kind in ("graph", "meta_graph", "run_metadata")},
        }
    return found


@flow
def a_throttle_leaves_the_first_and_the_last(api: Api, model_dir: str) -> Any:
    calls: list[Any] = []
    evaluate = {"exporters": noting_exporter(api, calls), "throttle_secs": 600}
    return [run(api, estimator(api, model_dir), evaluate=evaluate), calls, events(model_dir)]


@flow
def max_steps_that_a_checkpoint_hits(api: Api, model_dir: str) -> Any:
    calls: list[Any] = []
    evaluate = {"exporters": noting_exporter(api, calls)}
    returned = run(api, estimator(api, model_dir), {"max_steps": 6}, evaluate)
    return [returned, calls, events(model_dir)]


@flow
def a_finished_model_dir(api: Api, model_dir: str) -> Any:
    run(api, estimator(api, model_dir))
    return [run(api, estimator(api, model_dir)), files(model_dir)]


@flow
def a_model_dir_that_is_to_go_on(api: Api, model_dir: str) -> Any:
    run(api, estimator(api, model_dir), {"max_steps": 4})
    return [run(api, estimator(api, model_dir), {"max_steps": 9}), events(model_dir)]


@flow
def the_end_of_the_input(api: Api, model_dir: str) -> Any:
    train = {"max_steps": None, "input_fn": lambda: tiny_input(repeat=4)}
    job = estimator(api, model_dir)
    return [run(api, job, train), run(api, job, train), events(model_dir)]


@flow
def an_empty_training_input(api: Api, model_dir: str) -> Any:
    train = {"input_fn": lambda: once().take(0)}
    return [run(api, estimator(api, model_dir), train), events(model_dir)]


@flow
def an_empty_evaluation_input(api: Api, model_dir: str) -> Any:
    return run(api, estimator(api, model_dir), evaluate={"input_fn": lambda: once().take(0)})


@flow
def a_named_evaluation_of_all_data(api: Api, model_dir: str) -> Any:
    evaluate = {"name": "other", "steps": None}
    return [run(api, estimator(api, model_dir), {"max_steps": 4}, evaluate), events(model_dir)]


@flow
def an_evaluation_of_one_batch(api: Api, model_dir: str) -> Any:
    return run(api, estimator(api, model_dir), evaluate={"steps": 1})


@flow
def no_checkpoints(api: Api, model_dir: str) -> Any:
    return run(api, estimator(api, model_dir, save_checkpoints_steps=None))


def _noting_listener(calls: list[str], name: str, stop_at: int | None = None) -> Any:
    class Noting(tf1.train.CheckpointSaverListener):
        def begin(self):
            calls.append(f"{name} begin")

        def before_save(self, session, global_step_value):
            calls.append(f"{name} before {global_step_value}")

        def after_save(self, session, global_step_value):
            calls.append(f"{name} after {global_step_value}")
            return global_step_value == stop_at

        def end(self, session, global_step_value):
            calls.append(f"{name} end {global_step_value}")

    return Noting()


@flow
def listeners_come_before_evaluations(api: Api, model_dir: str) -> Any:
    calls: list[Any] = []
    train = {"saving_listeners": [_noting_listener(calls, "a"), _noting_listener(calls, "b")]}
    run(api, estimator(api, model_dir), train, {"exporters": noting_exporter(api, calls)})
    return calls


@flow
def a_listener_that_stops_training(api: Api, model_dir: str) -> Any:
    calls: list[Any] = []
    job = estimator(api, model_dir)
    returned = run(api, job, {"saving_listeners": [_noting_listener(calls, "a", 3)]})
    return [returned, calls, global_step(job)]


@flow
def an_exporter_that_raises(api: Api, model_dir: str) -> Any:
    class Bad(api.estimator.Exporter):
        name = "bad"

        def export(self, *args, **kwargs):
            raise KeyError("bad export")

    run(api, estimator(api, model_dir), evaluate={"exporters": Bad()})


@flow
def hooks_of_both_specs(api: Api, model_dir: str) -> Any:
    calls: list[str] = []

    class Noting(tf1.train.SessionRunHook):
        def __init__(self, name):
            self.name = name

        def begin(self):
            calls.append(f"{self.name} begin")

        def end(self, session):
            calls.append(f"{self.name} end")

    run(
        api,
        estimator(api, model_dir),
        {"hooks": [Noting("train")]},
        {"hooks": [Noting("evaluate")]},
    )
    return calls


@flow
def an_estimator_of_the_v1_flavour(api: Api, model_dir: str) -> Any:
    job = estimator(api, model_dir)
    v1 = type(job).__mro__[1] if type(job).__mro__[1] is not object else type(job)
    job = v1(job.model_fn, model_dir=model_dir, config=job.config)
    return run(api, job)
