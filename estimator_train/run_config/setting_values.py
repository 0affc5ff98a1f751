"""Values of RunConfig's settings: checks of them, and the default configuration of sessions."""

from __future__ import annotations

import inspect
import math
import numbers
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

import tensorflow as tf

from estimator_train.lifecycle.preemption import Preemption

_LOG = tf.get_logger()
# Above the CPUs, more threads for the work within an operation gain nothing.
_MAX_INTRA_OP_THREADS = max(64, os.cpu_count() or 1)
_MEMBERSHIP = "/proc/self/cgroup"
_ROOT = PurePosixPath("/sys/fs/cgroup")
Check = Callable[[str, Any], None]  # Takes the name of a setting and its value.


def make_default_session_config(device_filters: Iterable[str] = ()) -> tf.compat.v1.ConfigProto:
    """Returns the session settings of an Estimator whose RunConfig has no session_config.

    Args:
      device_filters: The devices that the session may see, as "/job:ps"; all by default.

    Returns:
      Soft placement, and one pass of the graph optimizer instead of two.
    """
    config = tf.compat.v1.ConfigProto(
        allow_soft_placement=True, device_filters=list(device_filters)
    )
    rewrites = config.graph_options.rewrite_options
    rewrites.meta_optimizer_iterations = rewrites.ONE
    return config


def merge_session_config(
    own: tf.compat.v1.ConfigProto | None, device_filters: Iterable[str] = ()
) -> tf.compat.v1.ConfigProto:
    """Returns the default session settings, overridden by those of the user.

    Args:
      own: The user's settings. A field with its default value (False, 0, empty) counts as not set.
        None: no settings.
      device_filters: The devices that the session may see if `own` has no device filters.
    """
    if own is None:
        return make_default_session_config(device_filters)
    config = make_default_session_config(() if own.device_filters else device_filters)
    config.MergeFrom(own)
    return config


def limit_threads(config: tf.compat.v1.ConfigProto | None) -> tf.compat.v1.ConfigProto:
    """Returns a copy whose thread pools of unset size fit the CPU limit of the container.

    The pool for the work within an operation has at most 64 threads, or as many as there are CPUs:
    each restore operation of TensorFlow 2.21 starts as many threads of its own, and
    `init_from_checkpoint` has one for each variable. With 1024, the process would abort.

    Args:
      config: The settings of a session that runs in this process; None for the default ones.
    """
    config = config or make_default_session_config()
    fitted = tf.compat.v1.ConfigProto()
    fitted.CopyFrom(config)
    if config.intra_op_parallelism_threads > _MAX_INTRA_OP_THREADS:
        _LOG.info(
            "Sessions use %d threads within an operation; session_config asks for %d, and "
            "TensorFlow would start that many for each variable that it restores.",
            _MAX_INTRA_OP_THREADS,
            config.intra_op_parallelism_threads,
        )
        fitted.intra_op_parallelism_threads = _MAX_INTRA_OP_THREADS
    threads = count_usable_threads()
    if threads is not None:
        for pool in ("intra_op_parallelism_threads", "inter_op_parallelism_threads"):
            setattr(fitted, pool, getattr(fitted, pool) or threads)
    return fitted


def count_usable_threads() -> int | None:
    """Returns the number of threads for a pool; None if TensorFlow's own count is right."""
    limit = read_cpu_limit(_read_text)
    if limit is None:
        return None
    threads = max(1, math.ceil(limit))
    return threads if threads < _count_cpus() else None


