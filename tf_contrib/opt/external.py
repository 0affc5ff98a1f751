"""`ScipyOptimizerInterface`: SciPy minimizes a loss whose gradients TensorFlow computes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tf_contrib._types import Feeds, Session

_v1 = tf.compat.v1


class ExternalOptimizerInterface:
    """Base class of optimizers that call a function outside of the graph.

    Args:
      loss: Loss.
      var_list: Variables; by default all trainable variables.
      equalities: Tensors that must become zero.
      inequalities: Tensors that must become zero or positive.
      var_to_bounds: Pairs of bounds by variable.
      **optimizer_kwargs: Arguments of the external function.
    """

    def __init__(
        self,
        loss: tf.Tensor,
        var_list: Sequence[Any] | None = None,
        equalities: Sequence[Any] | None = None,
        inequalities: Sequence[Any] | None = None,
        var_to_bounds: Mapping[tf.Variable, Any] | None = None,
        **optimizer_kwargs: Any,
    ) -> None:
        self._loss = loss
        self._vars = list(var_list or _v1.trainable_variables())
        self._constraints = {"eq": list(equalities or ()), "ineq": list(inequalities or ())}
        self._bounds = _flatten_bounds(self._vars, var_to_bounds) if var_to_bounds else None
        self.optimizer_kwargs = optimizer_kwargs
        self._gradients = [
            self._compute_flat_gradient(t) for t in (loss, *self._list_constraints())
        ]
        self._holders = [_v1.placeholder(v.dtype.base_dtype, v.shape) for v in self._vars]
        assignments = [_v1.assign(v, h) for v, h in zip(self._vars, self._holders, strict=True)]
        self._assign = tf.group(*assignments)

    def minimize(
        self,
        session: Session | None = None,
        feed_dict: Feeds | None = None,
        fetches: Sequence[Any] | None = None,
        step_callback: Callable[..., Any] | None = None,
        loss_callback: Callable[..., Any] | None = None,
        **run_kwargs: Any,
    ) -> None:
        """Minimizes the loss and assigns the result to the variables.

        Args:
          session: Session; by default the default session.
          feed_dict: Feeds of the loss.
          fetches: Tensors whose values are the arguments of loss_callback.
          step_callback: Function to call after each step with all variables in one vector.
          loss_callback: Function to call at each evaluation of the loss.
          **run_kwargs: Further arguments of `session.run`.
        """
        session = session or _v1.get_default_session()

        def run_at(values: np.ndarray, tensors: Sequence[Any], more: Sequence[Any] = ()) -> Any:
            session.run(self._assign, self._create_feeds(values))
            return session.run([list(tensors), list(more)], feed_dict, **run_kwargs)

        def compute_loss_and_gradient(values: np.ndarray) -> tuple[float, np.ndarray]:
            solution, fetched = run_at(values, [self._loss, self._gradients[0]], fetches or ())
            if loss_callback is not None:
                loss_callback(*fetched)
            return float(solution[0]), np.asarray(solution[1], np.float64)

        constraints = []
        kinds = [kind for kind, tensors in self._constraints.items() for _ in tensors]
        for kind, tensor, gradient in zip(
            kinds, self._list_constraints(), self._gradients[1:], strict=True
        ):
            constraints.append(
                {
                    "type": kind,
                    "fun": lambda x, tensor=tensor: np.float64(run_at(x, [tensor])[0][0]),
                    "jac": lambda x, gradient=gradient: np.asarray(
                        run_at(x, [gradient])[0][0], np.float64
                    ),
                }
            )
        first = np.concatenate([v.ravel() for v in session.run(self._vars)]).astype(np.float64)
        solution = self._minimize(first, compute_loss_and_gradient, constraints, step_callback)
        session.run(self._assign, self._create_feeds(solution))

    def _minimize(
        self,
        first: np.ndarray,
        loss: Callable[..., Any],
        constraints: Sequence[Mapping[str, Any]],
        callback: Callable[[np.ndarray], Any] | None,
    ) -> np.ndarray:
        raise NotImplementedError("To be implemented by a class of an optimizer.")

    def _list_constraints(self) -> list[Any]:
        return [*self._constraints["eq"], *self._constraints["ineq"]]

    def _compute_flat_gradient(self, tensor: tf.Tensor) -> tf.Tensor:
        gradients = tf.gradients(tensor, self._vars)
        pairs = zip(gradients, self._vars, strict=True)
        return tf.concat(
            [tf.reshape(tf.zeros_like(v) if g is None else g, [-1]) for g, v in pairs], 0
        )

    def _create_feeds(self, values: np.ndarray) -> dict[Any, np.ndarray]:
        sizes = [int(np.prod(holder.shape.as_list())) for holder in self._holders]
        parts = np.split(np.asarray(values), np.cumsum(sizes)[:-1])
        return {
            holder: part.reshape(holder.shape.as_list())
            for holder, part in zip(self._holders, parts, strict=True)
        }


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """Optimizer that calls `scipy.optimize.minimize` and takes its keyword arguments."""

    def _minimize(
        self,
        first: np.ndarray,
        loss: Callable[..., Any],
        constraints: Sequence[Mapping[str, Any]],
        callback: Callable[[np.ndarray], Any] | None,
    ) -> np.ndarray:
        try:
            from scipy.optimize import minimize
        except ImportError as error:
            raise ImportError("ScipyOptimizerInterface needs SciPy: pip install scipy.") from error
        arguments = {"method": "SLSQP" if constraints else "L-BFGS-B", **self.optimizer_kwargs}
        limits = {"constraints": constraints, "bounds": self._bounds}
        return minimize(loss, first, jac=True, callback=callback, **limits, **arguments).x


def _flatten_bounds(
    variables: Sequence[Any], bounds: Mapping[tf.Variable, Any]
) -> list[tuple[Any, Any]]:
    flat_bounds: list[tuple[Any, Any]] = []
    for variable in variables:
        pair = next((pair for key, pair in bounds.items() if key is variable), (None, None))
        sides = [
            np.full(variable.shape.as_list(), default) if side is None else side
            for default, side in zip((-np.inf, np.inf), pair, strict=True)
        ]
        low, high = (np.broadcast_to(s, variable.shape.as_list()).ravel() for s in sides)
        flat_bounds += list(zip(low, high, strict=True))
    return flat_bounds
