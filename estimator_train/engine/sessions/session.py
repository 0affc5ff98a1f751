"""What every session of the engine needs: its configuration, and errors that name the variables."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.checkpoints.integrity import latest_checkpoint
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.distributed.ps_task import WaitForPs
from estimator_train.engine.distributed.sync_watchdog import WaitForPeers
from estimator_train.engine.graph.mixed_precision import cast_in
from estimator_train.engine.hook_types import Hook
from estimator_train.engine.loops.training_loop import needs_other_workers
from estimator_train.engine.sessions.worker_session import PromptSessionCreator
from estimator_train.run_config.topology import is_multi_worker

_LOG = tf.get_logger()
# How long a session waits for its threads at its end. That of a chief that sums the gradients of
# workers ends only when the session closes.
_STOP_GRACE_SECS = 120
_GRACE_OF_TAKERS_SECS = 2
_NAMES_SHOWN = 10
_MISFIT = (
    "Restoring from checkpoint failed. This is most likely due to a mismatch between the current "
    "graph and the graph from the checkpoint."
)
# Directories and what did not fit in a checkpoint there, once it was told.
_warned: set[tuple[str, ...]] = set()


class CheckpointMisfitError(tf.errors.InvalidArgumentError, ValueError):
    """A variable has another shape in the checkpoint than in the model."""


def session_config(context: EstimatorContext, strategy: Any = None) -> tf.compat.v1.ConfigProto:
    """The job's session configuration, with as many CPU devices as the strategy works on.

    A session makes its devices itself: logical CPU devices that were set up for eager code are not
    in it unless its `device_count` says so.
    """
    config = tf.compat.v1.ConfigProto()
    config.CopyFrom(context.session_config)
    if strategy is None:
        return config
    devices = [tf.DeviceSpec.from_string(d) for d in strategy.extended.worker_devices]
    cpus = [d.device_index for d in devices if d.device_type == "CPU"]
    config.device_count["CPU"] = max([config.device_count.get("CPU", 1), *(i + 1 for i in cpus)])
    config = strategy.update_config_proto(config)
    if is_multi_worker(strategy):
        # It would merge collectives, and not in the same way for the chief, whose graph does more:
        # each worker would wait for others than it should. On CPUs it gains nothing.
        rewrites = config.graph_options.rewrite_options
        rewrites.scoped_allocator_optimization = rewrites.OFF
    return config


def training_session(
    context: EstimatorContext,
    scaffold: tf.compat.v1.train.Scaffold,
    strategy: Any,
    hooks: Sequence[Hook],
) -> tf.compat.v1.train.MonitoredSession:
    """A session that trains the default graph from the latest checkpoint on.

    Args:
      context: The estimator that is trained.
      scaffold: The model's Scaffold.
      strategy: The strategy that the model was built under, or None.
      hooks: All hooks of the session.
    """
    graph = tf.compat.v1.get_default_graph()
    grace = _GRACE_OF_TAKERS_SECS if needs_other_workers(graph) else _STOP_GRACE_SECS
    with explained_restore(latest_checkpoint(context.model_dir), not scaffold.saver):
        creator = _session_creator(context, scaffold, strategy)
        return tf.compat.v1.train.MonitoredSession(creator, hooks, stop_grace_period_secs=grace)


def _session_creator(
    context: EstimatorContext, scaffold: tf.compat.v1.train.Scaffold, strategy: Any
) -> tf.compat.v1.train.SessionCreator:
    """What makes a training session: by initializing or restoring, or by waiting for the chief."""
    config, topology = context.config, context.topology
    settings = session_config(context, strategy)
    if config.mixed_precision:
        cast_in(settings, config.mixed_precision)
    creator: tf.compat.v1.train.SessionCreator
    # Synchronous workers have variables of their own each, and initialize or restore them.
    if config.is_chief or topology.is_synchronous:
        creator = tf.compat.v1.train.ChiefSessionCreator(
            scaffold, config.master, settings, checkpoint_dir=context.model_dir
        )
    else:
        creator = PromptSessionCreator(
            scaffold, config.master, settings, config.session_creation_timeout_secs
        )
    if topology.is_synchronous:
        return WaitForPeers(config, creator)
    return WaitForPs(config, creator) if topology.is_asynchronous else creator


def restored_session(
    graph: tf.Graph,
    scaffold: tf.compat.v1.train.Scaffold,
    config: tf.compat.v1.ConfigProto,
    checkpoint_path: str | None,
) -> tf.compat.v1.Session:
    """A raw session with a checkpoint's variables.

    Args:
      graph: The graph; final afterwards.
      scaffold: The model's Scaffold.
      config: Configuration of the session.
      checkpoint_path: The checkpoint, or None to initialize the variables.
    """
    with graph.as_default(), explained_restore(checkpoint_path, not scaffold.saver):
        creator = tf.compat.v1.train.ChiefSessionCreator(
            scaffold, config=config, checkpoint_filename_with_path=checkpoint_path
        )
        return creator.create_session()


@contextlib.contextmanager
def explained_restore(checkpoint_path: str | None, by_name: bool = True) -> Iterator[None]:
    """Within it a checkpoint is restored; where it does not fit, that names the variables.

    A restore takes a variable of another shape as it stands in the checkpoint, without a word, and
    programs go on so under tf.estimator: a warning says so, once for each misfit. Reference
    variables, those of TensorFlow 1, cannot take another shape.

    Args:
      checkpoint_path: The checkpoint that is restored, or None.
      by_name: Whether variables are restored by their own names. The saver of a user's Scaffold
        may restore them by others, so that shapes are not compared for one.

    Raises:
      CheckpointMisfitError: A reference variable of the default graph has another shape in the
        checkpoint.
      NotFoundError: A variable of the default graph is not in the checkpoint.
    """
    graph = tf.compat.v1.get_default_graph()
    saved = _saved_shapes(checkpoint_path)
    misshaped = _misshaped(graph, saved) if by_name else []
    if misshaped:
        misfits = [_misfit(variable, saved) for variable in misshaped] + _absent(graph, saved)
        if any(variable.op.type != "VarHandleOp" for variable in misshaped):
            advice = _advice(checkpoint_path, misfits)
            raise CheckpointMisfitError(None, None, f"{_MISFIT}\n\n{advice}")
        _warn_of(str(checkpoint_path), misfits)
    try:
        yield
    except tf.errors.NotFoundError as error:
        absent = _absent(graph, saved)
        if not absent:
            raise
        message = f"{_advice(checkpoint_path, absent)}\n{error.message}"
        raise type(error)(error.node_def, error.op, message) from error


def _warn_of(checkpoint_path: str, misfits: list[str]) -> None:
    place = os.path.dirname(checkpoint_path), *misfits
    if place not in _warned:
        _warned.add(place)
        _LOG.warning(
            "%s It goes on with the checkpoint's shapes, as under tf.estimator.",
            _advice(checkpoint_path, misfits),
        )


def _advice(checkpoint_path: str | None, misfits: list[str]) -> str:
    shown = "; ".join(misfits[:_NAMES_SHOWN])
    more = f"; and {len(misfits) - _NAMES_SHOWN} more" if len(misfits) > _NAMES_SHOWN else ""
    return (
        f"The checkpoint {checkpoint_path} does not fit the model: {shown}{more}. Use the model "
        "that wrote it, another model_dir, or warm_start_from to take over the variables that fit."
    )


def _saved_shapes(checkpoint_path: str | None) -> dict[str, list[int]]:
    """Shapes by variable name; empty where there is no checkpoint or it cannot be read.

    What cannot be read at all is left to the restore, whose own error says so.
    """
    if checkpoint_path is None:
        return {}
    try:
        return dict(tf.train.list_variables(checkpoint_path))
    except (tf.errors.OpError, ValueError):
        return {}


def _variables(graph: tf.Graph) -> list[tf.Variable]:
    """The graph's global variables, replicas' copies and slices of partitioned ones left out."""
    with graph.as_default():
        found = tf.compat.v1.global_variables()
    return [v for v in found if hasattr(v, "op") and not getattr(v, "_save_slice_info", None)]


def _misshaped(graph: tf.Graph, saved: dict[str, list[int]]) -> list[tf.Variable]:
    found = [v for v in _variables(graph) if v.op.name in saved]
    return [v for v in found if not v.shape.is_compatible_with(saved[v.op.name])]


def _misfit(variable: tf.Variable, saved: dict[str, list[int]]) -> str:
    name, shape = variable.op.name, variable.shape.as_list()
    return f"'{name}' has shape {saved[name]} in it and {shape} in the model"


def _absent(graph: tf.Graph, saved: dict[str, list[int]]) -> list[str]:
    if not saved:
        return []
    return [f"'{v.op.name}' is not in it" for v in _variables(graph) if v.op.name not in saved]
