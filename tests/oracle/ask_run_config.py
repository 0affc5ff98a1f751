"""Questions about RunConfig: defaults, limits, `replace`, and values from TF_CONFIG."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable
from typing import Any
from unittest import mock

import tensorflow as tf

PROPERTIES = (
    "checkpoint_save_graph_def",
    "cluster_spec",
    "device_fn",
    "eval_distribute",
    "evaluation_master",
    "experimental_max_worker_delay_secs",
    "global_id_in_cluster",
    "is_chief",
    "keep_checkpoint_every_n_hours",
    "keep_checkpoint_max",
    "log_step_count_steps",
    "master",
    "model_dir",
    "num_ps_replicas",
    "num_worker_replicas",
    "protocol",
    "save_checkpoints_secs",
    "save_checkpoints_steps",
    "save_summary_steps",
    "service",
    "session_config",
    "session_creation_timeout_secs",
    "task_id",
    "task_type",
    "tf_random_seed",
    "train_distribute",
)

VALUES = {
    "model_dir": ["", "a", "a/../b"],
    "tf_random_seed": [None, 1.5, -1, "a"],
    "save_summary_steps": [0, -1, 1.5, None],
    "save_checkpoints_steps": [0, -1, 1.5, None, 5],
    "save_checkpoints_secs": [0, -1, 1.5, None, 5],
    "session_config": ["a", {}],
    "keep_checkpoint_max": [0, -1, None],
    "keep_checkpoint_every_n_hours": [0, -1, None, 0.5],
    "log_step_count_steps": [0, -1, None],
    "device_fn": [1, "/cpu:0"],
    "protocol": ["grpc", "grpc+verbs", "http", 1, ""],
    "experimental_max_worker_delay_secs": [0, -1, 1.5, "a"],
    "session_creation_timeout_secs": [0, -1, None, 1.5],
    "checkpoint_save_graph_def": [None, False],
}

DISTRIBUTED = {"chief": ["c:1"], "worker": ["w:1", "w:2"], "ps": ["p:1", "p:2"]}
MASTERED = {"master": ["m:1"], "worker": ["w:1"], "ps": ["p:1"]}
SPARSE = {
    "chief": ["c:1"],
    "zoo": ["z:1"],
    "worker": {"0": "w:1", "3": "w:2"},
    "ps": ["p:1", "p:2"],
    "evaluator": ["e:1"],
    "aaa": ["a:1", "a:2"],
}


def _task(job: str, index: Any) -> dict[str, Any]:
    return {"type": job, "index": index}


def tf_configs() -> dict[str, Any]:
    """TF_CONFIG objects by a name that describes the case."""
    configs: dict[str, Any] = {"empty": {}}
    for job, index in [("chief", 0), ("worker", 1), ("ps", 0), ("evaluator", 0)]:
        configs[f"{job} {index}"] = {"cluster": DISTRIBUTED, "task": _task(job, index)}
    for job, index in [("master", 0), ("worker", 0), ("ps", 0), ("evaluator", 0), ("master", 1)]:
        configs[f"{job} {index} under a master"] = {
            "cluster": MASTERED,
            "task": _task(job, index),
        }
    for job, index in [("worker", 3), ("ps", 0), ("aaa", 1), ("zoo", 0), ("evaluator", 0)]:
        configs[f"{job} {index} of sparse jobs"] = {"cluster": SPARSE, "task": _task(job, index)}
    for index in (2, -1, "1"):
        configs[f"worker of index {index!r}"] = {
            "cluster": DISTRIBUTED,
            "task": _task("worker", index),
        }
    configs |= {
        "unknown job": {"cluster": DISTRIBUTED, "task": _task("foo", 0)},
        "no task": {"cluster": DISTRIBUTED},
        "no index": {"cluster": DISTRIBUTED, "task": {"type": "worker"}},
        "no type": {"cluster": DISTRIBUTED, "task": {"index": 0}},
        "evaluator of negative index": {
            "cluster": DISTRIBUTED,
            "task": _task("evaluator", -1),
        },
    }
    return configs | _clusters() | _alone() | _sessions()


def _clusters() -> dict[str, Any]:
    clusters = {
        "no chief": {"worker": ["a:1"], "ps": ["p:1"]},
        "two chiefs": {"chief": ["a:1", "b:1"], "worker": ["w:1"]},
        "two masters": {"master": ["a:1", "b:1"], "worker": ["w:1"]},
        "master and chief": {"master": ["a:1"], "chief": ["c:1"], "worker": ["w:1"]},
        "job no list": {"chief": ["c:1"], "worker": "w:1"},
        "address no string": {"chief": ["c:1"], "worker": [1]},
        "empty ps": {"chief": ["c:1"], "worker": ["w:1"], "ps": []},
        "one address twice": {"chief": ["c:1"], "worker": ["c:1"]},
    }
    for address in (
        "",
        " ",
        "w",
        "w:",
        ":1",
        "w: 1",
        "w :1",
        "w:99999",
        "w:-1",
        "w:x",
        "http://w:1",
    ):
        clusters[f"address {address!r}"] = {"chief": ["c:1"], "worker": [address]}
    configs = {
        name: {"cluster": cluster, "task": _task("worker", 0)} for name, cluster in clusters.items()
    }
    configs["chief only"] = {"cluster": {"chief": ["c:1"]}, "task": _task("chief", 0)}
    configs["master only"] = {"cluster": {"master": ["c:1"]}, "task": _task("master", 0)}
    configs["evaluator of a chief"] = {
        "cluster": {"chief": ["c:1"]},
        "task": _task("evaluator", 0),
    }
    configs["chief beside an evaluator"] = {
        "cluster": {"chief": ["c:1"], "evaluator": ["e:1"]},
        "task": _task("chief", 0),
    }
    return configs


def _alone() -> dict[str, Any]:
    configs = {
        f"{job} {index} without cluster": {"task": _task(job, index)}
        for job, index in [
            ("worker", 0), ("worker", 1), ("chief", 0), ("evaluator", 0), ("ps", 0)
        ]
    }  # fmt: skip
    configs["index only without cluster"] = {"task": {"index": 0}}
    configs["worker of an empty cluster"] = {"cluster": {}, "task": _task("worker", 0)}
    return configs


def _sessions() -> dict[str, Any]:
    masters = {"session_master": "grpc://x:1", "eval_session_master": "grpc://y:1"}
    configs: dict[str, Any] = {
        f"{job} with session masters": {
            "cluster": DISTRIBUTED,
            "task": _task(job, 0),
            **masters,
        }
        for job in ("chief", "worker", "evaluator")
    }
    return configs | {
        "session masters": masters,
        "session master": {"session_master": "grpc://x:1"},
        "eval session master": {"eval_session_master": "local"},
        "platform": {"service": {"a": 1}, "model_dir": "there", "environment": "cloud"},
        "service no dict": {"service": "abc"},
        "empty model_dir": {"model_dir": ""},
    }


def questions(run_config: Any) -> dict[str, Callable[[], Any]]:
    """Returns the questions by name, to be asked of a RunConfig class."""
    calls: dict[str, Callable[[], Any]] = {}
    _ask_construction(run_config, calls)
    _ask_replace(run_config, calls)
    for name, tf_config in tf_configs().items():
        calls[f"TF_CONFIG: {name}"] = functools.partial(_under, tf_config, run_config)
    _ask_distributed(run_config, calls)
    for name, own in {"other": "here", "same": "there", "empty": ""}.items():
        calls[f"model_dir {name} than TF_CONFIG's"] = functools.partial(
            _under, {"model_dir": "there"}, functools.partial(run_config, model_dir=own)
        )
    return calls


def _under(tf_config: Any, make: Callable[[], Any]) -> dict[str, Any]:
    with mock.patch.dict(os.environ, TF_CONFIG=json.dumps(tf_config)):
        return changed(make())


def shown(config: Any) -> dict[str, Any]:
    """Returns the public properties of a RunConfig."""
    values = {name: getattr(config, name) for name in PROPERTIES}
    values["cluster_spec"] = {
        job: {str(i): config.cluster_spec.task_address(job, i) for i in indices}
        for job, indices in (
            (job, config.cluster_spec.task_indices(job)) for job in config.cluster_spec.jobs
        )
    }
    return values


def changed(config: Any) -> dict[str, Any]:
    """Returns the public properties of a RunConfig that are not those of a plain one."""
    with mock.patch.dict(os.environ, TF_CONFIG="{}"):
        plain = shown(type(config)())
    return {name: value for name, value in shown(config).items() if value != plain[name]}


def _ask_construction(run_config: Any, calls: dict[str, Callable[[], Any]]) -> None:
    calls["defaults"] = lambda: shown(run_config())
    for name, values in VALUES.items():
        for value in values:
            calls[f"{name}={value!r}"] = lambda name=name, value=value: changed(
                run_config(**{name: value})
            )
    steps_and_secs = [(1, 1), (None, None), (5, None), (None, 5), (0, 0)]
    for steps, secs in steps_and_secs:
        calls[f"steps={steps} and secs={secs}"] = lambda steps=steps, secs=secs: changed(
            run_config(save_checkpoints_steps=steps, save_checkpoints_secs=secs)
        )
    functions = {
        "op": lambda op: "",
        "no argument": lambda: "",
        "another name": lambda operation: "",
        "a default": lambda op, device="": "",
        "keywords": lambda **op: "",
        "partial": functools.partial(lambda first, op: "", 1),
    }
    for name, function in functions.items():
        calls[f"device_fn of {name}"] = lambda function=function: callable(
            run_config(device_fn=function).device_fn
        )
    calls["set a property"] = lambda: setattr(run_config(), "model_dir", "a")
    calls["equal"] = lambda: run_config() == run_config()


def _ask_replace(run_config: Any, calls: dict[str, Callable[[], Any]]) -> None:
    for name, values in VALUES.items():
        for value in values:
            calls[f"replace {name} with {value!r}"] = lambda name=name, value=value: changed(
                run_config(save_summary_steps=7).replace(**{name: value})
            )
    for name in ("master", "task_type", "cluster_spec", "is_chief", "unknown"):
        calls[f"replace {name}"] = lambda name=name: run_config().replace(**{name: 3})
    steps, secs = "save_checkpoints_steps", "save_checkpoints_secs"
    changes: list[dict[str, Any]] = [
        {},
        {steps: 3},
        {secs: 3},
        {steps: None},
        {secs: None},
        {steps: 3, secs: 3},
        {steps: None, secs: None},
        {steps: 3, secs: None},
    ]
    for given in ({steps: 7}, {secs: 7}):
        for change in changes:
            calls[f"replace {change} of {given}"] = lambda given=given, change=change: changed(
                run_config(**given).replace(**change)
            )


def _ask_distributed(run_config: Any, calls: dict[str, Callable[[], Any]]) -> None:
    """Asks for the roles in a cluster when there is a strategy."""
    configs = tf_configs()
    for kind in ("train_distribute", "eval_distribute"):
        for name in ("empty", "chief 0", "worker 1", "evaluator 0", "no chief"):

            def make(kind: str = kind) -> Any:
                return run_config(**{kind: tf.distribute.OneDeviceStrategy("/cpu:0")})

            calls[f"{kind} and TF_CONFIG: {name}"] = functools.partial(_under, configs[name], make)

    def replaced() -> Any:
        strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
        return run_config().replace(train_distribute=strategy)

    calls["replace train_distribute in a cluster"] = functools.partial(
        _under, configs["worker 1"], replaced
    )
    for kind in ("train_distribute", "eval_distribute"):
        for generation, strategy in (
            ("2", tf.distribute.ParameterServerStrategy),
            ("1", tf.compat.v1.distribute.experimental.ParameterServerStrategy),
        ):

            def make_with(kind: str = kind, strategy: Any = strategy) -> Any:
                # Without a cluster the strategy itself cannot be constructed.
                return getattr(run_config(**{kind: object.__new__(strategy)}), kind) is not None

            calls[f"{kind} of parameter servers of TensorFlow {generation}"] = make_with
