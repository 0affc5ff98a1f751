"""How an Estimator runs: where it saves, how often, on which part of which cluster."""

from __future__ import annotations

import copy
import inspect
import os
from collections.abc import Callable
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
from estimator_train.run_config.session_config import default_session_config
from estimator_train.run_config.settings import check_setting

_UNSET: Any = object()
_DEFAULT_SAVE_SECS = 600


def _setting(name: str, doc: str) -> Any:
    """A read-only property of the attribute with an underscore before its name."""
    return property(lambda self: getattr(self, "_" + name), doc=doc)


class RunConfig:
    """Settings of a run, and the task of this process in the cluster TF_CONFIG describes.

    Args:
        model_dir: directory of checkpoints and summaries (str or path). TF_CONFIG may have
            set it too, and then to the same.
        tf_random_seed: seed of the graph's random operations, an integer. None: not seeded.
        save_summary_steps: a summary every so many steps; 0 or None: never.
        save_checkpoints_steps: a checkpoint every so many steps.
        save_checkpoints_secs: a checkpoint every so many seconds; 600 if neither this nor
            `save_checkpoints_steps` is given. Both None: no checkpoints.
        session_config: a `tf.compat.v1.ConfigProto` for all sessions. What it sets holds, the
            rest are the defaults: soft placement, one pass of the graph optimizer, the devices
            of this task, threads that fit the CPU limit of a container.
        keep_checkpoint_max: number of the latest checkpoints to keep; 0 or None: all.
        keep_checkpoint_every_n_hours: hours after which one more checkpoint is kept for ever.
        log_step_count_steps: loss and steps per second are logged every so many steps.
        train_distribute: a `tf.distribute.Strategy` to train under.
        device_fn: called with each operation (`op`), returns its device; by default
            parameter servers are used round robin, where there are some.
        protocol: of the servers between processes: None (grpc), "grpc" or "grpc+verbs".
        eval_distribute: a `tf.distribute.Strategy` to evaluate under.
        experimental_distribute: an object with `train_distribute`, `eval_distribute` and
            `remote_cluster` for use with the distribute coordinator.
        experimental_max_worker_delay_secs: integer, the longest time a worker waits before
            it starts; 60 if None.
        session_creation_timeout_secs: how long a session may take to be created.
        checkpoint_save_graph_def: whether checkpoints also write the graph.
        steps_per_loop: the most training steps that run in one session call, with hooks seeing
            the last of them; "auto": as many as no hook must see; 1: every step by itself.
        checkpoint_mode: "async": variables are copied at a checkpoint's step and a thread writes
            them while training goes on; "sync", and in clusters: training waits until they are
            written.
        xla: whether XLA compiles the training steps that run in loops; "auto": where it can.
        mixed_precision: "bfloat16" or "float16" for the products and convolutions of training,
            with variables in float32; "float16" scales the loss.
        keep_best: (metric, "min" or "max", number): after each evaluation, so many checkpoints
            that are best by that metric are kept in `best/` below model_dir.
        save_input_position: whether the position in the input is saved with each checkpoint, and
            a restart goes on from there; if not, each call of `train` reads from the start.
        preemption: a `Preemption`, or True for its defaults: at a signal training ends after the
            step in hand, saves a checkpoint and raises `Preempted`, a SystemExit with code 143.
            None: only where the variable ESTIMATOR_TRAIN_PREEMPTION is 1, as under the launcher.
        step_timeout_secs: a step that takes longer ends the process with code 142, after it
            has said where every thread stands. None: no limit.
        allow_shared_model_dir: whether to train in a model_dir in which another job trains now.

    Raises:
        ValueError: a value out of its range, both ways of saving checkpoints at once, an
            inconsistent TF_CONFIG.
        TypeError: a number expected and something else given.
    """

    _experimental_distribute: Any

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
        allow_shared_model_dir: bool = False,
        keep_best: tuple[str, str, int] | None = None,
        xla: bool | str = False,
        mixed_precision: str | None = None,
    ):
        if save_checkpoints_steps is _UNSET and save_checkpoints_secs is _UNSET:
            save_checkpoints_secs = _DEFAULT_SAVE_SECS
        self._set(
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=_none_if_unset(save_checkpoints_steps),
            save_checkpoints_secs=_none_if_unset(save_checkpoints_secs),
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            train_distribute=train_distribute,
            device_fn=device_fn,
            protocol=protocol,
            eval_distribute=eval_distribute,
            experimental_distribute=experimental_distribute,
            experimental_max_worker_delay_secs=experimental_max_worker_delay_secs,
            session_creation_timeout_secs=session_creation_timeout_secs,
            checkpoint_save_graph_def=checkpoint_save_graph_def,
            steps_per_loop=steps_per_loop,
            checkpoint_mode=checkpoint_mode,
            save_input_position=save_input_position,
            preemption=preemption,
            step_timeout_secs=step_timeout_secs,
            allow_shared_model_dir=allow_shared_model_dir,
            keep_best=keep_best,
            xla=xla,
            mixed_precision=mixed_precision,
        )
        self._take_experimental_distribute()
        self._take_cluster()

    def replace(self, **kwargs: Any) -> RunConfig:
        """A copy with some settings changed.

        Args:
            **kwargs: arguments of the constructor. To set one of `save_checkpoints_steps` and
                `save_checkpoints_secs` clears the other.

        Returns:
            The new RunConfig; this one stays as it is.

        Raises:
            ValueError: a name that cannot be replaced, or a bad value.
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
        config._set(**kwargs)
        return config

    def _set(self, **settings: Any) -> None:
        """Checks settings, given by their public names, and keeps them."""
        if isinstance(settings.get("model_dir"), os.PathLike):
            settings["model_dir"] = os.fspath(settings["model_dir"])
        for name, value in settings.items():
            if value is not None:
                check_setting(name, value)
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
        """Takes the strategies over that `experimental_distribute` holds."""
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
            # The strategy finds its own way through the cluster, chief or not: it decides the
            # roles when it trains, and until then this process stands alone.
            config = read_tf_config()
            jobs: Jobs = read_jobs(config)
            cluster = Cluster(**platform_settings(config))
        else:
            cluster = cluster_from_tf_config()
            jobs = {} if cluster.is_evaluator else cluster.jobs
        self._service = cluster.service
        self._model_dir = _same_model_dir(self.model_dir, cluster.model_dir)
        self._take_place(cluster, jobs)

    def in_cluster(self, cluster: Cluster) -> RunConfig:
        """A copy for one task of a cluster.

        Args:
            cluster: the cluster and the task.
        """
        config = self.replace()
        config._take_place(cluster, {} if cluster.is_evaluator else cluster.jobs)
        return config

    def _take_place(self, cluster: Cluster, jobs: Jobs) -> None:
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
            self._session_config = default_session_config(cluster.device_filters)

    model_dir = _setting("model_dir", "Directory of checkpoints and summaries, or None.")
    tf_random_seed = _setting("tf_random_seed", "Seed of random operations, or None.")
    save_summary_steps = _setting("save_summary_steps", "Steps between summaries.")
    save_checkpoints_steps = _setting("save_checkpoints_steps", "Steps between checkpoints.")
    save_checkpoints_secs = _setting("save_checkpoints_secs", "Seconds between checkpoints.")
    session_config = _setting("session_config", "ConfigProto of all sessions, or None.")
    device_filters = _setting("device_filters", "Devices that sessions may see; empty: all.")
    keep_checkpoint_max = _setting("keep_checkpoint_max", "Number of checkpoints to keep.")
    keep_checkpoint_every_n_hours = _setting(
        "keep_checkpoint_every_n_hours", "Hours between checkpoints kept for ever."
    )
    log_step_count_steps = _setting("log_step_count_steps", "Steps between log lines.")
    train_distribute = _setting("train_distribute", "Strategy to train under, or None.")
    eval_distribute = _setting("eval_distribute", "Strategy to evaluate under, or None.")
    device_fn = _setting("device_fn", "Function from operation to device, or None.")
    protocol = _setting("protocol", "Protocol between processes, or None.")
    experimental_max_worker_delay_secs = _setting(
        "experimental_max_worker_delay_secs", "Longest wait of a worker at its start, or None."
    )
    session_creation_timeout_secs = _setting(
        "session_creation_timeout_secs", "Seconds a session may take to be created."
    )
    checkpoint_save_graph_def = _setting(
        "checkpoint_save_graph_def", "Whether checkpoints also write the graph."
    )
    steps_per_loop = _setting(
        "steps_per_loop", "The most training steps in one session call, or 'auto'."
    )
    checkpoint_mode = _setting("checkpoint_mode", "'async' or 'sync'.")
    xla = _setting("xla", "Whether XLA compiles training steps: True, False or 'auto'.")
    mixed_precision = _setting("mixed_precision", "'bfloat16', 'float16' or None.")
    keep_best = _setting("keep_best", "(metric, 'min' or 'max', number of checkpoints), or None.")
    save_input_position = _setting(
        "save_input_position", "Whether the position in the input is saved with checkpoints."
    )
    preemption = _setting("preemption", "A Preemption, True for its defaults, or None.")
    step_timeout_secs = _setting("step_timeout_secs", "Seconds a step may take, or None.")
    allow_shared_model_dir = _setting(
        "allow_shared_model_dir", "Whether another job may train in model_dir too."
    )
    service = _setting("service", "Settings of the platform in TF_CONFIG, or None.")
    cluster_spec = _setting("cluster_spec", "The cluster, a tf.train.ClusterSpec.")
    task_type = _setting("task_type", "Name of this process's job in the cluster.")
    task_id = _setting("task_id", "Index of this process in its job.")
    global_id_in_cluster = _setting(
        "global_id_in_cluster", "Number of this task among all; None for an evaluator."
    )
    master = _setting("master", "Address that sessions of training connect to.")
    evaluation_master = _setting(
        "evaluation_master", "Address that sessions of evaluation connect to."
    )
    is_chief = _setting("is_chief", "Whether this task saves checkpoints and summaries.")
    num_ps_replicas = _setting("num_ps_replicas", "Number of parameter servers.")
    num_worker_replicas = _setting("num_worker_replicas", "Number of workers and chief.")


def _none_if_unset(value: Any) -> Any:
    return None if value is _UNSET else value


def _same_model_dir(own: str | None, from_tf_config: str | None) -> str | None:
    if own is not None and from_tf_config is not None and own != from_tf_config:
        raise ValueError(
            "`model_dir` provided in RunConfig construct, if set, must have the same value as "
            f"the model_dir in TF_CONFIG. model_dir: {own}\n"
            f'TF_CONFIG["model_dir"]: {from_tf_config}.\n'
        )
    return own if from_tf_config is None else from_tf_config
