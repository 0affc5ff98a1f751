"""Files that training writes to a model directory, their times, and the order of log lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from cases_events import events
from job_cases import case_of, estimator, files, global_step, once
from jobs import Api, tiny_input, tiny_parts

tf1 = tf.compat.v1
saving = case_of("checkpoints")


def state(model_dir: str) -> list[Any]:
    """Returns the lines of the `checkpoint` file without time stamps, and the checkpoints there."""
    lines = Path(model_dir, "checkpoint").read_text().splitlines()
    indexes = [path.name for path in Path(model_dir).glob("*.index")]
    return [[line for line in lines if "timestamp" not in line], sorted(indexes)]


def _config_case(name: str, /, steps: int = 7, **config: Any) -> None:
    def train(api: Api, model_dir: str) -> Any:
        estimator(api, model_dir, **config).train(tiny_input, steps=steps)
        return [state(model_dir), files(model_dir), events(model_dir)]

    train.__name__ = name
    saving(train)


_config_case("every_third_step")
_config_case("every_few_milliseconds", 4, save_checkpoints_steps=None, save_checkpoints_secs=1e-6)
_config_case("two_that_stay", save_checkpoints_steps=1, keep_checkpoint_max=2)
_config_case("all_that_stay", save_checkpoints_steps=1, keep_checkpoint_max=None)
_config_case("all_that_stay_by_0", save_checkpoints_steps=1, keep_checkpoint_max=0)
_config_case(
    "some_that_stay_for_ever",
    save_checkpoints_steps=1,
    keep_checkpoint_max=1,
    keep_checkpoint_every_n_hours=1e-9,
)
_config_case("without_graphs", checkpoint_save_graph_def=False)
_config_case("without_summaries", save_summary_steps=None)
_config_case("without_step_counts", log_step_count_steps=None)
_config_case("step_counts_every_step", 4, log_step_count_steps=1)


@saving
def the_oldest_of_an_earlier_training_go_too(api: Api, model_dir: str) -> Any:
    for steps in (3, 4):
        job = estimator(api, model_dir, save_checkpoints_steps=1, keep_checkpoint_max=3)
        job.train(tiny_input, steps=steps)
    return [state(model_dir), events(model_dir)]


@saving
def directories_of_evaluations(api: Api, model_dir: str) -> Any:
    job = estimator(api, model_dir).train(tiny_input, steps=4)
    for arguments in ({}, {"name": "a"}, {"checkpoint_path": f"{model_dir}/model.ckpt-3"}):
        job.evaluate(once, **arguments)
    return [files(model_dir), events(model_dir)]


def _scaffold_case(name: str, /, **parts: Any) -> None:
    """Returns a Scaffold whose parts are made by functions of a list of calls to note in."""

    def train(api: Api, model_dir: str) -> Any:
        calls: list[str] = []

        def model_fn(features, labels, mode):
            spec = tiny_parts(features, labels)
            tf1.get_local_variable("local", initializer=3.0)
            made = {key: make(calls) for key, make in parts.items()}
            return api.estimator.EstimatorSpec(mode, scaffold=tf1.train.Scaffold(**made), **spec)

        job = estimator(api, model_dir, model_fn, save_checkpoints_steps=2)
        for _ in range(2):
            job.train(tiny_input, steps=3)
        loss = job.evaluate(once)["loss"].item()
        return [calls, loss, state(model_dir), job.get_variable_names(), global_step(job)]

    train.__name__ = f"scaffold_with_{name}"
    saving(train)


def _noting_init_fn(calls: list[str]) -> Any:
    def init_fn(scaffold: Any, session: Any) -> None:
        calls.append(f"{type(scaffold).__name__} {type(session).__name__}")
        [weight] = [v for v in tf1.global_variables() if v.op.name == "weight"]
        weight.load(np.array([[2.0], [-1.0]], np.float32), session)

    return init_fn


def _local_init_op(calls: list[str]) -> Any:
    def note() -> None:
        calls.append("local init")

    noted = tf1.py_func(note, [], [], stateful=True)
    return tf.group(tf1.local_variables_initializer(), tf1.tables_initializer(), noted)


def _init_op(calls: list[str]) -> Any:
    seven = tf1.placeholder(tf.float32, [2, 1], name="seven")
    [weight] = [v for v in tf1.global_variables() if v.op.name == "weight"]
    with tf.control_dependencies([tf1.global_variables_initializer()]):
        return tf1.assign(weight, seven).op


_scaffold_case("init_fn", init_fn=_noting_init_fn)
_scaffold_case("a_saver_of_one", saver=lambda calls: tf1.train.Saver(max_to_keep=1))
_scaffold_case(
    "a_saver_of_few_variables",
    saver=lambda calls: tf1.train.Saver([tf1.train.get_global_step()]),
)
_scaffold_case("local_init_op", local_init_op=_local_init_op)
_scaffold_case("ready_op", ready_op=lambda calls: tf1.report_uninitialized_variables())
_scaffold_case(
    "a_ready_op_that_never_is",
    ready_op=lambda calls: tf.constant(["the model", "is not there"]),
)
_scaffold_case(
    "ready_for_local_init_op",
    ready_for_local_init_op=lambda calls: tf1.report_uninitialized_variables(
        tf1.global_variables()
    ),
)
_scaffold_case(
    "init_op_and_feed",
    init_op=_init_op,
    init_feed_dict=lambda calls: {"seven:0": np.full([2, 1], 7, np.float32)},
)
_scaffold_case("summary_op", summary_op=lambda calls: tf1.summary.scalar("only", 1.0))


@saving
def slots_of_adam(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode):
        parts = tiny_parts(features, labels)
        parts["train_op"] = tf1.train.AdamOptimizer(0.1).minimize(
            parts["loss"], tf1.train.get_global_step()
        )
        return api.estimator.EstimatorSpec(mode, **parts)

    estimator(api, model_dir, model_fn).train(tiny_input, steps=4)
    return [
        [name, shape, tf.train.load_variable(model_dir, name).dtype.name]
        for name, shape in tf.train.list_variables(model_dir)
    ]
