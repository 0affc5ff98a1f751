"""Settings of an Estimator's run: model_dir, intervals, strategies, and the task in a cluster."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import tensorflow as tf

from estimator_train.cluster import (
    Cluster,
    Jobs,
    cluster_from_tf_config,
    read_jobs,
    read_platform_settings,
    read_tf_config,
)
from estimator_train.lifecycle.preemption import Preemption
from estimator_train.run_config import checks
from estimator_train.run_config.session_config import make_default_session_config
from estimator_train.run_config.settings import (
    PathSetting,
    ReadOnly,
    Setting,
    add_settings,
    list_settings,
)

_UNSET: Any = object()
_STEPS, _SECS = "save_checkpoints_steps", "save_checkpoints_secs"
_DEFAULT_SAVE_SECS = 600


class DistributeConfig(Protocol):
    """Strategies for the distribute coordinator."""

    train_distribute: Any
    eval_distribute: Any
    remote_cluster: Any


@add_settings
class RunConfig:
    """Settings of a run, and the task of this process in the cluster that TF_CONFIG describes.

    Args:
      model_dir: Directory of checkpoints and summaries, a str or a path. If TF_CONFIG names one
        too, it must be the same.
      tf_random_seed: Seed of the graph's random operations, an integer; None: not seeded.
      save_summary_steps: Steps between summaries; 0 or None: no summaries.
      save_checkpoints_steps: Steps between checkpoints.
      save_checkpoints_secs: Seconds between checkpoints; 600 if neither this nor
        `save_checkpoints_steps` is given. Both None: no checkpoints.
      session_config: A `tf.compat.v1.ConfigProto` for all sessions. Fields that it does not set
        have these defaults: soft placement, one pass of the graph optimizer, the devices of this
        task, threads that fit the CPU limit of a container.
      keep_checkpoint_max: Number of the latest checkpoints to keep; 0 or None: all.
      keep_checkpoint_every_n_hours: Hours between checkpoints that are never deleted.
      log_step_count_steps: Steps between log lines with the loss and the steps per second.
      train_distribute: A `tf.distribute.Strategy` to train under.
      device_fn: Function that takes an operation as `op` and returns its device; by default
        variables are placed on the parameter servers in turn, where there are any.
      protocol: Protocol between the servers of a cluster: "grpc", "grpc+verbs" or None, which is
        "grpc".
      eval_distribute: A `tf.distribute.Strategy` to evaluate under.
      experimental_distribute: An object with `train_distribute`, `eval_distribute` and
        `remote_cluster` for use with the distribute coordinator.
      experimental_max_worker_delay_secs: The longest that a worker waits before it starts, an
        integer; 60 if None.
      session_creation_timeout_secs: Seconds that a session may take to be created.
      checkpoint_save_graph_def: Whether checkpoints also write the graph.
      steps_per_loop: Maximum number of training steps in one session call; hooks see only the last
        of them. "auto": as many as the hooks allow. 1: each step is a call. Asynchronous workers
        loop only if this is a number.
      checkpoint_mode: 'async': variables are copied at a checkpoint's step, and a thread writes
        them while training continues. 'sync', and in clusters: training waits for the write.
      save_input_position: Whether checkpoints contain the position in the input, from which a
        restart continues. If not, each call of `train` reads the input from its start.
      preemption: A `Preemption`, or True for its defaults: at a signal, training ends after the
        current step, saves a checkpoint and raises `Preempted`, a SystemExit with code 143. None:
        only if the environment variable ESTIMATOR_TRAIN_PREEMPTION is 1; the launcher sets it.
      step_timeout_secs: Maximum seconds of a step. A longer step ends the process with code 142
        and a stack trace of every thread. None: no limit.
      allow_shared_model_dir: Whether to train in a model_dir in which another job is training;
        by default with a warning.
      keep_best: (metric, 'min' or 'max', number of checkpoints): the checkpoints with the best
        values of that metric in evaluations, which are kept in `best/` below model_dir. Only
        evaluations with the name of the first one are ranked.
      xla: Whether XLA compiles the training steps that run in loops; "auto": where it can and
        where compiled steps are faster, which training measures.
      mixed_precision: "bfloat16" or "float16" for the products and convolutions of training, with
        variables in float32; "float16" scales the loss.

    Raises:
      ValueError: A value out of its range, both intervals of checkpoints given, or an
        inconsistent TF_CONFIG.
      TypeError: A value that is not a number where one is expected.
    """

    model_dir: PathSetting = PathSetting(default=None, check=checks.NON_EMPTY)
    tf_random_seed: Setting[int | None] = Setting(default=None, check=checks.INTEGER)
    save_summary_steps: Setting[int | None] = Setting(default=100, check=checks.AT_LEAST_ZERO)
    save_checkpoints_steps: Setting[int | None] = Setting(
        default=_UNSET, check=checks.AT_LEAST_ZERO
    )
    save_checkpoints_secs: Setting[float | None] = Setting(
        default=_UNSET, check=checks.AT_LEAST_ZERO
    )
    session_config: Setting[tf.compat.v1.ConfigProto | None] = Setting(
        default=None, check=checks.CONFIG_PROTO
    )
    keep_checkpoint_max: Setting[int | None] = Setting(default=5, check=checks.AT_LEAST_ZERO)
    keep_checkpoint_every_n_hours: Setting[float | None] = Setting(
        default=10000, check=checks.POSITIVE
    )
    log_step_count_steps: Setting[int | None] = Setting(default=100, check=checks.POSITIVE)
    train_distribute: Setting[tf.distribute.Strategy | None] = Setting(default=None)
    device_fn: Setting[Callable[[tf.Operation], str] | None] = Setting(
        default=None, check=checks.FUNCTION_OF_OP
    )
    protocol: Setting[str | None] = Setting(default=None, check=checks.PROTOCOL)
    eval_distribute: Setting[tf.distribute.Strategy | None] = Setting(default=None)
    experimental_distribute: Setting[DistributeConfig | None] = Setting(default=None)
    experimental_max_worker_delay_secs: Setting[int | None] = Setting(
        default=None, check=checks.INTEGER_IF_SET
    )
    session_creation_timeout_secs: Setting[float | None] = Setting(
        default=7200, check=checks.POSITIVE
    )
    checkpoint_save_graph_def: Setting[bool] = Setting(default=True)
    steps_per_loop: Setting[int | str] = Setting(default="auto", check=checks.LOOP, kw_only=True)
    checkpoint_mode: Setting[str] = Setting(
        default="async", check=checks.make_choice_check("async", "sync"), kw_only=True
    )
    save_input_position: Setting[bool] = Setting(default=False, check=checks.SWITCH, kw_only=True)
    preemption: Setting[Preemption | bool | None] = Setting(
        default=None, check=checks.PREEMPTION, kw_only=True
    )
    step_timeout_secs: Setting[float | None] = Setting(
        default=None, check=checks.POSITIVE, kw_only=True
    )
    allow_shared_model_dir: Setting[bool | None] = Setting(
        default=None, check=checks.SWITCH, kw_only=True
    )
    keep_best: Setting[tuple[str, str, int] | None] = Setting(
        default=None, check=checks.KEEP_BEST, kw_only=True
    )
    xla: Setting[bool | str] = Setting(default=False, check=checks.XLA, kw_only=True)
    mixed_precision: Setting[str | None] = Setting(
        default=None, check=checks.make_choice_check("bfloat16", "float16"), kw_only=True
    )

    # The task of this process in the cluster.
    service = ReadOnly["dict[str, object] | None"]("Platform settings in TF_CONFIG, or None.")
    cluster_spec = ReadOnly[tf.train.ClusterSpec]("The cluster, a tf.train.ClusterSpec.")
    task_type = ReadOnly[str]("Name of this process's job in the cluster.")
    task_id = ReadOnly[int]("Index of this process in its job.")
    global_id_in_cluster = ReadOnly["int | None"](
        "Index of this task among all tasks of the cluster; None for an evaluator."
    )
    master = ReadOnly[str]("Address that sessions of training connect to.")
    evaluation_master = ReadOnly[str]("Address that sessions of evaluation connect to.")
    is_chief = ReadOnly[bool]("Whether this task saves checkpoints and summaries.")
    num_ps_replicas = ReadOnly[int]("Number of parameter servers.")
    num_worker_replicas = ReadOnly[int]("Number of workers, the chief included.")
    device_filters = ReadOnly["tuple[str, ...]"]("Devices that sessions may see; empty: all.")

    def __post_init__(self) -> None:
        checks.check_parameter_servers(self.train_distribute, self.eval_distribute)
        self._copy_experimental_distribute()
        self._set_cluster()

    def replace(self, **kwargs: Any) -> RunConfig:
        """Returns a copy with some settings changed.

        Args:
          **kwargs: Arguments of the constructor. Setting one of `save_checkpoints_steps` and
            `save_checkpoints_secs` clears the other.

        Raises:
          ValueError: A name that is not a setting, or a value out of its range.
          TypeError: A value that is not a number where one is expected.
        """
        for name in kwargs:
            if name not in _SETTINGS:
                raise ValueError(
                    f"Replacing {name} is not supported. Allowed properties are {list(_SETTINGS)}."
                )
        for name, other in ((_STEPS, _SECS), (_SECS, _STEPS)):
            if kwargs.get(name) is not None:
                kwargs.setdefault(other, None)
        config = copy.copy(self)
        config._session_config = copy.deepcopy(self.session_config)
        config._store(kwargs)
        return config

    def in_cluster(self, cluster: Cluster) -> RunConfig:
        """Returns a copy for one task of a cluster.

        Args:
          cluster: The cluster and the task.
        """
        config = self.replace()
        config._set_task(cluster, {} if cluster.is_evaluator else cluster.jobs)
        return config

    def _store(self, values: Mapping[str, Any]) -> None:
        """Checks and keeps the values of settings, by the names of the arguments."""
        for name, value in values.items():
            _SETTINGS[name].store(self, None if value is _UNSET else value)
        if values.get(_STEPS) is _UNSET and values.get(_SECS) is _UNSET:
            _SETTINGS[_SECS].store(self, _DEFAULT_SAVE_SECS)
        if None not in (self.save_checkpoints_steps, self.save_checkpoints_secs):
            raise ValueError(
                "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."
            )
        if self.xla and self.mixed_precision:
            raise ValueError(
                "`xla` and `mixed_precision` cannot be both set: mixed precision does not change "
                "operations that XLA compiles."
            )

    def _copy_experimental_distribute(self) -> None:
        """Copies the strategies of `experimental_distribute` to their own settings."""
        distribute = self.experimental_distribute
        if not distribute:
            return
        for name, current, strategy in (
            ("train_distribute", self.train_distribute, distribute.train_distribute),
            ("eval_distribute", self.eval_distribute, distribute.eval_distribute),
        ):
            if strategy and current:
                raise ValueError(f"Either `{name}` or`experimental_distribute.{name}` can be set.")
            if strategy:
                _SETTINGS[name].store(self, strategy)

    def _set_cluster(self) -> None:
        """Stores the task, service and model_dir that TF_CONFIG has for this process."""
        if self.train_distribute:
            # The strategy reads the cluster and decides the roles when training starts. Until
            # then the task is that of a single process.
            config = read_tf_config()
            jobs: Jobs = read_jobs(config)
            cluster = Cluster(**read_platform_settings(config))
        else:
            cluster = cluster_from_tf_config()
            jobs = {} if cluster.is_evaluator else cluster.jobs
        self._service = cluster.service
        self._model_dir = _find_common_model_dir(self.model_dir, cluster.model_dir)
        self._set_task(cluster, jobs)

    def _set_task(self, cluster: Cluster, jobs: Jobs) -> None:
        """Stores the task and the devices that its sessions may see.

        Args:
          cluster: The cluster and the task.
          jobs: The jobs that `cluster_spec` shows.
        """
        self._cluster_spec = tf.train.ClusterSpec(dict(jobs))
        self._task_type = cluster.task_type
        self._task_id = cluster.task_id
        self._global_id_in_cluster = cluster.global_id
        self._master = cluster.master
        self._evaluation_master = cluster.evaluation_master
        self._is_chief = cluster.is_chief
        self._num_ps_replicas = cluster.num_ps
        self._num_worker_replicas = cluster.num_workers
        self._device_filters = cluster.device_filters
        if self.session_config is None and cluster.device_filters and not self.train_distribute:
            self._session_config = make_default_session_config(cluster.device_filters)


_SETTINGS = list_settings(RunConfig)


def _find_common_model_dir(own: str | None, from_tf_config: str | None) -> str | None:
    if own is not None and from_tf_config is not None and own != from_tf_config:
        raise ValueError(
            "`model_dir` provided in RunConfig construct, if set, must have the same value as "
            f"the model_dir in TF_CONFIG. model_dir: {own}\n"
            f'TF_CONFIG["model_dir"]: {from_tf_config}.\n'
        )
    return own if from_tf_config is None else from_tf_config
