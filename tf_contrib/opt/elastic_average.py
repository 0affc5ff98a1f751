"""Elastic averaging of workers (Zhang, Choromanska, LeCun: "Deep Learning with EASGD", 2015)."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import (
    GradientsAndVariables,
    Hook,
    Optimizer,
    Session,
)

_v1 = tf.compat.v1
_BETA = 0.9
_GLOBAL, _LOCAL_CENTER = "global_center_variable", "local_center_variable"


def create_worker_variable(
    getter: Callable[..., tf.Variable], device: str, name: str, *args: Any, **kwargs: Any
) -> tuple[tf.Variable, tf.Variable]:
    """Creates a trainable variable of a worker.

    Args:
      getter: Creates the variable.
      device: Device of the worker.
      name: Name of the variable.
      *args: Further arguments of the getter.
      **kwargs: Further arguments of the getter.

    Returns:
      The variable, and the global one with the same first value.
    """
    keys = _v1.GraphKeys
    with tf.device(device):
        local = getter(name, *args, trainable=True, collections=[keys.LOCAL_VARIABLES], **kwargs)
    shared = _v1.Variable(
        local.initial_value,
        name=f"{_GLOBAL}/{name}",
        trainable=False,
        collections=[keys.GLOBAL_VARIABLES],
    )
    return local, shared


class ElasticAverageCustomGetter:
    """Getter of variables that gives each worker its own copy of the trainable variables.

    Args:
      worker_device: Device of the worker, such as "/job:worker/task:0".
    """

    def __init__(self, worker_device: str) -> None:
        self._worker_device = worker_device
        self._local: dict[Any, Any] = {}
        self._global: dict[Any, Any] = {}

    def __call__(
        self,
        getter: Callable[..., tf.Variable],
        name: str,
        trainable: bool,
        collections: Sequence[str] | None,
        *args: Any,
        **kwargs: Any,
    ) -> tf.Variable:
        """Creates a local variable, its local center and its global center."""
        if not trainable:
            return getter(name, *args, trainable=trainable, collections=collections, **kwargs)
        local, shared = create_worker_variable(getter, self._worker_device, name, *args, **kwargs)
        with tf.device(self._worker_device):
            center = _v1.Variable(
                local.initial_value,
                name=f"{_LOCAL_CENTER}/{name}",
                trainable=False,
                collections=[_v1.GraphKeys.LOCAL_VARIABLES],
            )
        self._local[local.ref()], self._global[local.ref()] = center, shared
        return local

    def get_centers(self, variable: tf.Variable) -> tuple[tf.Variable, tf.Variable]:
        """Returns the local and the global center of a variable."""
        return self._local[variable.ref()], self._global[variable.ref()]


class ElasticAverageOptimizer(tf.compat.v1.train.Optimizer):
    """Optimizer of a worker's own variables, which it moves towards averages of all workers.

    A gradient also pulls each variable towards its local center. After communication_period steps
    the variable and its global center move towards each other, and the local center becomes the
    global center of before. The global step counts these exchanges.

    Args:
      opt: Optimizer of the worker's variables.
      num_worker: Number of workers.
      ea_custom_getter: Getter with which the model has created its variables.
      communication_period: Steps between two exchanges.
      moving_rate: Part of the distance by which an exchange moves; by default 0.9, divided by
        communication_period and num_worker.
      rho: Strength of the pull to the local center; by default moving_rate, divided by the learning
        rate of opt.
      use_locking: Unused.
      synchronous: Unused: workers do not wait for each other before the first step.
      name: Name of the operations.
    """

    BETA = _BETA

    def __init__(
        self,
        opt: Optimizer,
        num_worker: int,
        ea_custom_getter: ElasticAverageCustomGetter,
        communication_period: int = 10,
        moving_rate: float | None = None,
        rho: float | None = None,
        use_locking: bool = True,
        synchronous: bool = False,
        name: str = "ElasticAverageOptimizer",
    ) -> None:
        del synchronous
        super().__init__(use_locking, name)
        self._opt, self._getter, self._period = opt, ea_custom_getter, communication_period
        self._moving_rate = moving_rate or _BETA / communication_period / num_worker
        self._rho = self._moving_rate / opt._learning_rate if rho is None else rho
        self._local_step = _v1.Variable(
            0,
            name="local_step",
            trainable=False,
            collections=[_v1.GraphKeys.LOCAL_VARIABLES],
        )

    def compute_gradients(
        self,
        loss: tf.Tensor,
        var_list: Sequence[tf.Variable] | None = None,
        *arguments: Any,
        **named: Any,
    ) -> GradientsAndVariables:
        """Computes the gradients of the loss and of the pull to the local centers."""
        variables = var_list or _v1.trainable_variables()
        pulls = [
            tf.reduce_sum(tf.square(one - self._getter.get_centers(one)[0])) for one in variables
        ]
        total = loss + 0.5 * self._rho * tf.add_n(pulls)
        return self._opt.compute_gradients(total, variables, *arguments, **named)

    def apply_gradients(
        self,
        grads_and_vars: GradientsAndVariables,
        global_step: tf.Variable | None = None,
        name: str | None = None,
    ) -> tf.Operation:
        """Applies the gradients, and exchanges with the global centers when it is due."""
        pairs = list(grads_and_vars)
        with tf.control_dependencies([self._opt.apply_gradients(pairs, name=name)]):
            step = tf.identity(_v1.assign_add(self._local_step, 1))

        def exchange_all() -> tf.Operation:
            updates = [update for _, one in pairs for update in self._exchange(one)]
            if global_step is not None:
                updates.append(_v1.assign_add(global_step, 1))
            return tf.group(*updates)

        return tf.cond(tf.equal(step % self._period, 0), exchange_all, tf.no_op).op

    def _exchange(self, variable: tf.Variable) -> list[tf.Tensor]:
        local_center, center = self._getter.get_centers(variable)
        old = tf.identity(center)
        change = self._moving_rate * (variable - old)
        with tf.control_dependencies([change]):
            kept = _v1.assign(local_center, old)
        # `old` may share the memory of the center, which changes only after the copy.
        with tf.control_dependencies([kept]):
            return [kept, _v1.assign_sub(variable, change), _v1.assign_add(center, change)]

    def get_init_op(self, task_index: int) -> tf.Operation:
        """Returns the operation that sets a worker's variables to the global centers."""
        del task_index
        assignments = []
        for one in _v1.trainable_variables():
            local_center, center = self._getter.get_centers(one)
            assignments += [_v1.assign(one, center), _v1.assign(local_center, center)]
        return tf.group(*assignments)

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> Hook:
        """Returns the hook that sets the worker's variables before the first step."""
        del is_chief
        return InitializeHook(self.get_init_op(task_index))

    def swapping_saver(
        self,
        var_list: Sequence[tf.Variable] | None = None,
        name: str = "swapping_saver",
        **kwargs: Any,
    ) -> tf.compat.v1.train.Saver:
        """Creates a saver of the global centers, under the names of their variables."""
        variables = _v1.trainable_variables() if var_list is None else var_list
        by_name = {one.op.name: self._getter.get_centers(one)[1] for one in variables}
        return _v1.train.Saver(by_name, name=name, **kwargs)


class InitializeHook(tf.compat.v1.train.SessionRunHook):
    """Hook that runs an operation in each new session.

    Args:
      init_op: The operation.
    """

    def __init__(self, init_op: tf.Operation) -> None:
        self._init_op = init_op

    def after_create_session(self, session: Session, coord: tf.train.Coordinator) -> None:
        """Runs the operation."""
        del coord
        session.run(self._init_op)
