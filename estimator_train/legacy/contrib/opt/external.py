"""`ScipyOptimizerInterface`: SciPy minimizes, TensorFlow computes loss and gradients."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

_v1 = tf.compat.v1


class ExternalOptimizerInterface:
    """Minimizes a loss by a function outside of the graph.

    Args:
      loss: The loss.
      var_list: The variables; by default all that can be trained.
      equalities: Tensors that are to become zero.
      inequalities: Tensors that are to become zero or more.
      var_to_bounds: Variables to pairs of their bounds.
      **optimizer_kwargs: Arguments of the function outside.
    """

    def __init__(
        self,
        loss: Any,
        var_list: Sequence[Any] | None = None,
        equalities: Sequence[Any] | None = None,
        inequalities: Sequence[Any] | None = None,
        var_to_bounds: Any = None,
        **optimizer_kwargs: Any,
    ) -> None:
        self._loss = loss
        self._vars = list(var_list or _v1.trainable_variables())
        self._constraints = {"eq": list(equalities or ()), "ineq": list(inequalities or ())}
        self._bounds = _flat_bounds(self._vars, var_to_bounds) if var_to_bounds else None
        self.optimizer_kwargs = optimizer_kwargs
        self._gradients = [self._gradient(t) for t in (loss, *self._all_constraints())]
        self._holders = [_v1.placeholder(v.dtype.base_dtype, v.shape) for v in self._vars]
        assigned = [_v1.assign(v, h) for v, h in zip(self._vars, self._holders, strict=True)]
        self._assign = tf.group(*assigned)

    def minimize(
        self,
        session: Any = None,
        feed_dict: Any = None,
        fetches: Sequence[Any] | None = None,
        step_callback: Callable[..., Any] | None = None,
        loss_callback: Callable[..., Any] | None = None,
        **run_kwargs: Any,
    ) -> None:
        """Minimizes, and leaves the variables with what was found.

        Args:
          session: The session; by default the default one.
          feed_dict: What the loss is fed.
          fetches: Tensors whose values loss_callback gets.
          step_callback: Called with all variables, flat, after each step.
          loss_callback: Called with the values of fetches at each loss.
          **run_kwargs: Further arguments of `session.run`.
        """
        session = session or _v1.get_default_session()

        def at(values: np.ndarray, tensors: Sequence[Any], more: Sequence[Any] = ()) -> Any:
            session.run(self._assign, self._fed(values))
            return session.run([list(tensors), list(more)], feed_dict, **run_kwargs)

        def loss_and_gradient(values: np.ndarray) -> tuple[float, np.ndarray]:
            found, fetched = at(values, [self._loss, self._gradients[0]], fetches or ())
            if loss_callback is not None:
                loss_callback(*fetched)
            return float(found[0]), np.asarray(found[1], np.float64)

        constraints = []
        kinds = [kind for kind, tensors in self._constraints.items() for _ in tensors]
        for kind, tensor, gradient in zip(
            kinds, self._all_constraints(), self._gradients[1:], strict=True
        ):
            constraints.append(
                {
                    "type": kind,
                    "fun": lambda x, tensor=tensor: np.float64(at(x, [tensor])[0][0]),
                    "jac": lambda x, gradient=gradient: np.asarray(
                        at(x, [gradient])[0][0], np.float64
                    ),
                }
            )
        first = np.concatenate([v.ravel() for v in session.run(self._vars)]).astype(np.float64)
        found = self._minimize(first, loss_and_gradient, constraints, step_callback)
        session.run(self._assign, self._fed(found))

    def _minimize(self, first: Any, loss: Any, constraints: Any, callback: Any) -> np.ndarray:
        raise NotImplementedError("To be implemented by a class of an optimizer.")

    def _all_constraints(self) -> list[Any]:
        return [*self._constraints["eq"], *self._constraints["ineq"]]

    def _gradient(self, tensor: Any) -> tf.Tensor:
        found = tf.gradients(tensor, self._vars)
        pairs = zip(found, self._vars, strict=True)
        return tf.concat(
            [tf.reshape(tf.zeros_like(v) if g is None else g, [-1]) for g, v in pairs], 0
        )

    def _fed(self, values: np.ndarray) -> dict[Any, np.ndarray]:
        sizes = [int(np.prod(holder.shape.as_list())) for holder in self._holders]
        parts = np.split(np.asarray(values), np.cumsum(sizes)[:-1])
        return {
            holder: part.reshape(holder.shape.as_list())
            for holder, part in zip(self._holders, parts, strict=True)
        }


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """Minimizes by `scipy.optimize.minimize`; its keyword arguments, as `method`, are taken."""

    def _minimize(self, first: Any, loss: Any, constraints: Any, callback: Any) -> np.ndarray:
        try:
            from scipy.optimize import minimize
        except ImportError as error:
            raise ImportError("ScipyOptimizerInterface needs SciPy: pip install scipy.") from error
        given = {"method": "SLSQP" if constraints else "L-BFGS-B", **self.optimizer_kwargs}
        limits = {"constraints": constraints, "bounds": self._bounds}
        return minimize(loss, first, jac=True, callback=callback, **limits, **given).x


def _flat_bounds(variables: Sequence[Any], bounds: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    for variable in variables:
        pair = next((pair for key, pair in bounds.items() if key is variable), (None, None))
        sides = [
            np.full(variable.shape.as_list(), none) if side is None else side
            for none, side in zip((-np.inf, np.inf), pair, strict=True)
        ]
        low, high = (np.broadcast_to(s, variable.shape.as_list()).ravel() for s in sides)
        found += list(zip(low, high, strict=True))
    return found
