"""The RunConfig of `tf.contrib.learn`."""

import os
from typing import Any

import tensorflow as tf

import estimator_train as est


class RunConfig(est.RunConfig):
    """The RunConfig of contrib.learn.

    Args:
      master: Address that sessions connect to; by default TF_CONFIG says.
      num_cores: Threads of a session; 0: as many as there are cores.
      log_device_placement: Whether to log where operations are placed.
      gpu_memory_fraction: Share of a GPU's memory to take.
      evaluation_master: Address that evaluation connects to.
      **kwargs: Arguments of `estimator_train.RunConfig`.
    """

    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1.0,
        evaluation_master: str = "",
        **kwargs: Any,
    ) -> None:
        if kwargs.get("session_config") is None:
            options = tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction=gpu_memory_fraction)
            kwargs["session_config"] = tf.compat.v1.ConfigProto(
                log_device_placement=log_device_placement,
                inter_op_parallelism_threads=num_cores,
                intra_op_parallelism_threads=num_cores,
                gpu_options=options,
            )
        super().__init__(**kwargs)
        if master is not None:
            self._master = master
        if evaluation_master:
            self._evaluation_master = evaluation_master

    @property
    def environment(self) -> str:
        """Where it runs: "cloud" or "local", as TF_CONFIG says."""
        return "cloud" if '"cloud"' in os.environ.get("TF_CONFIG", "") else "local"
