"""How an Estimator runs: where it saves, how often, on which part of which cluster."""

from __future__ import annotations

import copy
import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_train.cluster import (
    Cluster,
    Jobs,
    cluster_from_tf_config,
    platform_settings,
    read_jobs,
    read_tf_config,
)
from estimator_train.lifecycle.preemption import Preemption
from estimator_train.run_config import checks
from estimator_train.run_config.cluster_task import ClusterTask
from estimator_train.run_config.session_config import default_session_config
from estimator_train.run_config.settings import Setting

_UNSET: Any = object()
_DEFAULT_SAVE_SECS = 600


class RunConfig(ClusterTask):
    """Settings of a run, and the task of this process in the cluster TF_CONFIG describes.

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
      steps_per_loop: Largest number of training steps in one session call, of which hooks see the
        last; "auto": as many as hooks need not see; 1: each step is a call. Asynchronous workers
        loop only where a number is given.
      checkpoint_mode: 'async': variables are copied at a checkpoint's step, and a thread writes
        them while training goes on. 'sync', and in clusters: training waits until they are written.
      save_input_position: Whether checkpoints hold the position in the input, so that a restart
        continues from it; if not, each call of `train` reads the input from its start.
      preemption: A `Preemption`, or True for its defaults: at a signal, training ends after the
        current step, saves a checkpoint and raises `Preempted`, a SystemExit with code 143. None:
        only if the environment variable ESTIMATOR_TRAIN_PREEMPTION is 1; the launcher sets it.
      step_timeout_secs: Seconds that a step may take. A longer one ends the process with code 142
        and a stack trace of every thread. None: no limit.
      allow_shared_model_dir: Whether to train in a model_dir in which another job is training;
        by default it is done, with a warning.
      keep_best: (metric, 'min' or 'max', number of checkpoints): the checkpoints with the best
        values of that metric in evaluations, which are kept in `best/` below model_dir.
      xla: Whether XLA compiles the training steps that run in loops; "auto": where it can.
      mixed_precision: "bfloat16" or "float16" for the products and convolutions of training, with
        variables in float32; "float16" scales the loss.

    Raises:
      ValueError: A value out of its range, both ways of saving checkpoints at once, an
        inconsistent TF_CONFIG.
      TypeError: A number expected and something else given.
    """

    _experimental_distribute: Any
    # The attributes that show the arguments, each with the check of its value.
    model_dir = Setting(checks.NON_EMPTY)
    tf_random_seed = Setting(checks.INTEGER)
    save_summary_steps = Setting(checks.AT_LEAST_ZERO)
    save_checkpoints_steps = Setting(checks.AT_LEAST_ZERO)
    save_checkpoints_secs = Setting(checks.AT_LEAST_ZERO)
    session_config = Setting(checks.CONFIG_PROTO)
    keep_checkpoint_max = Setting(checks.AT_LEAST_ZERO)
    keep_checkpoint_every_n_hours = Setting(checks.POSITIVE)
    log_step_count_steps = Setting(checks.POSITIVE)
    train_distribute = Setting()
    device_fn = Setting(checks.FUNCTION_OF_OP)
    protocol = Setting(checks.PROTOCOL)
    eval_distribute = Setting()
    experimental_max_worker_delay_secs = Setting(checks.INTEGER_IF_SET)
    session_creation_timeout_secs = Setting(checks.POSITIVE)
    checkpoint_save_graph_def = Setting()
    steps_per_loop = Setting(checks.LOOP)
    checkpoint_mode = Setting(checks.one_of("async", "sync"))
    save_input_position = Setting(checks.SWITCH)
    preemption = Setting(checks.PREEMPTION)
    step_timeout_secs = Setting(checks.POSITIVE)
    allow_shared_model_dir = Setting(checks.SWITCH)
    keep_best = Setting(checks.KEEP_BEST)
    xla = Setting(checks.XLA)
    mixed_precision = Setting(checks.one_of("bfloat16", "float16"))

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
        experimental_distribute: Any = None,
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
    ):
        if save_checkpoints_steps is _UNSET and save_checkpoints_secs is _UNSET:
            save_checkpoints_secs = _DEFAULT_SAVE_SECS
        self._set({name: value for name, value in locals().items() if name != "self"})
        self._take_experimental_distribute()
        self._take_cluster()

    def replace(self, **kwargs: Any) -> RunConfig:
        """A copy with some settings changed.

        Args:
          **kwargs: Arguments of the constructor. Setting one of `save_checkpoints_steps` and
            `save_checkpoints_secs` clears the other.

        Returns:
          The new RunConfig; this one stays as it is.

        Raises:
          ValueError: A name that is not a setting, or a value out of its range.
          TypeError: A number expected and something else given.
        """
        allowed = list(inspect.signature(RunConfig).parameters)
        for name in kwargs:
            if name not in allowed:
                raise ValueError(
                    f"Replacing {name} is not supported. Allowed properties are {allowed}."
                )
        steps, secs = "save_checkpoints_steps", "save_checkpoints_secs"
        for name, other in ((steps, secs), (secs, steps)):
            if kwargs.get(name) is not None:
                kwargs.setdefault(other, None)
        config = copy.copy(self)
        config._session_config = copy.deepcopy(self.session_config)
        config._set(kwargs)
        return config

    def in_cluster(self, cluster: Cluster) -> RunConfig:
        """A copy for one task of a cluster.

        Args:
          cluster: The cluster and the task.
        """
        config = self.replace()
        config._take_task(cluster, {} if cluster.is_evaluator else cluster.jobs)
        return config

    def _set(self, values: Mapping[str, Any]) -> None:
        """Checks and keeps the values of settings, by the names of the arguments."""
        for name, value in values.items():
            if value is _UNSET:
                value = None
            if name == "model_dir" and isinstance(value, os.PathLike):
                value = os.fspath(value)
            if value is not None and name in _CHECKS:
                _CHECKS[name](name, value)
            setattr(self, "_" + name, value)
        if None not in (self.save_checkpoints_steps, self.save_checkpoints_secs):
            raise ValueError(
                "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."
            )
        if self.xla and self.mixed_precision:
            raise ValueError(
                "`xla` and `mixed_precision` cannot be both set: nothing is cast within what XLA "
                "compiles."
            )

    def _take_experimental_distribute(self) -> None:
        """Takes over the strategies of `experimental_distribute`."""
        if not self._experimental_distribute:
            return
        for name in ("train_distribute", "eval_distribute"):
            strategy = getattr(self._experimental_distribute, name)
            if strategy and getattr(self, "_" + name):
                raise ValueError(f"Either `{name}` or`experimental_distribute.{name}` can be set.")
            if strategy:
                setattr(self, "_" + name, strategy)

    def _take_cluster(self) -> None:
        """Fills in what TF_CONFIG says of this process."""
        if self.train_distribute:
            # The strategy reads the cluster itself and decides the roles when it trains; until
            # then this process stands alone.
            config = read_tf_config()
            jobs: Jobs = read_jobs(config)
            cluster = Cluster(**platform_settings(config))
        else:
            cluster = cluster_from_tf_config()
            jobs = {} if cluster.is_evaluator else cluster.jobs
        self._service = cluster.service
        self._model_dir = _same_model_dir(self.model_dir, cluster.model_dir)
        self._take_task(cluster, jobs)

    def _take_task(self, cluster: Cluster, jobs: Jobs) -> None:
        """Fills in the task, and the devices that its sessions may see."""
        super()._take_task(cluster, jobs)
        if self.session_config is None and cluster.device_filters and not self.train_distribute:
            self._session_config = default_session_config(cluster.device_filters)


_CHECKS = {
    name: found.check for name, found in vars(RunConfig).items() if isinstance(found, Setting)
}


def _same_model_dir(own: str | None, from_tf_config: str | None) -> str | None:
    if own is not None and from_tf_config is not None and own != from_tf_config:
        raise ValueError(
            "`model_dir` provided in RunConfig construct, if set, must have the same value as "
            f"the model_dir in TF_CONFIG. model_dir: {own}\n"
            f'TF_CONFIG["model_dir"]: {from_tf_config}.\n'
        )
    return own if from_tf_config is None else from_tf_config
