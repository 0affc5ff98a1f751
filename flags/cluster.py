"""Which processes a job has: TF_CONFIG, or the flags of the official TensorFlow models."""

import json
import os
from typing import Any

from absl import flags

from flags.group import Group

flags.disclaim_key_flags()

_TRAINERS = ("chief", "master", "worker")


def define_cluster_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines --worker_hosts and --task_index.

    Args:
      flag_values: Where to define them.
    """
    define = Group(flag_values)
    define.list(
        "worker_hosts",
        None,
        "Addresses (host:port) of the workers of a synchronous training, in place of TF_CONFIG; "
        "the same list for each process.",
    )
    define.integer(
        "task_index",
        None,
        "The index of this process in --worker_hosts, counted from 0.",
        lower_bound=0,
    )


def set_cluster(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Sets TF_CONFIG as --worker_hosts says, if it is given.

    Args:
      flag_values: The parsed flags.

    Raises:
      ValueError: --task_index is missing or out of range, or TF_CONFIG says something else.
    """
    hosts, index = flag_values.worker_hosts, flag_values.task_index
    if not hosts:
        if index is not None:
            raise ValueError(f"--task_index={index} needs --worker_hosts=HOST:PORT,...")
        return
    if index is None or index >= len(hosts):
        raise ValueError(
            f"--worker_hosts has {len(hosts)} addresses: give --task_index from 0 to "
            f"{len(hosts) - 1}, not {index}."
        )
    config = {"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}}
    if tf_config() not in ({}, config):
        raise ValueError("--worker_hosts and TF_CONFIG are both given, and differ: use one.")
    os.environ["TF_CONFIG"] = json.dumps(config)


def tf_config() -> dict[str, Any]:
    """Returns what TF_CONFIG says; an empty dict without it.

    Raises:
      ValueError: It is not a JSON object.
    """
    text = os.environ.get("TF_CONFIG", "").strip()
    try:
        config = json.loads(text or "{}")
    except json.JSONDecodeError as error:
        raise ValueError(f"TF_CONFIG is not valid JSON: {error}") from error
    if not isinstance(config, dict):
        raise ValueError(f"TF_CONFIG must be a JSON object, got: {text}")
    return config


def number_of(*jobs: str) -> int:
    """Returns how many tasks of these jobs there are in TF_CONFIG."""
    cluster = tf_config().get("cluster") or {}
    return sum(len(cluster.get(job, ())) for job in jobs)


def number_of_trainers() -> int:
    """Returns how many processes train; 1 without a cluster."""
    return max(1, number_of(*_TRAINERS))


def is_evaluator() -> bool:
    """Whether this process evaluates for others that train."""
    return (tf_config().get("task") or {}).get("type") == "evaluator"
