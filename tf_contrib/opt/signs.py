"""AdaMax, optimizers by signs of gradients, and clipping of variables."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import GradientsAndVariables, Optimizer, Step

_v1 = tf.compat.v1


class _RowRuleOptimizer(tf.compat.v1.train.Optimizer):
    """Base class of optimizers whose rule for a row reads the row's gradient and its slots."""

    _row_slots: tuple[str, ...] = ("m",)

    def _step(self, slots: Sequence[Any], gradient: Any) -> tuple[list[Any], Any]:
        """Returns the new slots and the change of the variable, which is subtracted from it."""
        raise NotImplementedError

    def _create_slots(self, var_list: Sequence[tf.Variable]) -> None:
        for variable in var_list:
            for name in self._row_slots:
                self._zeros_slot(variable, name, self._name)

    def _resource_apply_dense(self, grad: tf.Tensor, var: tf.Variable) -> tf.Operation:
        slots = self._get_slots(var)
        new_slots, change = self._step(slots, grad)
        return tf.group(*map(_v1.assign, slots, new_slots), _v1.assign_sub(var, change))

    def _apply_dense(self, grad: tf.Tensor, var: tf.Variable) -> tf.Operation:
        return self._resource_apply_dense(grad, var)

    def _resource_apply_sparse(
        self, grad: tf.Tensor, var: tf.Variable, indices: tf.Tensor
    ) -> tf.Operation:
        slots = self._get_slots(var)
        new_rows, change = self._step([tf.gather(slot, indices) for slot in slots], grad)
        updates = [
            _v1.scatter_update(slot, indices, rows)
            for slot, rows in zip(slots, new_rows, strict=True)
        ]
        return tf.group(*updates, _v1.scatter_sub(var, indices, change))

    def _apply_sparse(self, grad: tf.IndexedSlices, var: tf.Variable) -> tf.Operation:
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _get_slots(self, var: tf.Variable) -> list[Any]:
        return [self.get_slot(var, name) for name in self._row_slots]


