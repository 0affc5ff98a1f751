"""What the settings of a RunConfig may be."""

from __future__ import annotations

import inspect
import numbers
from typing import Any

import tensorflow as tf

from estimator_train.lifecycle.preemption import Preemption

_AT_LEAST_ZERO = (
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "keep_checkpoint_max",
)
_POSITIVE = (
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "session_creation_timeout_secs",
    "step_timeout_secs",
)
_SWITCHES = ("save_input_position", "allow_shared_model_dir")


def check_setting(name: str, value: Any) -> None:
    """Checks one setting.

    Args:
        name: argument of RunConfig.
        value: its value, which is not None.

    Raises:
        ValueError: a value that does not suit.
        TypeError: a number expected and something else given.
    """
    if name in _AT_LEAST_ZERO + _POSITIVE and not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if name in _AT_LEAST_ZERO and value < 0:
        raise ValueError(f"{name} should be >= 0, got {value}")
    if name in _POSITIVE and value <= 0:
        raise ValueError(f"{name} should be > 0, got {value}")
    if name == "model_dir" and value == "":
        raise ValueError("model_dir should be non-empty.")
    if name == "tf_random_seed" and not isinstance(value, numbers.Integral):
        raise ValueError(f"tf_random_seed must be integer. Got {value!r}")
    if name == "session_config" and not isinstance(value, tf.compat.v1.ConfigProto):
        raise ValueError(f"session_config must be instance of ConfigProto, got {value!r}")
    if name == "device_fn" and not _takes_only_op(value):
        raise ValueError(
            f'device_fn must be callable with exactly one argument "op". Got {value!r}'
        )
    if name == "protocol" and value not in ("grpc", "grpc+verbs"):
        raise ValueError(f"protocol should be grpc or grpc+verbs, got {value!r}")
    if name == "steps_per_loop" and value != "auto" and not _is_positive_integer(value):
        raise ValueError(
            f"steps_per_loop should be an integer > 0 or 'auto', got {value!r}. 1 runs every step "
            "by itself."
        )
    if name == "checkpoint_mode" and value not in ("async", "sync"):
        raise ValueError(f"checkpoint_mode should be 'async' or 'sync', got {value!r}")
    if name == "xla" and not isinstance(value, bool) and value != "auto":
        raise ValueError(f"xla should be True, False or 'auto', got {value!r}")
    if name == "mixed_precision" and value not in ("bfloat16", "float16"):
        raise ValueError(f"mixed_precision should be 'bfloat16' or 'float16', got {value!r}")
    if name in _SWITCHES and not isinstance(value, bool):
        raise ValueError(f"{name} should be True or False, got {value!r}")
    if name == "preemption" and not isinstance(value, (bool, Preemption)):
        raise ValueError(f"preemption should be a Preemption, True or False, got {value!r}")
    if name == "keep_best":
        _check_keep_best(value)
    if name == "experimental_max_worker_delay_secs" and not isinstance(value, numbers.Integral):
        raise ValueError(f"{name} must be an integer if set. Got {value!r}")


def _check_keep_best(value: Any) -> None:
    three = isinstance(value, tuple) and len(value) == 3 and isinstance(value[0], str)
    if not three or value[1] not in ("min", "max") or not _is_positive_integer(value[2]):
        raise ValueError(
            "keep_best should be (metric name, 'min' or 'max', an integer > 0), as "
            f"('accuracy', 'max', 3), got {value!r}"
        )


def _is_positive_integer(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) > 0


def _takes_only_op(function: Any) -> bool:
    if not callable(function):
        return False
    parameters = inspect.signature(function).parameters
    return list(parameters) == ["op"] and (
        parameters["op"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    )
