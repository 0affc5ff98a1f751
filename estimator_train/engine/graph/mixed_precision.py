"""Mixed precision: products and convolutions of training in 16 bits, variables in 32.

TensorFlow's graph optimizer adds casts to operations by its own lists, in every model, in loops and
outside them. bfloat16 works on CPUs (with oneDNN), float16 on GPUs. (The float16 pass for CPUs
crashes on CPUs without float16 arithmetic.)

float16 has a small range: gradients of the loss times a scale do not vanish, and are divided by the
scale, for optimizers of tf.compat.v1.train. If a gradient is not finite, only the global step
changes and the scale is halved; after many finite steps it doubles. Checkpoints hold the scale and
the count of finite steps.
"""

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import tensorflow as tf

_LOG = tf.get_logger()
_Optimizer = tf.compat.v1.train.Optimizer
_FIRST_SCALE = 2.0**15
_GREATEST_SCALE = 2.0**24
_GOOD_STEPS_TO_GROW = 2000
_replacing = threading.Lock()


def enable_casts(config: tf.compat.v1.ConfigProto, precision: str) -> None:
    """Makes a session's graph optimizer add casts to the graph.

    Args:
      config: The session's configuration.
      precision: "bfloat16" or "float16".
    """
    rewrites = config.graph_options.rewrite_options
    on_gpus = bool(tf.config.list_physical_devices("GPU"))
    if precision == "float16" and on_gpus:
        rewrites.auto_mixed_precision = rewrites.ON
    elif precision == "bfloat16" and not on_gpus:
        rewrites.auto_mixed_precision_onednn_bfloat16 = rewrites.ON
    else:
        place = "a GPU" if on_gpus else "a CPU"
        _LOG.warning("On %s training computes in float32, not in %s.", place, precision)


@contextlib.contextmanager
def scale_losses() -> Iterator[None]:
    """Makes all optimizers of tf.compat.v1.train in the context scale their losses.

    This replaces the two methods of their base class that every training calls. All optimizers of
    a model, on all replicas, are made inside one context and share a scale. Logs a warning if
    there is no such optimizer.
    """
    scales: dict[int, _LossScale] = {}  # By thread: each replica runs in its own.

    def find_scale() -> _LossScale:
        thread = threading.get_ident()
        if thread not in scales:
            scales[thread] = _LossScale()
        return scales[thread]

    with _replacing:
        compute, apply = _Optimizer.compute_gradients, _Optimizer.apply_gradients

        def compute_scaled(optimizer: Any, loss: tf.Tensor, *args: Any, **kwargs: Any) -> Any:
            scale = find_scale().value
            pairs = compute(optimizer, loss * tf.cast(scale, loss.dtype), *args, **kwargs)
            return [(_divide(gradient, scale), variable) for gradient, variable in pairs]

        def apply_if_finite(
            optimizer: Any, grads_and_vars: Any, global_step: Any = None, name: str | None = None
        ) -> tf.Operation:
            return find_scale().apply(optimizer, apply, grads_and_vars, global_step, name)

        _Optimizer.compute_gradients = compute_scaled
        _Optimizer.apply_gradients = apply_if_finite
        try:
            yield
        finally:
            _Optimizer.compute_gradients, _Optimizer.apply_gradients = compute, apply
    if not scales:
        _LOG.warning(
            "mixed_precision='float16' scales the losses of optimizers of tf.compat.v1.train, and "
            "the model has none of these: wrap a Keras optimizer in a "
            "tf_keras.mixed_precision.LossScaleOptimizer."
        )


class _LossScale:
    """Scale of the loss and number of steps since it last changed.

    Attributes:
      value: The scale of this step, a float32 scalar.
    """

    def __init__(self) -> None:
        with tf.compat.v1.variable_scope("loss_scale", reuse=tf.compat.v1.AUTO_REUSE):
            self._scale = _create_variable("current", tf.float32, _FIRST_SCALE)
            self._good_steps = _create_variable("good_steps", tf.int64, 0)
        self.value = tf.identity(self._scale)

    def apply(
        self,
        optimizer: Any,
        apply: Callable[..., tf.Operation],
        grads_and_vars: Iterable[tuple[Any, tf.Variable]],
        global_step: tf.Variable | None,
        name: str | None,
    ) -> tf.Operation:
        """Applies gradients if they are finite on all replicas, and adapts the scale."""
        pairs = [(grad, variable) for grad, variable in grads_and_vars if grad is not None]
        variables = [variable for _, variable in pairs]

        def apply_on_all_replicas(
            strategy: tf.distribute.Strategy, gradients: list[Any]
        ) -> tf.Operation:
            finite = _are_all_finite(strategy, gradients)

            def apply_on_one(own: list[Any]) -> tf.Operation:
                return apply(optimizer, list(zip(own, variables, strict=True)), name=name)

            def apply_on_each() -> tf.Tensor:
                done = strategy.extended.call_for_each_replica(apply_on_one, args=(gradients,))
                with tf.control_dependencies(strategy.experimental_local_results(done)):
                    return tf.constant(True)

            # Slots that are made inside the condition could not be used outside.
            optimizer._create_slots(variables)
            changed = tf.cond(finite, apply_on_each, lambda: tf.constant(False))
            with tf.control_dependencies([changed]):
                updates = self._adapt(strategy, finite)
                if global_step is not None:
                    updates.append(_update(strategy, global_step, lambda step: step + 1))
            return tf.group(*updates)

        replica = tf.distribute.get_replica_context()
        return replica.merge_call(apply_on_all_replicas, args=([grad for grad, _ in pairs],))

    def _adapt(self, strategy: tf.distribute.Strategy, finite: tf.Tensor) -> list[tf.Operation]:
        good = tf.where(finite, self._good_steps + 1, 0)
        grow = good >= _GOOD_STEPS_TO_GROW
        scale = tf.identity(self._scale)
        larger = tf.where(grow, tf.minimum(2 * scale, _GREATEST_SCALE), scale)
        scale = tf.where(finite, larger, tf.maximum(scale / 2, 1.0))
        good = tf.where(grow, tf.zeros_like(good), good)
        with tf.control_dependencies([scale, good]):
            return [
                _update(strategy, self._scale, lambda _: scale),
                _update(strategy, self._good_steps, lambda _: good),
            ]


def _create_variable(name: str, dtype: tf.DType, value: float) -> tf.Variable:
    return tf.compat.v1.get_variable(
        name,
        [],
        dtype,
        tf.compat.v1.constant_initializer(value, dtype),
        trainable=False,
        use_resource=True,
        aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
    )


def _update(
    strategy: tf.distribute.Strategy, variable: tf.Variable, value: Callable[[Any], Any]
) -> tf.Operation:
    return tf.group(strategy.extended.update(variable, lambda own: own.assign(value(own))))


def _are_all_finite(strategy: tf.distribute.Strategy, gradients: list[Any]) -> tf.Tensor:
    found = [
        tf.reduce_all(tf.math.is_finite(_take_values(part)))
        for gradient in gradients
        for part in strategy.experimental_local_results(gradient)
    ]
    return tf.reduce_all(found)


def _take_values(gradient: Any) -> tf.Tensor:
    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient


def _divide(gradient: Any, scale: tf.Tensor) -> Any:
    if gradient is None:
        return None
    values = _take_values(gradient)
    values = values / tf.cast(scale, values.dtype)
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return values
