"""Defaults of an Estimator's RunConfig, and the process that it describes."""

import dataclasses
import os
import tempfile

import tensorflow as tf

from estimator_train.engine.distributed.strategies import resolve_cluster
from estimator_train.run_config import RunConfig
from estimator_train.run_config.session_config import (
    limit_threads,
    make_default_session_config,
    merge_session_config,
)
from estimator_train.run_config.topology import Topology, make_topology

_LOG = tf.get_logger()


def complete_config(
    config: RunConfig | None, model_dir: str | os.PathLike[str] | None
) -> RunConfig:
    """Returns the configuration with a model_dir and a session configuration filled in.

    Args:
      config: A RunConfig, or None for the default one.
      model_dir: The directory to use; None: that of the config, or a temporary one.

    Raises:
      ValueError: config is not a RunConfig, or has another model_dir.
    """
    if config is None:
        _LOG.info("Using default config.")
        config = RunConfig()
    elif not isinstance(config, RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    given = os.fspath(model_dir) if model_dir else None
    if given and config.model_dir and given != config.model_dir:
        raise ValueError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. "
            f"In constructor: '{given}', in `RunConfig`: '{config.model_dir}' "
        )
    chosen = given or config.model_dir
    if not chosen:
        chosen = tempfile.mkdtemp()
        _LOG.warning("Using temporary folder as model directory: %s", chosen)
    config = resolve_cluster(config)
    filters = () if config.train_distribute else config.device_filters
    session_config = merge_session_config(config.session_config, filters)
    return config.replace(model_dir=chosen, session_config=session_config)


@dataclasses.dataclass(frozen=True)
class Process:
    """This process, as a RunConfig describes it.

    Attributes:
      config: The RunConfig, with a model_dir.
      topology: How this process trains: alone, or with others.
      session_config: The configuration of its sessions.
    """

    config: RunConfig
    topology: Topology
    session_config: tf.compat.v1.ConfigProto


def describe_process(config: RunConfig) -> Process:
    """Returns this process, as a RunConfig describes it."""
    session_config = config.session_config or make_default_session_config()
    return Process(config, make_topology(config), limit_threads(session_config))
