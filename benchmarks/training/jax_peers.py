"""Speed of JAX: Keras 3 `fit` on arrays in memory, and a compiled loop of steps by hand."""

import os
import time
from collections.abc import Callable
from typing import Any

from benchmarks.meters import make_epoch_clock
from benchmarks.picture_job import CLASSES, PictureJob
from benchmarks.training.model import WARM_UP, WINDOWS, compute_steady_rate

_STEPS_PER_EXECUTION, _STEPS_PER_CALL = 64, 100
_RATE, _FIRST_DECAY, _SECOND_DECAY, _EPSILON = 1e-3, 0.9, 0.999, 1e-7


def train_by_keras_3(job: PictureJob, examples: int, quick: bool) -> float:
    """Returns the steps per second of `fit` of Keras 3 with the JAX backend."""
    os.environ["KERAS_BACKEND"] = "jax"
    import keras

    window = examples // job.batch
    epochs = WARM_UP + 1 + (1 if quick else job.steps // window)
    marks, clock = make_epoch_clock(keras, window)
    model = job.model(keras, steps_per_execution=1 if quick else _STEPS_PER_EXECUTION)
    x, y = job.pictures(examples)
    model.fit(x, y, batch_size=job.batch, epochs=epochs, callbacks=[clock], verbose=0)
    return compute_steady_rate(marks, window)


def train_by_scan(job: PictureJob, widths: tuple[int, ...], examples: int, quick: bool) -> float:
    """Returns the steps per second of `jax.jit` of a `lax.scan` over 100 steps.

    Args:
      job: The job, a model of dense layers.
      widths: Numbers of units of its hidden layers, with ReLU.
      examples: Number of pictures.
      quick: Whether only to try the code.
    """
    import jax
    import numpy as np

    x, y = job.pictures(examples)
    random = np.random.RandomState(0)
    sizes = [x[0].size, *widths, CLASSES]
    weights = [
        (random.standard_normal(shape) / shape[0] ** 0.5).astype(np.float32)
        for shape in zip(sizes, sizes[1:], strict=False)
    ]
    biases = [np.zeros(size, np.float32) for size in sizes[1:]]
    state = _start_adam((weights, biases))
    train = jax.jit(_make_loop(x.reshape(examples, -1), y))
    window = _STEPS_PER_CALL if quick else job.steps // WINDOWS
    marks = []
    for index in range(WINDOWS):
        for _ in range(window // _STEPS_PER_CALL):
            rows = random.randint(0, examples, [_STEPS_PER_CALL, job.batch])
            state, values = train(state, rows)
        values[-1].block_until_ready()
        marks.append(((index + 1) * window, time.time()))
    return compute_steady_rate(marks, window)


def _start_adam(parameters: Any) -> Any:
    """Returns the step, the parameters and both moments of Adam."""
    import jax
    import numpy as np

    zeros = jax.tree_util.tree_map(np.zeros_like, parameters)
    return np.float32(0), parameters, zeros, zeros


def _make_loop(x: Any, y: Any) -> Callable[[Any, Any], Any]:
    """Returns a function from the state and the row numbers of all batches to both after them."""
    import jax
    from jax import numpy as jnp

    data, classes = jnp.asarray(x), jnp.asarray(y)

    def compute_loss(parameters: Any, rows: Any) -> Any:
        *hidden, last = zip(*parameters, strict=True)
        values = data[rows]
        for weights, bias in hidden:
            values = jax.nn.relu(values @ weights + bias)
        logits = jax.nn.log_softmax(values @ last[0] + last[1])
        return -jnp.mean(jnp.take_along_axis(logits, classes[rows][:, None], 1))

    def step(state: Any, rows: Any) -> Any:
        count, parameters, first, second = state
        loss, gradients = jax.value_and_grad(compute_loss)(parameters, rows)
        count = count + 1
        rate = _RATE * jnp.sqrt(1 - _SECOND_DECAY**count) / (1 - _FIRST_DECAY**count)
        over_all = jax.tree_util.tree_map
        first = over_all(lambda m, g: _FIRST_DECAY * m + (1 - _FIRST_DECAY) * g, first, gradients)
        second = over_all(
            lambda v, g: _SECOND_DECAY * v + (1 - _SECOND_DECAY) * g * g, second, gradients
        )
        parameters = over_all(
            lambda p, m, v: p - rate * m / (jnp.sqrt(v) + _EPSILON), parameters, first, second
        )
        return (count, parameters, first, second), loss

    return lambda state, rows: jax.lax.scan(step, state, rows)
