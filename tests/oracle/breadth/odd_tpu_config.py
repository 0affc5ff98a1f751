"""Odd values for TPUConfig and the RunConfig of TPUs."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from breadth.forms import Delegate, _subclass_of
from breadth.odd import odd
from jobs import Api

tf1 = tf.compat.v1


def _config(**arguments: Callable[[], Any]) -> Any:
    def ask(api: Api, directory: str) -> Any:
        values = {name: make() for name, make in arguments.items()}
        return list(api.estimator.tpu.TPUConfig(**values))

    return ask


_CONFIGS: dict[str, dict[str, Any]] = {
    "iterations_per_loop": {
        "of NumPy": np.int64(3),
        "time": "60s",
        "minutes": "2m",
        "number in a string": "60",
        "time of none": "0s",
        "float": 2.0,
        "True": True,
        "zero": 0,
        "negative": -1,
        "None": None,
        "bytes": b"60s",
        "str of NumPy": np.str_("60s"),
        "time with a space": "60 s",
        "fraction of time": "1.5h",
        "array": np.array(3),
    },
    "num_shards": {
        "zero": 0,
        "float": 2.0,
        "of NumPy": np.int32(2),
        "True": True,
        "string": "2",
        "array": np.array(2),
    },
    "initial_infeed_sleep_secs": {
        "zero": 0,
        "negative": -1,
        "float": 2.5,
        "of NumPy": np.int64(2),
        "string": "2",
    },
    "num_cores_per_replica": {
        "three": 3,
        "of NumPy": np.int64(2),
        "256": 256,
        "string": "2",
        "float": 2.0,
        "True": True,
        "zero": 0,
    },
    "per_host_input_for_training": {
        "one": 1,
        "five": 5,
        "nine": 9,
        "string": "x",
        "of NumPy": np.bool_(True),
        "None": None,
    },
    "eval_training_input_configuration": {
        "one": 1,
        "three": 3,
        "five": 5,
        "of NumPy": np.int64(2),
        "None": None,
        "True": True,
    },
    "tpu_job_name": {"None": None, "empty": "", "bytes": b"a", "number": 3},
    "experimental_host_call_every_n_steps": {"zero": 0, "None": None, "of NumPy": np.int64(2)},
}
odd(
    "TPUConfig",
    {
        f"{name} {text}": _config(**{name: lambda v=value: v})
        for name, values in _CONFIGS.items()
        for text, value in values.items()
    },
    ("v1",),
)
_DIMS: dict[str, Any] = {
    "list": [[2, 1]],
    "tuple": ((2, 1),),
    "dict": [{"x": [2, 1]}],
    "two": [[2, 1], [1, 1]],
    "three": [[2, 1], [1, 1], [1, 1]],
    "none of them": [],
    "array": np.array([[2, 1]]),
    "None among them": [None, [2, 1]],
    "string": "ab",
    "number": 3,
}
odd(
    "TPUConfig.input_partition_dims",
    {
        text: _config(
            input_partition_dims=lambda v=value: v,
            num_cores_per_replica=lambda: 2,
            per_host_input_for_training=lambda: 3,
        )
        for text, value in _DIMS.items()
    },
    ("v1",),
)


def _run_config(
    make: Callable[[Any], dict[str, Any]], change: Callable[[Any], Any] | None = None
) -> Any:
    def ask(api: Api, directory: str) -> Any:
        tpu = api.estimator.tpu
        config = tpu.RunConfig(**make(tpu))
        if change is not None:
            config = change(config)
        seen = [config.master, config.evaluation_master, config.model_dir, config.is_chief]
        loop = getattr(config.tpu_config, "iterations_per_loop", None)
        return [*seen, config.save_checkpoints_steps, loop, config.cluster is None]

    return ask


class Resolver:
    """A cluster resolver of a program's own."""

    def master(self) -> str:
        return "grpc://one:1"

    def get_master(self) -> str:
        return "grpc://two:2"

    def get_job_name(self) -> str:
        return "worker"

    def cluster_spec(self) -> Any:
        return None


odd(
    "tpu.RunConfig",
    {
        "nothing": _run_config(lambda tpu: {}),
        "subclass": _run_config(lambda tpu: {"tpu_config": _subclass_of(tpu.TPUConfig(3))}),
        "delegates": _run_config(lambda tpu: {"tpu_config": Delegate(tpu.TPUConfig(3))}),
        "a dict": _run_config(lambda tpu: {"tpu_config": {"iterations_per_loop": 3}}),
        "a tuple": _run_config(lambda tpu: {"tpu_config": tuple(tpu.TPUConfig(3))}),
        "namespace": _run_config(
            lambda tpu: {"tpu_config": types.SimpleNamespace(iterations_per_loop=3)}
        ),
        "a number": _run_config(lambda tpu: {"tpu_config": 3}),
        "replaced TPUConfig": _run_config(
            lambda tpu: {"tpu_config": tpu.TPUConfig(3)._replace(iterations_per_loop=5)}
        ),
        "resolver": _run_config(lambda tpu: {"cluster": Resolver()}),
        "resolver and master": _run_config(lambda tpu: {"cluster": Resolver(), "master": "a"}),
        "resolver and no master": _run_config(lambda tpu: {"cluster": Resolver(), "master": ""}),
        "master": _run_config(lambda tpu: {"master": "grpc://a:1"}),
        "master of bytes": _run_config(lambda tpu: {"master": b"a"}),
        "no evaluation_master": _run_config(lambda tpu: {"master": "a", "evaluation_master": ""}),
        "evaluation_master alone": _run_config(lambda tpu: {"evaluation_master": "b"}),
        "replace": _run_config(
            lambda tpu: {"master": "a"}, lambda c: c.replace(save_checkpoints_steps=7)
        ),
        "replace tpu_config": _run_config(
            lambda tpu: {},
            lambda c: c.replace(tpu_config=c.tpu_config._replace(iterations_per_loop=9)),
        ),
        "replace master": _run_config(lambda tpu: {}, lambda c: c.replace(master="a")),
        "replace nothing": _run_config(lambda tpu: {}, lambda c: c.replace()),
        "unknown": _run_config(lambda tpu: {"nothing": 3}),
    },
    ("v1",),
)
