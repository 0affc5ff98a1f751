"""The best checkpoints by a metric, kept in `best/` beside those that come and go.

`best/` is itself a directory of checkpoints: `tf.train.latest_checkpoint` gives the best of them.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_train.engine.whole_files import write_whole
from estimator_train.run_config import RunConfig

DIRECTORY = "best"
_RECORD = "best.json"
_GONE = (
    "%s (%s = %s) was removed for later checkpoints before it could be kept in best/. Raise "
    "RunConfig.keep_checkpoint_max."
)
_LOG = tf.get_logger()


def keep_if_best(
    config: RunConfig, metrics: Mapping[str, Any], checkpoint_path: str | None
) -> None:
    """Copies an evaluated checkpoint to `best/` if it is among the best; the worst goes for it.

    Args:
      config: The configuration; its `keep_best` is (metric, "min" or "max", how many), or None.
      metrics: What the evaluation found.
      checkpoint_path: The checkpoint that was evaluated.

    Raises:
      ValueError: The evaluation has no such metric.
    """
    if config.keep_best is None or checkpoint_path is None:
        return
    metric, mode, most = config.keep_best
    if metric not in metrics:
        raise ValueError(
            f"RunConfig.keep_best names the metric '{metric}', which the evaluation does not have. "
            f"It has {sorted(metrics)}."
        )
    directory = os.path.join(config.model_dir, DIRECTORY)
    ranked = _read(directory)
    name = os.path.basename(checkpoint_path)
    entry = {"name": name, "step": int(metrics["global_step"]), "value": float(metrics[metric])}
    others = [other for other in ranked if other["name"] != name]
    # Of equal ones the earlier stays: sorting keeps their order.
    ranked = sorted([*others, entry], key=lambda e: e["value"], reverse=mode == "max")
    kept, dropped = ranked[:most], ranked[most:]
    if entry in kept:
        tf.io.gfile.makedirs(directory)
        if entry["name"] not in {other["name"] for other in _read(directory)}:
            try:
                _copy(checkpoint_path, os.path.join(directory, name))
            except tf.errors.NotFoundError:
                _remove(os.path.join(directory, name))
                _LOG.warning(_GONE, checkpoint_path, metric, entry["value"])
                return
        _write(directory, kept)
        _LOG.info("Kept %s: %s = %s.", os.path.join(directory, name), metric, entry["value"])
    for other in dropped:
        _remove(os.path.join(directory, other["name"]))


def _read(directory: str) -> list[dict[str, Any]]:
    path = os.path.join(directory, _RECORD)
    if not tf.io.gfile.exists(path):
        return []
    with tf.io.gfile.GFile(path) as file:
        return json.loads(file.read())


def _write(directory: str, kept: list[dict[str, Any]]) -> None:
    write_whole(os.path.join(directory, _RECORD), json.dumps(kept, indent=1))
    # TensorFlow makes paths relative to a directory that is not absolute, and leaves others alone.
    base = "" if os.path.isabs(directory) else directory
    paths = [os.path.join(base, entry["name"]) for entry in kept]
    # The state file lists checkpoints from the oldest to the latest, which is the best here.
    tf.compat.v1.train.update_checkpoint_state(directory, paths[0], paths[::-1])


def _copy(source: str, destination: str) -> None:
    """Copies a checkpoint's files, the index last: without it there is no checkpoint to see.

    It is also what goes first when a checkpoint is removed.
    """
    for file in (*tf.io.gfile.glob(source + ".data-*"), source + ".index"):
        target = destination + file[len(source) :]
        tf.io.gfile.copy(file, target + ".part", overwrite=True)
        tf.io.gfile.rename(target + ".part", target, overwrite=True)


def _remove(path: str) -> None:
    for file in sorted(tf.io.gfile.glob(path + ".*"), key=lambda f: not f.endswith(".index")):
        tf.io.gfile.remove(file)
