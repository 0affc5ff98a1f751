"""Training steps per second of models of both Keras, with Adam and accuracy, on 8,192 pictures."""

import dataclasses
import tempfile
import time
from functools import partial
from typing import Any

from benchmarks.apis import APIS, KERAS_3, Apis
from benchmarks.benchmark import JAX_FIT, JAX_SCAN, ORIGINAL, OURS, Benchmark
from benchmarks.picture_job import CONVNET, LINEAR, MLP, PictureJob
from benchmarks.training.estimators import read_marks
from benchmarks.training.jax_peers import train_by_keras_3, train_by_scan
from benchmarks.training.keras_fit import measure_fit
from benchmarks.training.model import WINDOWS, compute_steady_rate

LOOP, FIT = "tf.function loop of 100 steps", "fit(steps_per_execution=100)"
_EXAMPLES = 8192
_STEPS_PER_CALL = 100


def _window_steps(job: PictureJob, quick: bool) -> int:
    return 2 if quick else job.steps // WINDOWS


def _train_by_estimator(job: PictureJob, apis: Apis, quick: bool, **settings: Any) -> float:
    window, data = _window_steps(job, quick), job.pictures(_EXAMPLES)
    with tempfile.TemporaryDirectory() as model_dir:
        settings["log_step_count_steps"] = min(window, 100)
        estimator = job.estimator(apis, model_dir, **settings)
        # The first event is written `window` steps after the first step.
        estimator.train(lambda: job.training_input(*data), steps=window * WINDOWS + 1)
        return compute_steady_rate(read_marks(model_dir), window)


def _train_by_fit(job: PictureJob, apis: Apis, quick: bool) -> float:
    window = _window_steps(job, quick)
    model = job.model(apis.keras, steps_per_execution=min(window, _STEPS_PER_CALL))
    return measure_fit(apis.keras, model, job.training_input(*job.pictures(_EXAMPLES)), window)


def _train_by_function(job: PictureJob, quick: bool) -> float:
    import tensorflow as tf
    import tf_keras

    window = _window_steps(job, quick)
    steps_per_call = min(window, _STEPS_PER_CALL)
    model, optimizer = job.model(tf_keras), tf_keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    loss = tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    batches = iter(job.training_input(*job.pictures(_EXAMPLES)))

    @tf.function
    def train(iterator: Any) -> None:
        for _ in tf.range(steps_per_call):
            x, y = next(iterator)
            with tf.GradientTape() as tape:
                value = loss(y, model(x, training=True))
            gradients = tape.gradient(value, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    marks = []
    for index in range(WINDOWS):
        for _ in range(window // steps_per_call):
            train(batches)
        marks.append(((index + 1) * window, time.time()))
    return compute_steady_rate(marks, window)


def _benchmark(name: str, job: PictureJob, **goals: float) -> Benchmark:
    return Benchmark(
        name,
        f"train: {job.name} by model_to_estimator, Adam, accuracy, batch {job.batch}",
        "steps/s",
        {
            OURS: partial(_train_by_estimator, job, APIS[OURS]),
            ORIGINAL: partial(_train_by_estimator, job, APIS[ORIGINAL]),
            LOOP: partial(_train_by_function, job),
            FIT: partial(_train_by_fit, job, APIS[OURS]),
        },
        goals={ORIGINAL: goals["original"], LOOP: goals["loop"], FIT: goals["fit"]},
    )


def _add_jax(
    benchmark: Benchmark, job: PictureJob, widths: tuple[int, ...], fit: float
) -> Benchmark:
    """Returns a benchmark of dense layers with the peers of JAX, and the goal of `JAX_FIT`."""
    peers = {
        JAX_FIT: partial(train_by_keras_3, job, _EXAMPLES),
        JAX_SCAN: partial(train_by_scan, job, widths, _EXAMPLES),
    }
    return dataclasses.replace(
        benchmark,
        peers={**benchmark.peers, **peers},
        goals={**benchmark.goals, JAX_FIT: fit, JAX_SCAN: 0.7},
    )


def _add_xla(benchmark: Benchmark, job: PictureJob) -> tuple[Benchmark, Benchmark]:
    """Returns a benchmark of dense layers, and the same with steps that XLA compiles."""
    peers = {peer: benchmark.peers[peer] for peer in (ORIGINAL, JAX_FIT, JAX_SCAN)}
    compiled = dataclasses.replace(
        benchmark,
        name=f"{benchmark.name}_xla",
        title=f'{benchmark.title}, RunConfig(xla="auto")',
        peers={OURS: partial(_train_by_estimator, job, APIS[OURS], xla="auto"), **peers},
        goals={peer: benchmark.goals[peer] for peer in peers},
    )
    return benchmark, compiled


def _keras_3_benchmark(name: str, job: PictureJob) -> Benchmark:
    return Benchmark(
        name,
        f"train: {job.name} of Keras 3 by model_to_estimator, Adam, accuracy, batch {job.batch}",
        "steps/s",
        {
            OURS: partial(_train_by_estimator, job, KERAS_3),
            FIT: partial(_train_by_fit, job, KERAS_3),
        },
        goals={FIT: 1.0},
    )


_LINEAR = _benchmark("keras_linear", LINEAR, original=4.0, loop=0.95, fit=1.1)
_MLP = _benchmark("keras_mlp", MLP, original=3.5, loop=0.95, fit=1.1)
BENCHMARKS = (
    *_add_xla(_add_jax(_LINEAR, LINEAR, (), 1.1), LINEAR),
    *_add_xla(_add_jax(_MLP, MLP, (64,), 1.2), MLP),
    _benchmark("keras_convnet", CONVNET, original=1.05, loop=0.98, fit=1.05),
    _keras_3_benchmark("keras_3_linear", LINEAR),
    _keras_3_benchmark("keras_3_mlp", MLP),
    _keras_3_benchmark("keras_3_convnet", CONVNET),
)
