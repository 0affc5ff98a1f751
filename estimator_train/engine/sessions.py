"""What every session of the engine needs: its configuration, and errors that name the variables."""

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from estimator_train.engine.job import Job

_NAMES_SHOWN = 10


def session_config(job: Job, strategy: Any = None) -> tf.compat.v1.ConfigProto:
    """The job's session configuration, with as many CPU devices as the strategy works on.

    A session makes its devices itself: logical CPU devices that were set up for eager code are not
    in it unless its `device_count` says so.
    """
    config = tf.compat.v1.ConfigProto()
    config.CopyFrom(job.config.session_config)
    if strategy is None:
        return config
    devices = [tf.DeviceSpec.from_string(d) for d in strategy.extended.worker_devices]
    cpus = [d.device_index for d in devices if d.device_type == "CPU"]
    config.device_count["CPU"] = max([config.device_count.get("CPU", 1), *(i + 1 for i in cpus)])
    return strategy.update_config_proto(config)


@contextlib.contextmanager
def explained_restore(checkpoint_path: str | None) -> Iterator[None]:
    """Adds to a failed restore which variables of the graph do not fit the checkpoint.

    Args:
      checkpoint_path: The checkpoint that is restored in this context, or None.
    """
    graph = tf.compat.v1.get_default_graph()
    try:
        yield
    except (tf.errors.NotFoundError, tf.errors.InvalidArgumentError) as error:
        misfits = _misfits(graph, checkpoint_path) if checkpoint_path else []
        if not misfits:
            raise
        shown = "; ".join(misfits[:_NAMES_SHOWN])
        more = f"; and {len(misfits) - _NAMES_SHOWN} more" if len(misfits) > _NAMES_SHOWN else ""
        raise type(error)(
            error.node_def,
            error.op,
            f"The checkpoint {checkpoint_path} does not fit the model: {shown}{more}. Use the "
            "model that wrote it, another model_dir, or warm_start_from to take over the "
            f"variables that fit.\n{error.message}",
        ) from error


def _misfits(graph: tf.Graph, checkpoint_path: str) -> list[str]:
    try:
        saved = dict(tf.train.list_variables(checkpoint_path))
    except (tf.errors.OpError, ValueError):
        return []  # Not readable at all: the restore's own error says so.
    with graph.as_default():
        variables = tf.compat.v1.global_variables() + tf.compat.v1.get_collection(
            tf.compat.v1.GraphKeys.SAVEABLE_OBJECTS
        )
    found = []
    for variable in variables:
        name = variable.name.split(":")[0]
        if name not in saved:
            found.append(f"'{name}' is not in it")
        elif isinstance(variable, tf.Variable) and not variable.shape.is_compatible_with(
            saved[name]
        ):
            found.append(
                f"'{name}' has shape {saved[name]} in it and {variable.shape.as_list()} in the "
                "model"
            )
    return found
