"""Averages of the variables that workers train on their own."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import GradientsAndVariables, Hook, Optimizer
from tf_contrib.opt.elastic_average import (
    InitializeHook,
    create_worker_variable,
)

_v1 = tf.compat.v1


class ModelAverageCustomGetter:
    """Getter of variables that gives each worker its own copy of the trainable variables.

    Args:
      worker_device: Device of the worker, such as "/job:worker/task:0".
    """

    def __init__(self, worker_device: str) -> None:
        self.worker_device = worker_device
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
        """Creates a local variable and its global average."""
        if not trainable:
            return getter(name, *args, trainable=trainable, collections=collections, **kwargs)
        local, average = create_worker_variable(getter, self.worker_device, name, *args, **kwargs)
        self._global[local.ref()] = average
        return local

    def get_average(self, variable: tf.Variable) -> tf.Variable:
        """Returns the global average of a variable."""
        return self._global[variable.ref()]


class ModelAverageOptimizer(tf.compat.v1.train.Optimizer):
    """Optimizer of a worker's own variables, which become the mean of all workers now and then.

    All workers must take the same number of steps: they wait for each other at each average. The
    global step counts the averages.

    Args:
      opt: Optimizer of the worker's variables.
      num_worker: Number of workers.
      is_chief: Whether this worker computes the averages.
      ma_custom_getter: Getter with which the model has created its variables.
      interval_steps: Steps between two averages.
      use_locking: Unused.
      name: Name of the operations.
    """

    def __init__(
        self,
        opt: Optimizer,
        num_worker: int,
        is_chief: bool,
        ma_custom_getter: ModelAverageCustomGetter,
        interval_steps: int = 100,
        use_locking: bool = True,
        name: str = "ModelAverageOptimizer",
    ) -> None:
        super().__init__(use_locking, name)
        self._opt, self._num_worker, self._is_chief = opt, num_worker, is_chief
        self._getter, self._interval = ma_custom_getter, interval_steps
        # replica_device_setter would place it on a parameter server, and workers would share it.
        with tf.device(ma_custom_getter.worker_device):
            self._local_step = _v1.Variable(
                0,
                name="local_step",
                trainable=False,
                collections=[_v1.GraphKeys.LOCAL_VARIABLES],
            )

    def compute_gradients(self, *args: Any, **kwargs: Any) -> GradientsAndVariables:
        """Returns the gradients of the wrapped optimizer."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: GradientsAndVariables,
        global_step: tf.Variable | None = None,
        name: str | None = None,
    ) -> tf.Operation:
        """Applies the gradients, and averages the variables when it is due.

        Raises:
          ValueError: There is no global step.
        """
        if global_step is None:
            raise ValueError("Global step is required")
        pairs = list(grads_and_vars)
        with tf.control_dependencies([self._opt.apply_gradients(pairs, name=name)]):
            step = tf.identity(_v1.assign_add(self._local_step, 1))
        variables = [one for _, one in pairs]
        return tf.cond(
            tf.equal(step % self._interval, 0),
            lambda: self._average(variables, global_step),
            tf.no_op,
        ).op

    def _average(self, variables: Sequence[tf.Variable], global_step: tf.Variable) -> tf.Operation:
        """Builds an average: each worker adds its variables and waits for the chief's token.

        The global step is the number of the average, the same for all workers until the last of
        them has added its variables.
        """
        number = global_step.read_value()
        is_odd = tf.equal(number % 2, 1)
        # The queues and the accumulators are those of the chief, next to the global averages. Two
        # queues take turns: in one, a fast worker could take the token of a slow one for the next.
        with tf.device(self._getter.get_average(variables[0]).device):
            odd, even = (
                _v1.FIFOQueue(-1, [tf.bool], [[]], shared_name=f"model_average_tokens_{name}")
                for name in ("odd", "even")
            )
        added, taken = [], []
        for one in variables:
            average = self._getter.get_average(one)
            with tf.device(average.device):
                sums = _v1.ConditionalAccumulator(
                    one.dtype.base_dtype, one.shape, shared_name=f"{average.op.name}/accumulator"
                )
            added.append(sums.apply_grad(one.read_value(), tf.cast(number, tf.int64)))
            if self._is_chief:
                taken.append(_v1.assign(average, sums.take_grad(self._num_worker)))
        if self._is_chief:
            with tf.control_dependencies([*taken, is_odd]):
                counted = _v1.assign_add(global_step, 1)
            with tf.control_dependencies([counted]):
                tokens = [tf.fill([self._num_worker], True)]
                add_tokens = [functools.partial(one.enqueue_many, tokens) for one in (odd, even)]
                added.append(tf.cond(is_odd, *add_tokens))
        with tf.control_dependencies(added):
            token = tf.cond(is_odd, odd.dequeue, even.dequeue)
        with tf.control_dependencies([token]):
            return tf.group(
                *[_v1.assign(one, self._getter.get_average(one).read_value()) for one in variables]
            )

    def get_init_op(self) -> tf.Operation:
        """Returns the operation that sets a worker's variables to the global averages."""
        return tf.group(
            *[_v1.assign(one, self._getter.get_average(one)) for one in _v1.trainable_variables()]
        )

    def make_session_run_hook(self) -> Hook:
        """Returns the hook that sets the worker's variables before the first step."""
        return InitializeHook(self.get_init_op())