def read_cpu_limit(read: Callable[[str], str | None]) -> float | None:
    """Returns the number of CPUs whose time a process may use.

    Args:
      read: Function of an absolute path that returns the text of the file, or None if the file does
        not exist.

    Returns:
      The smallest limit of the process's control groups and their parents, of cgroup v2 and v1;
      None without a limit.
    """
    limits = []
    for line in (read(_MEMBERSHIP) or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            found = [_read_quota_v2(read(f"{place}/cpu.max")) for place in _walk_up(_ROOT, path)]
        elif "cpu" in controllers.split(","):
            # Systems mount the controllers under their joint name, and often under each name.
            found = [
                _divide_quota(read(f"{place}/cpu.cfs_quota_us"), read(f"{place}/cpu.cfs_period_us"))
                for mount in (controllers, "cpu")
                for place in _walk_up(_ROOT / mount, path)
            ]
        else:
            continue
        limits += [limit for limit in found if limit is not None]
    return min(limits, default=None)


def _walk_up(root: PurePosixPath, path: str) -> Iterator[PurePosixPath]:
    """Yields a group's directory and its parents; a container may see its group as the root."""
    place = PurePosixPath(path.lstrip("/"))
    yield root / place
    for parent in place.parents:
        yield root / parent


def _read_quota_v2(text: str | None) -> float | None:
    quota, _, period = (text or "").partition(" ")
    return _divide_quota(quota, period)


def _divide_quota(quota: str | None, period: str | None) -> float | None:
    """Returns quota / period as a number of CPUs; None for "max", -1 and no number."""
    try:
        used, total = int(quota or ""), int(period or "")
    except ValueError:
        return None
    return used / total if used > 0 and total > 0 else None


def _read_text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None


def _count_cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def make_check(
    is_valid: Callable[[Any], bool], message: str, error: type[Exception] = ValueError
) -> Check:
    """Returns a check that raises an error unless a condition holds.

    Args:
      is_valid: Predicate of the value.
      message: Text of the error, with the fields `{name}` and `{value}`.
      error: Type of the error.
    """

    def check(name: str, value: object) -> None:
        if not is_valid(value):
            raise error(message.format(name=name, value=value))

    return check


def make_choice_check(*choices: str) -> Check:
    """Returns the check of a setting whose value is one of some strings."""
    listed = " or ".join(map(repr, choices))
    return make_check(
        lambda value: value in choices, f"{{name}} should be {listed}, got {{value!r}}"
    )


def _combine(first: Check, second: Check) -> Check:
    def check(name: str, value: object) -> None:
        first(name, value)
        second(name, value)

    return check


def _is_positive_integer(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) > 0


def _takes_only_op(function: object) -> bool:
    if not callable(function):
        return False
    parameters = inspect.signature(function).parameters
    return list(parameters) == ["op"] and (
        parameters["op"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    )


def _is_keep_best(value: object) -> bool:
    if not isinstance(value, tuple) or len(value) != 3:
        return False
    return (
        isinstance(value[0], str) and value[1] in ("min", "max") and _is_positive_integer(value[2])
    )


def _is_number(value: Any) -> bool:
    """Returns whether a value can be compared to a number, as arrays without dimensions can."""
    try:
        bool(value < 0)
    except TypeError:
        return False
    return True


def _make_type_check(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


_NUMBER = make_check(_is_number, "{name} must be a number, got {value!r}", TypeError)


# NaN is neither.
AT_LEAST_ZERO = _combine(
    _NUMBER, make_check(lambda v: v >= 0, "{name} should be >= 0, got {value}")
)


POSITIVE = _combine(_NUMBER, make_check(lambda v: v > 0, "{name} should be > 0, got {value}"))


INTEGER = make_check(_make_type_check(numbers.Integral), "{name} must be integer. Got {value!r}")


INTEGER_IF_SET = make_check(
    _make_type_check(numbers.Integral), "{name} must be an integer if set. Got {value!r}"
)


SWITCH = make_check(_make_type_check(bool), "{name} should be True or False, got {value!r}")


XLA = make_check(
    lambda value: isinstance(value, bool) or value == "auto",
    "{name} should be True, False or 'auto', got {value!r}",
)


NON_EMPTY = make_check(lambda value: value != "", "{name} should be non-empty.")


PROTOCOL = make_check(
    lambda value: value in ("grpc", "grpc+verbs"),
    "{name} should be grpc or grpc+verbs, got {value!r}",
)


CONFIG_PROTO = make_check(
    _make_type_check(tf.compat.v1.ConfigProto),
    "{name} must be instance of ConfigProto, got {value!r}",
)


FUNCTION_OF_OP = make_check(
    _takes_only_op, '{name} must be callable with exactly one argument "op". Got {value!r}'
)


LOOP = make_check(
    lambda value: value == "auto" or _is_positive_integer(value),
    "{name} should be an integer > 0 or 'auto', got {value!r}. 1 runs every step by itself.",
)


PREEMPTION = make_check(
    _make_type_check(bool, Preemption),
    "{name} should be a Preemption, True or False, got {value!r}",
)


KEEP_BEST = make_check(
    _is_keep_best,
    "{name} should be (metric name, 'min' or 'max', an integer > 0), as ('accuracy', 'max', 3), "
    "got {value!r}",
)


def check_parameter_servers(*strategies: tf.distribute.Strategy | None) -> None:
    """Refuses TensorFlow 2's strategy of parameter servers, as tf.estimator does.

    Args:
      *strategies: The strategies that the constructor got; None for no strategy.

    Raises:
      ValueError: One of them is a `tf.distribute.ParameterServerStrategy`.
    """
    if any(isinstance(strategy, tf.distribute.ParameterServerStrategy) for strategy in strategies):
        raise ValueError(
            "Please use `tf.compat.v1.distribute.experimental.ParameterServerStrategy` for "
            "parameter server strategy with estimator."
        )
