"""Copies of the best checkpoints by a metric in `best/`, which retention does not remove.

`best/` is a directory of checkpoints: `tf.train.latest_checkpoint` returns the best one.
"""

import json
import math
import os
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_train.engine import storage
from estimator_train.engine.checkpoints.integrity import latest_checkpoint
from estimator_train.engine.storage import atomic_write, copy_checkpoint, remove_checkpoint
from estimator_train.run_config import RunConfig

_DIRECTORY = "best"
_RECORD = "best.json"
_EVAL = "eval"  # Key of the name of the evaluation.
_DELETED = (
    "%s (%s = %s) was removed for later checkpoints before it could be kept in best/. Raise "
    "RunConfig.keep_checkpoint_max."
)
_LOG = tf.get_logger()


def keep_if_best(
    config: RunConfig, metrics: Mapping[str, Any], checkpoint_path: str | None, eval_name: str
) -> None:
    """Copies an evaluated checkpoint to `best/` if it is among the best, and removes the worst.

    The first evaluation of a model_dir decides the name of the evaluations that are ranked:
    metrics on other data cannot be compared with its metrics.

    Args:
      config: The configuration; `keep_best` is (metric, "min" or "max", number of checkpoints) or
        None.
      metrics: The metrics of the evaluation, by name.
      checkpoint_path: The evaluated checkpoint; None if there was none.
      eval_name: Name of the evaluation; "" if it has none.

    Raises:
      ValueError: A ranked evaluation has no such metric.
    """
    if config.keep_best is None or checkpoint_path is None:
        return
    metric, mode, max_kept = config.keep_best
    directory = os.path.join(config.model_dir, _DIRECTORY)
    # Records of 0.1 have no names of evaluations.
    before = [{_EVAL: eval_name, **entry} for entry in _read(directory)]
    ranked_name = before[0][_EVAL] if before else eval_name
    if eval_name != ranked_name:
        _LOG.info(
            "Did not rank the evaluation '%s' for %s: that has the best checkpoints of the "
            "evaluation '%s'.",
            eval_name,
            directory,
            ranked_name,
        )
        return
    if metric not in metrics:
        raise ValueError(
            f"RunConfig.keep_best names the metric '{metric}', which the evaluation does not have. "
            f"It has {sorted(metrics)}."
        )
    name = os.path.basename(checkpoint_path)
    step, value = int(metrics["global_step"]), float(metrics[metric])
    entry = {"name": name, _EVAL: eval_name, "step": step, "value": value}
    others = [other for other in before if other["name"] != name]
    sign = -1 if mode == "max" else 1
    # A stable sort: of equal values the earlier checkpoint stays. NaN is worse than any number.
    ranked = sorted([*others, entry], key=lambda e: (math.isnan(e["value"]), sign * e["value"]))
    kept, dropped = ranked[:max_kept], ranked[max_kept:]
    if entry in kept:
        tf.io.gfile.makedirs(directory)
        if len(others) == len(before):  # This checkpoint is not there yet.
            try:
                copy_checkpoint(checkpoint_path, os.path.join(directory, name))
            except tf.errors.NotFoundError:
                remove_checkpoint(os.path.join(directory, name))
                _LOG.warning(_DELETED, checkpoint_path, metric, value)
                return
        _write(directory, kept)
        _LOG.info("Kept %s: %s = %s.", os.path.join(directory, name), metric, value)
    for other in dropped:
        remove_checkpoint(os.path.join(directory, other["name"]))


def best_checkpoint(model_dir: str) -> str | None:
    """Returns the best checkpoint that `RunConfig.keep_best` kept, or None."""
    return latest_checkpoint(os.path.join(model_dir, _DIRECTORY))


def _read(directory: str) -> list[dict[str, Any]]:
    path = os.path.join(directory, _RECORD)

    def read() -> list[dict[str, Any]]:
        if not storage.is_file(path):
            return []
        with tf.io.gfile.GFile(path) as file:
            return json.loads(file.read())

    # A fault taken for a missing record would drop all earlier entries.
    return storage.retry_storage_faults(read, f"read {path}")


def _write(directory: str, kept: list[dict[str, Any]]) -> None:
    atomic_write(os.path.join(directory, _RECORD), json.dumps(kept, indent=1))
    # If the directory is not absolute, TensorFlow makes paths relative to the directory.
    base = "" if os.path.isabs(directory) else directory
    paths = [os.path.join(base, entry["name"]) for entry in kept]
    # The file `checkpoint` ends with the latest checkpoint; here that is the best one.
    tf.compat.v1.train.update_checkpoint_state(directory, paths[0], paths[::-1])