class AdaMaxOptimizer(_RowRuleOptimizer, tf.compat.v1.train.AdamOptimizer):
    """Adam optimizer with the infinity norm (Kingma and Ba, 2014, section 7.1)."""

    _row_slots = ("m", "v")

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _create_slots(self, var_list: Sequence[tf.Variable]) -> None:
        first = min(var_list, key=lambda variable: variable.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", colocate_with=first)
        super()._create_slots(var_list)

    def _get_beta1_power(self) -> Any:
        return self._get_non_slot_variable("beta1_power", graph=tf.compat.v1.get_default_graph())

    def _step(self, slots: Sequence[Any], gradient: Any) -> tuple[list[Any], Any]:
        m, u = slots
        rate, beta1, beta2, epsilon, power = (
            tf.cast(tensor, gradient.dtype)
            for tensor in (
                self._lr_t,
                self._beta1_t,
                self._beta2_t,
                self._epsilon_t,
                self._get_beta1_power(),
            )
        )
        new_m = beta1 * m + (1 - beta1) * gradient
        new_u = tf.maximum(beta2 * u, tf.abs(gradient))
        return [new_m, new_u], rate / (1 - power) * new_m / (new_u + epsilon)

    def _finish(self, update_ops: Sequence[tf.Operation], name_scope: str) -> tf.Operation:
        with tf.control_dependencies(update_ops):
            power = self._get_beta1_power()
            updated = _v1.assign(power, power * self._beta1_t)
        return tf.group(*update_ops, updated, name=name_scope)


class _SignOptimizer(_RowRuleOptimizer):
    """Base class of optimizers that compare the signs of a gradient and of its moving average.

    See Bello et al., 2017, "Neural Optimizer Search with Reinforcement Learning".

    Args:
      learning_rate: Rate.
      beta: Decay of the moving average.
      sign_decay_fn: Maps the global step to a factor of the sign; None for 1.
      use_locking: Whether updates lock the variables.
      name: Name of the optimizer and its slots.
    """

    def __init__(
        self,
        learning_rate: float,
        beta: float,
        sign_decay_fn: Callable[[Step], Any] | None,
        use_locking: bool,
        name: str,
    ) -> None:
        super().__init__(use_locking, name)
        self._rate, self._beta, self._sign_decay_fn = learning_rate, beta, sign_decay_fn

    def _get_factor(self, agreement: Any) -> Any:
        """Returns the factor of the gradient; `agreement` is the decayed product of the signs."""
        raise NotImplementedError

    def _step(self, slots: Sequence[Any], gradient: Any) -> tuple[list[Any], Any]:
        (m,) = slots
        new_m = self._beta * m + (1 - self._beta) * gradient
        agreement = tf.sign(gradient) * tf.sign(new_m)
        if self._sign_decay_fn is not None:
            agreement *= tf.cast(self._sign_decay_fn(_v1.train.get_global_step()), gradient.dtype)
        return [new_m], self._rate * self._get_factor(agreement) * gradient


class PowerSignOptimizer(_SignOptimizer):
    """Optimizer with the factor `base ** (sign(gradient) * sign(average))`."""

    def __init__(
        self,
        learning_rate: float = 0.1,
        base: float = math.e,
        beta: float = 0.9,
        sign_decay_fn: Callable[[Step], Any] | None = None,
        use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ) -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._base = base

    def _get_factor(self, agreement: Any) -> Any:
        return tf.pow(tf.cast(self._base, agreement.dtype), agreement)


class AddSignOptimizer(_SignOptimizer):
    """Optimizer with the factor `alpha + sign(gradient) * sign(average)`."""

    def __init__(
        self,
        learning_rate: float = 0.1,
        alpha: float = 1.0,
        beta: float = 0.9,
        sign_decay_fn: Callable[[Step], Any] | None = None,
        use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ) -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha = alpha

    def _get_factor(self, agreement: Any) -> Any:
        return self._alpha + agreement


class VariableClippingOptimizer(tf.compat.v1.train.Optimizer):
    """Optimizer that limits the norms of variables after each step of another optimizer.

    Args:
      opt: The other optimizer.
      vars_to_clip_dims: Variable to the dimensions over which its norms are taken.
      max_norm: Largest norm.
      use_locking: Whether updates lock the variables.
      colocate_clip_ops_with_vars: Not used: clipping runs where TensorFlow places it.
      name: Name of the optimizer.
    """

    def __init__(
        self,
        opt: Optimizer,
        vars_to_clip_dims: Mapping[tf.Variable, Sequence[int]],
        max_norm: float,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ) -> None:
        super().__init__(use_locking, name)
        self._opt, self._max_norm = opt, max_norm
        # Variables of TensorFlow 2 have no hash.
        self._dims = [(id(variable), dims) for variable, dims in vars_to_clip_dims.items()]

    def compute_gradients(self, *arguments: Any, **named: Any) -> GradientsAndVariables:
        """Computes the gradients as the other optimizer does."""
        return self._opt.compute_gradients(*arguments, **named)

    def get_slot(self, *arguments: Any, **named: Any) -> Any:
        """Returns a slot of the other optimizer."""
        return self._opt.get_slot(*arguments, **named)

    def get_slot_names(self, *arguments: Any, **named: Any) -> Any:
        """Returns the names of the other optimizer's slots."""
        return self._opt.get_slot_names(*arguments, **named)

    def apply_gradients(
        self,
        grads_and_vars: GradientsAndVariables,
        global_step: tf.Variable | None = None,
        name: str | None = None,
    ) -> tf.Operation:
        """Applies gradients and limits the norms of the variables, or of the rows that changed."""
        with tf.name_scope(name or self.get_name()):
            updated = self._opt.apply_gradients(grads_and_vars, global_step)
            with tf.control_dependencies([updated]):
                clipped = [
                    self._clip(variable, gradient, dims)
                    for gradient, variable in grads_and_vars
                    for key, dims in self._dims
                    if key == id(variable)
                ]
            return tf.group(updated, *clipped)

    def _clip(self, variable: Any, gradient: Any, dims: Sequence[int]) -> tf.Operation:
        if isinstance(gradient, tf.IndexedSlices):
            rows, _ = tf.unique(gradient.indices)
            limited = tf.clip_by_norm(tf.gather(variable, rows), self._max_norm, list(dims))
            return _v1.scatter_update(variable, rows, limited)
        limited = tf.clip_by_norm(variable.read_value(), self._max_norm, list(dims))
        return _v1.assign(variable, limited)
