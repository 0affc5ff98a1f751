"""RunConfig: the settings of a job, such as model_dir and intervals, and its task in a cluster."""

from __future__ import annotations

import copy
import operator
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, overload

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
from estimator_train.run_config import setting_values
from estimator_train.run_config.setting_values import make_default_session_config

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["RunConfig"]
T = TypeVar("T")
_UNSET: Any = object()
_STEPS, _SECS = "save_checkpoints_steps", "save_checkpoints_secs"
_DEFAULT_SAVE_SECS = 600
# Each setting in the order of the constructor, and the check of its values; None is valid
# except where it is listed here.
_NEVER_NONE = ("steps_per_loop",)
_CHECKS: dict[str, setting_values.Check | None] = {
    "model_dir": setting_values.NON_EMPTY,
    "tf_random_seed": setting_values.INTEGER,
    "save_summary_steps": setting_values.AT_LEAST_ZERO,
    "save_checkpoints_steps": setting_values.AT_LEAST_ZERO,
    "save_checkpoints_secs": setting_values.AT_LEAST_ZERO,
    "session_config": setting_values.CONFIG_PROTO,
    "keep_checkpoint_max": setting_values.AT_LEAST_ZERO,
    "keep_checkpoint_every_n_hours": setting_values.POSITIVE,
    "log_step_count_steps": setting_values.POSITIVE,
    "train_distribute": None,
    "device_fn": setting_values.FUNCTION_OF_OP,
    "protocol": setting_values.PROTOCOL,
    "eval_distribute": None,
    "experimental_distribute": None,
    "experimental_max_worker_delay_secs": setting_values.INTEGER_IF_SET,
    "session_creation_timeout_secs": setting_values.POSITIVE,
    "checkpoint_save_graph_def": None,
    "steps_per_loop": setting_values.LOOP,
    "checkpoint_mode": setting_values.make_choice_check("async", "sync"),
    "save_input_position": setting_values.SWITCH,
    "preemption": setting_values.PREEMPTION,
    "step_timeout_secs": setting_values.POSITIVE,
    "allow_shared_model_dir": setting_values.SWITCH,
    "keep_best": setting_values.KEEP_BEST,
    "xla": setting_values.XLA,
    "mixed_precision": setting_values.make_choice_check("bfloat16", "float16"),
}


class DistributeConfig(Protocol):
    """Strategies for the distribute coordinator."""

    train_distribute: Any
    eval_distribute: Any
    remote_cluster: Any


class ReadOnly(property, Generic[T]):
    """Attribute that shows the value kept under its name with an underscore before it.

    Args:
      doc: Its description.
    """

    def __init__(self, doc: str = "As the constructor's argument of this name.") -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type[Any], name: str) -> None:
        super().__init__(operator.attrgetter(f"_{name}"), doc=self.__doc__)
        super().__set_name__(owner, name)  # type: ignore[misc]  # Its errors name the attribute.

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: type[Any], /) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: type[Any] | None = None, /) -> T: ...
        def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...
        def __set__(self, instance: Any, value: T, /) -> None: ...


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

    # The settings, as the constructor's arguments of these names.
    model_dir = ReadOnly["Any"]()
    tf_random_seed = ReadOnly["int | None"]()
    save_summary_steps = ReadOnly["int | None"]()
    save_checkpoints_steps = ReadOnly["int | None"]()
    save_checkpoints_secs = ReadOnly["float | None"]()
    session_config = ReadOnly["tf.compat.v1.ConfigProto | None"]()
    keep_checkpoint_max = ReadOnly["int | None"]()
    keep_checkpoint_every_n_hours = ReadOnly["float | None"]()
    log_step_count_steps = ReadOnly["int | None"]()
    train_distribute = ReadOnly["tf.distribute.Strategy | None"]()
    device_fn = ReadOnly["Callable[[tf.Operation], str] | None"]()
    protocol = ReadOnly["str | None"]()
    eval_distribute = ReadOnly["tf.distribute.Strategy | None"]()
    experimental_distribute = ReadOnly["DistributeConfig | None"]()
    experimental_max_worker_delay_secs = ReadOnly["int | None"]()
    session_creation_timeout_secs = ReadOnly["float | None"]()
    checkpoint_save_graph_def = ReadOnly["bool"]()
    steps_per_loop = ReadOnly["int | str"]()
    checkpoint_mode = ReadOnly["str"]()
    save_input_position = ReadOnly["bool"]()
    preemption = ReadOnly["Preemption | bool | None"]()
    step_timeout_secs = ReadOnly["float | None"]()
    allow_shared_model_dir = ReadOnly["bool | None"]()
    keep_best = ReadOnly["tuple[str, str, int] | None"]()
    xla = ReadOnly["bool | str"]()
    mixed_precision = ReadOnly["str | None"]()

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

    def __init__(
        self,
        model_dir: str | os.PathLike[str] | None = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_steps: int | None = _UNSET,
        save_checkpoints_secs: float | None = _UNSET,
        session_config: tf.compat.v1.ConfigProto | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float | None = 10000,
        log_step_count_steps: int | None = 100,
        train_distribute: tf.distribute.Strategy | None = None,
        device_fn: Callable[[tf.Operation], str] | None = None,
        protocol: str | None = None,
        eval_distribute: tf.distribute.Strategy | None = None,
        experimental_distribute: DistributeConfig | None = None,
        experimental_max_worker_delay_secs: int | None = None,
        session_creation_timeout_secs: float | None = 7200,
        checkpoint_save_graph_def: bool = True,
        *,
        steps_per_loop: int | str = "auto",
        checkpoint_mode: str = "async",
        save_input_position: bool = False,
        preemption: Preemption | bool | None = None,
        step_timeout_secs: float | None = None,
        allow_shared_model_dir: bool | None = None,
        keep_best: tuple[str, str, int] | None = None,
        xla: bool | str = False,
        mixed_precision: str | None = None,
    ) -> None:
        values = {**locals()}  # The arguments: a table checks each by its name.
        del values["self"]
        self._store(values)
        setting_values.check_parameter_servers(train_distribute, eval_distribute)
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
            if name not in _CHECKS:
                raise ValueError(
                    f"Replacing {name} is not supported. Allowed properties are {list(_CHECKS)}."
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
            value = None if value is _UNSET else value
            if isinstance(value, os.PathLike):
                value = os.fspath(value)
            check = _CHECKS[name]
            if check is not None and (value is not None or name in _NEVER_NONE):
                check(name, value)
            vars(self)[f"_{name}"] = value
        if values.get(_STEPS) is _UNSET and values.get(_SECS) is _UNSET:
            self._save_checkpoints_secs = _DEFAULT_SAVE_SECS
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
                vars(self)[f"_{name}"] = strategy

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


def _find_common_model_dir(own: str | None, from_tf_config: str | None) -> str | None:
    if own is not None and from_tf_config is not None and own != from_tf_config:
        raise ValueError(
            "`model_dir` provided in RunConfig construct, if set, must have the same value as "
            f"the model_dir in TF_CONFIG. model_dir: {own}\n"
            f'TF_CONFIG["model_dir"]: {from_tf_config}.\n'
        )
    return own if from_tf_config is None else from_tf_config
