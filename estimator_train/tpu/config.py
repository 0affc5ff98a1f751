"""Settings of a TPUEstimator: TPUConfig and a RunConfig that holds one."""

import numbers
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_train.cluster import EVALUATOR
from estimator_train.cluster.tf_config import read_tf_config
from estimator_train.run_config import RunConfig as _RunConfig

_CORES = (1, 2, 4, 8, 16, 32, 64, 128)


class InputPipelineConfig:
    """Ways in which the hosts of a TPU share their input; without effect on one machine."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class _Fields(NamedTuple):
    iterations_per_loop: int | str
    num_shards: int | None
    num_cores_per_replica: int | None
    per_host_input_for_training: int | bool
    tpu_job_name: str | None
    initial_infeed_sleep_secs: int | None
    input_partition_dims: Sequence[Any] | None
    eval_training_input_configuration: int
    experimental_host_call_every_n_steps: int
    experimental_allow_per_host_v2_parallel_get_next: bool
    experimental_feed_hook: Callable[..., Any] | None


class TPUConfig(_Fields):
    """Settings of a TPU; only `iterations_per_loop` has an effect on CPU and GPU.

    Args:
      iterations_per_loop: Training steps in one session call, of which hooks see the last: a
        number, or a string such as "60". A time such as "60s" means as many as hooks allow.
      num_shards: Replicas of the model on a TPU system.
      num_cores_per_replica: Cores of each, a power of 2 up to 128.
      per_host_input_for_training: An `InputPipelineConfig` value; True is PER_HOST_V1, False
        PER_SHARD_V1.
      tpu_job_name: Name of the job that has the TPU; by default that of TF_CONFIG.
      initial_infeed_sleep_secs: Seconds before the input starts.
      input_partition_dims: Division of the input among the cores of a replica.
      eval_training_input_configuration: As per_host_input_for_training, for evaluation.
      experimental_host_call_every_n_steps: Steps between host calls on a TPU.
      experimental_allow_per_host_v2_parallel_get_next: Only for TPUs.
      experimental_feed_hook: Only for TPUs.

    Raises:
      ValueError: A value out of its range.
      TypeError: A setting is not a number.
    """

    __slots__ = ()

    def __new__(
        cls,
        iterations_per_loop: int | str = 2,
        num_shards: int | None = None,
        num_cores_per_replica: int | None = None,
        per_host_input_for_training: int | bool = True,
        tpu_job_name: str | None = None,
        initial_infeed_sleep_secs: int | None = None,
        input_partition_dims: Sequence[Any] | None = None,
        eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1,
        experimental_host_call_every_n_steps: int = 1,
        experimental_allow_per_host_v2_parallel_get_next: bool = False,
        experimental_feed_hook: Callable[..., Any] | None = None,
    ) -> "TPUConfig":
        """Checks the settings, which the class describes."""
        if per_host_input_for_training is True:
            per_host_input_for_training = InputPipelineConfig.PER_HOST_V1
        elif per_host_input_for_training is False:
            per_host_input_for_training = InputPipelineConfig.PER_SHARD_V1
        made = super().__new__(
            cls,
            iterations_per_loop,
            num_shards,
            num_cores_per_replica,
            per_host_input_for_training,
            tpu_job_name or read_tf_config().get("service", {}).get("tpu_worker_job_name"),
            initial_infeed_sleep_secs,
            input_partition_dims,
            eval_training_input_configuration,
            experimental_host_call_every_n_steps,
            experimental_allow_per_host_v2_parallel_get_next,
            experimental_feed_hook,
        )
        made._check()
        return made

    def _check(self) -> None:
        if not _is_iterations(self.iterations_per_loop):
            raise ValueError(
                "Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer "
                "value or time-based value `<N><s|m|h>` where <N> is anypositive integer and `s`, "
                "`m`, `h` are unit of time in seconds, minutes, hours respectively. Examples of "
                f"valid values: `3600s`, `60m`, `1h`. Got {self.iterations_per_loop!r}."
            )
        for name, minimum in (("num_shards", 1), ("initial_infeed_sleep_secs", 0)):
            value = getattr(self, name)
            if value is not None and not isinstance(value, numbers.Integral):
                raise TypeError(f"TPUConfig {name} must be int, got {type(value)}")
            if value is not None and value < minimum:
                raise ValueError(f"TPUConfig {name} must be positive, got {value}")
        cores = self.num_cores_per_replica
        if cores is not None and cores not in _CORES:
            raise ValueError(f"num_cores_per_replica must be {str(_CORES)[1:-1]}; got {cores}")
        kinds = InputPipelineConfig
        if self.eval_training_input_configuration not in (kinds.PER_HOST_V1, kinds.SLICED):
            raise ValueError(
                "eval_training_input_configuration must be PER_HOST_V1 or SLICED; got "
                f"{self.eval_training_input_configuration}"
            )
        if self.input_partition_dims is not None:
            self._check_partition(self.input_partition_dims)

    def _check_partition(self, dims: Sequence[Any]) -> None:
        if len(dims) not in (1, 2):
            raise ValueError("input_partition_dims must be a list/tuple with one or two elements.")
        if self.per_host_input_for_training != InputPipelineConfig.PER_HOST_V2:
            raise ValueError("input_partition_dims is only supported in PER_HOST_V2 mode.")
        if self.num_cores_per_replica is None:
            raise ValueError("input_partition_dims requires setting num_cores_per_replica.")


class RunConfig(_RunConfig):
    """Settings of a TPUEstimator.

    Args:
      tpu_config: A `TPUConfig`; by default one with the defaults.
      evaluation_master: Address that evaluation connects to; by default "eval_session_master" of
        TF_CONFIG, otherwise `master`; an evaluator uses this process.
      master: Address that training connects to.
      cluster: A cluster resolver, which provides both addresses.
      **kwargs: Arguments of `estimator_train.RunConfig`; `steps_per_loop` is by default
        the `iterations_per_loop` of `tpu_config`.

    Raises:
      ValueError: Both master and cluster are given, or another argument is wrong.
    """

    def __init__(
        self,
        tpu_config: TPUConfig | None = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: tf.distribute.cluster_resolver.ClusterResolver | None = None,
        **kwargs: Any,
    ) -> None:
        if master is not None and cluster is not None:
            raise ValueError("Both master and cluster are set.")
        self._tpu_config = tpu_config or TPUConfig()
        self._cluster = cluster
        kwargs.setdefault("steps_per_loop", _read_steps_per_loop(self._tpu_config))
        super().__init__(**kwargs)
        given = cluster.master() if cluster is not None else master
        if given is not None:
            self._master = given
        if evaluation_master is None:
            evaluation_master = read_tf_config().get("eval_session_master")
        if evaluation_master is None:
            evaluation_master = "" if self.task_type == EVALUATOR else self.master
        self._evaluation_master = evaluation_master
        # The session config of a cluster's task would limit the tasks that its sessions see.
        self._session_config = kwargs.get("session_config")

    def replace(self, **kwargs: Any) -> "RunConfig":
        """Returns a copy with some settings changed; see `estimator_train.RunConfig.replace`.

        Args:
          **kwargs: Settings of that method, and `tpu_config`, which sets `steps_per_loop`.
        """
        changed = kwargs.pop("tpu_config", None)
        if changed is not None:
            kwargs.setdefault("steps_per_loop", _read_steps_per_loop(changed))
        copied = super().replace(**kwargs)
        assert isinstance(copied, RunConfig)
        copied._tpu_config = changed or copied._tpu_config
        return copied

    @property
    def tpu_config(self) -> TPUConfig:
        """The settings of the TPU."""
        return self._tpu_config

    @property
    def cluster(self) -> tf.distribute.cluster_resolver.ClusterResolver | None:
        """The cluster resolver, or None."""
        return self._cluster


def _read_steps_per_loop(config: TPUConfig | None) -> int | str:
    # tf.estimator reads these settings only on a TPU, so any object is accepted here.
    loop = getattr(config, "iterations_per_loop", "auto")
    return int(loop) if not isinstance(loop, str) or loop.isdecimal() else "auto"


def _is_iterations(value: Any) -> bool:
    if isinstance(value, str):
        return re.fullmatch(r"[1-9]\d*[smh]?", value) is not None
    if isinstance(value, np.ndarray) and not value.shape:
        value = value[()]
    is_integer = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    return is_integer and value > 0
