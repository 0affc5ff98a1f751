"""A loss that is not a number stops training, and the error says where to look."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

_LOG = tf.get_logger()
_NAMES_SHOWN = 5
_APPLIES_GRADIENT = ("ResourceApply", "Apply", "ResourceSparseApply", "SparseApply")


class NanLossError(tf.compat.v1.train.NanLossDuringTrainingError):
    """NaN loss during training, with what was found in the model at that moment."""

    def __init__(self, findings: str) -> None:
        super().__init__(findings)
        self._findings = findings

    def __str__(self) -> str:
        return f"NaN loss during training. {self._findings}"


class NanLossHook(tf.compat.v1.train.NanTensorHook):
    """Stops training when the loss is NaN, with an error that names what is not finite.

    Args:
      loss: The loss, a scalar tensor.
      global_step: The global step, a variable.
      model_dir: Where the checkpoints are.
      settle: Waits for a checkpoint that is being written.
    """

    def __init__(
        self,
        loss: tf.Tensor,
        global_step: tf.Variable,
        model_dir: str,
        settle: Callable[[], None],
    ) -> None:
        super().__init__(loss)
        self._loss_tensor = loss
        self._global_step = global_step
        self._model_dir = model_dir
        self._settle = settle

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        """Keeps the session, in which a NaN is looked into."""
        del coord
        self._session = session

    def steps_until_due(self, global_step: int) -> None:
        """No step by itself: a loop ends at the first loss that is not finite."""

    def after_loop(self, steps: int, loss: Any) -> None:
        """Looks at the last loss of a loop."""
        self._check(loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Looks at the loss of a step."""
        self._check(run_values.results)

    def _check(self, loss: Any) -> None:
        if np.isnan(loss):
            _LOG.error("Model diverged with loss = NaN.")
            self._settle()
            raise NanLossError(self._findings())

    def _findings(self) -> str:
        graph = self._loss_tensor.graph
        variables = [(v.op.name, v) for v in graph.get_collection("variables") if hasattr(v, "op")]
        return (
            f"It came with global step {self._session.run(self._global_step)}. "
            f"Variables that are not finite: {self._not_finite(variables)}. Gradients that are not "
            f"finite on the next batch: {self._not_finite(_gradients(graph))}. Last checkpoint "
            f"with finite values: {_last_finite_checkpoint(self._model_dir)}. Common causes are a "
            "learning rate that is too high, a logarithm or a division of zero, and bad input."
        )

    def _not_finite(self, named: Sequence[tuple[str, Any]]) -> str:
        found = []
        for name, tensor in named:
            if tensor.dtype.base_dtype.is_floating and not self._is_finite(tensor):
                found.append(name)
            if len(found) > _NAMES_SHOWN:
                return ", ".join(found[:_NAMES_SHOWN]) + " and more"
        return ", ".join(found) or "none"

    def _is_finite(self, tensor: Any) -> bool:
        try:
            return bool(np.isfinite(self._session.run(tensor).astype(np.float64)).all())
        except tf.errors.OutOfRangeError:  # There is no next batch.
            return True


def _gradients(graph: tf.Graph) -> list[tuple[str, tf.Tensor]]:
    """Each variable's gradient, by the variable's name, as optimizers' operations take it."""
    found = []
    for operation in graph.get_operations():
        if operation.type.startswith(_APPLIES_GRADIENT):
            floats = [t for t in operation.inputs if t.dtype.is_floating and t.shape.rank != 0]
            if floats:
                found.append((operation.inputs[0].op.name, floats[-1]))
    return found


def _last_finite_checkpoint(model_dir: str) -> str:
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
