"""RunConfig of `tf.contrib.learn`."""

import json
import logging
import os
from typing import Any

import tensorflow as tf

import estimator_train as est


class ClusterConfig(est.RunConfig):
    """Part of a cluster that this process is, from TF_CONFIG.

    Args:
      master: Address that sessions connect to; by default that of TF_CONFIG.
      evaluation_master: Address that evaluation connects to.
      **settings: Settings of `estimator_train.RunConfig`.
    """

    def __init__(
        self, master: str | None = None, evaluation_master: str = "", **settings: Any
    ) -> None:
        _choose_chief()
        super().__init__(**settings)
        if master is not None:
            self._master = master
        if evaluation_master:
            self._evaluation_master = evaluation_master

    @property
    def environment(self) -> str:
        """Platform of TF_CONFIG: "cloud" or "local"."""
        return "cloud" if '"cloud"' in os.environ.get("TF_CONFIG", "") else "local"

    @staticmethod
    def get_task_id() -> int:
        """Returns the index of this task in TF_CONFIG."""
        return int(ClusterConfig().task_id)


class RunConfig(ClusterConfig):
    """Settings of a run, with the arguments of contrib.learn.

    Arguments that are not listed are those of `estimator_train.RunConfig`.

    Args:
      master: Address that sessions connect to; by default that of TF_CONFIG.
      num_cores: Threads of a session; 0: one for each core.
      log_device_placement: Whether to log the devices of operations.
      gpu_memory_fraction: Fraction of a GPU's memory to allocate.
      save_checkpoints_secs: Seconds between checkpoints; 0 (`USE_DEFAULT`): 600, unless
        save_checkpoints_steps is given.
      evaluation_master: Address that evaluation connects to.
      session_config: ConfigProto of sessions; by default `tf_config`.
    """

    USE_DEFAULT = 0

    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_secs: float | None = USE_DEFAULT,
        save_checkpoints_steps: int | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float | None = 10000,
        log_step_count_steps: int | None = 100,
        protocol: str | None = None,
        evaluation_master: str = "",
        model_dir: str | None = None,
        session_config: tf.compat.v1.ConfigProto | None = None,
        session_creation_timeout_secs: float | None = 7200,
    ) -> None:
        if save_checkpoints_secs == RunConfig.USE_DEFAULT:
            save_checkpoints_secs = 600 if save_checkpoints_steps is None else None
        super().__init__(
            master,
            evaluation_master,
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=save_checkpoints_steps,
            save_checkpoints_secs=save_checkpoints_secs,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            protocol=protocol,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )
        self._tf_config = tf.compat.v1.ConfigProto(
            log_device_placement=log_device_placement,
            inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
            gpu_options=tf.compat.v1.GPUOptions(
                per_process_gpu_memory_fraction=gpu_memory_fraction
            ),
        )

    @property
    def tf_config(self) -> tf.compat.v1.ConfigProto:
        """ConfigProto of sessions."""
        return self._tf_config


def _choose_chief() -> None:
    """Makes worker 0 the chief in the TF_CONFIG of a cluster without a chief, as in TensorFlow 1.

    The other workers keep their indices.
    """
    text = os.environ.get("TF_CONFIG", "")
    config = json.loads(text) if text.strip() else {}
    cluster = config.get("cluster") if isinstance(config, dict) else None
    if not isinstance(cluster, dict) or {"chief", "master"} & set(cluster):
        return
    workers = cluster.get("worker")
    if not isinstance(workers, list) or not workers:
        return
    first, *others = workers
    cluster["chief"] = [first]
    cluster["worker"] = {str(index): address for index, address in enumerate(others, 1)}
    if not others:
        del cluster["worker"]
    task = config.get("task") or {}
    if (task.get("type"), int(task.get("index", 0))) == ("worker", 0):
        task["type"] = "chief"
    logging.getLogger("tensorflow").warning(
        "The cluster in TF_CONFIG has no chief: worker 0 is the chief and is named so."
    )
    os.environ["TF_CONFIG"] = json.dumps(config)
