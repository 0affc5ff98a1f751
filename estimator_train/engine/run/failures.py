"""Failures of a training: loops that TensorFlow's runtime could not run, and losses that are NaN.

After the first, the session call that failed took batches from the input, and may have changed some
variables. No value of its session is used again: the model and its input are built again in another
graph, which runs single steps.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.engine.checkpoints.integrity import wait_for_writes
from estimator_train.engine.checkpoints.memory_copy import drop_interim_copy
from estimator_train.engine.job import Job
from estimator_train.engine.loops.graph_loop import LoopFailedError
from estimator_train.engine.types import Hook, HookPhase, PhasedHook
from estimator_train.estimator_spec import ModeKeys

_LOG = tf.get_logger()
_MAX_NAMES = 5
_APPLIES_GRADIENT = ("ResourceApply", "Apply", "ResourceSparseApply", "SparseApply")


def prepare_single_steps(job: Job, failure: LoopFailedError) -> list[Hook]:
    """Makes the next training of an Estimator run single steps, from the latest checkpoint.

    Args:
      job: The call of `train`.
      failure: The failure of the loop.

    Returns:
      Additional hooks for the training.
    """
    job.failed_loops.add(ModeKeys.TRAIN)
    wait_for_writes(job.model_dir)
    drop_interim_copy()
    _LOG.info(
        "Training starts again at the last checkpoint, with one step per session call: TensorFlow "
        "could not run a loop of steps: %s",
        failure,
    )
    if failure.first_step is None or job.config.save_input_position:
        return []
    return [SkipBatchesHook(failure.first_step)]


def prepare_single_batches(job: Job, failure: LoopFailedError) -> None:
    """Makes the next evaluation of an Estimator run single batches.

    Args:
      job: The call of `evaluate`.
      failure: The failure of the loop.
    """
    job.failed_loops.add(ModeKeys.EVAL)
    _LOG.info(
        "Evaluation starts again, with one batch per session call: TensorFlow could not run a loop "
        "of batches: %s",
        failure,
    )


class SkipBatchesHook(PhasedHook):
    """Hook that skips the batches of the steps from the start of a training to its checkpoint.

    Args:
      first_step: The global step at the start of the training.
    """

    phase = HookPhase.INPUT_POSITION

    def __init__(self, first_step: int) -> None:
        self._first_step: int | None = first_step

    def begin(self) -> None:
        """Finds the operation that reads a batch; the input of a strategy has none."""
        operations = tf.compat.v1.get_default_graph().get_operations()
        self._read = next((op for op in operations if op.type == "IteratorGetNext"), None)
        self._global_step = tf.compat.v1.train.get_global_step()

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Skips the batches in the first session."""
        del coord
        if self._first_step is not None and self._read is not None:
            for _ in range(session.run(self._global_step) - self._first_step):
                session.run(self._read)
        self._first_step = None


class NanLossError(tf.compat.v1.train.NanLossDuringTrainingError):
    """Error for a NaN loss, with the values in the model that are not finite."""

    def __init__(self, findings: str) -> None:
        super().__init__(findings)
        self._findings = findings

    def __str__(self) -> str:
        return f"NaN loss during training. {self._findings}"


def describe_not_finite(session: tf.compat.v1.Session, global_step: int, model_dir: str) -> str:
    """Returns a description of the values that are not finite in a model whose loss is NaN.

    Args:
      session: A raw session of the training.
      global_step: The global step now.
      model_dir: Directory of the checkpoints.
    """
    graph = session.graph
    variables = [(v.op.name, v) for v in graph.get_collection("variables") if hasattr(v, "op")]
    gradients = _list_gradients(graph)
    return (
        f"It came with global step {global_step}. "
        f"Variables that are not finite: {_find_not_finite(session, variables)}. "
        f"Gradients that are not finite on the next batch: {_find_not_finite(session, gradients)}. "
        "Last checkpoint with finite values: "
        f"{_find_last_finite_checkpoint(model_dir)}. Common causes are a "
        "learning rate that is too high, a logarithm or a division of zero, and bad input."
    )


def _find_not_finite(session: tf.compat.v1.Session, named: Sequence[tuple[str, Any]]) -> str:
    found = []
    for name, tensor in named:
        if tensor.dtype.base_dtype.is_floating and not _is_finite(session, tensor):
            found.append(name)
        if len(found) > _MAX_NAMES:
            return ", ".join(found[:_MAX_NAMES]) + " and more"
    return ", ".join(found) or "none"


def _is_finite(session: tf.compat.v1.Session, tensor: Any) -> bool:
    try:
        return bool(np.isfinite(session.run(tensor).astype(np.float64)).all())
    except tf.errors.OutOfRangeError:  # The input has ended.
        return True


def _list_gradients(graph: tf.Graph) -> list[tuple[str, tf.Tensor]]:
    """Returns variable names and gradients, found at the operations of optimizers."""
    found = []
    for operation in graph.get_operations():
        if operation.type.startswith(_APPLIES_GRADIENT):
            floats = [t for t in operation.inputs if t.dtype.is_floating and t.shape.rank != 0]
            if floats:
                found.append((operation.inputs[0].op.name, floats[-1]))
    return found


def _find_last_finite_checkpoint(model_dir: str) -> str:
    state = tf.train.get_checkpoint_state(model_dir)
    for path in reversed(state.all_model_checkpoint_paths if state else []):
        try:
            reader = tf.train.load_checkpoint(path)
            names = reader.get_variable_to_dtype_map().items()
            values = (reader.get_tensor(name) for name, dtype in names if dtype.is_floating)
            if all(np.isfinite(value.astype(np.float64)).all() for value in values):
                return path
        except (tf.errors.OpError, ValueError, RuntimeError):
            continue
    return "none"
