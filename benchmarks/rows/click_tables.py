"""The click model trained from Parquet, and its predictions of a Parquet file."""

import os
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.apis import APIS
from benchmarks.benchmark import ORIGINAL, OURS, TORCH, Benchmark
from benchmarks.click_job import BATCH, CROSS, EMBEDDING, FEATURES, HIDDEN, ClickJob
from benchmarks.meters import make_step_clock, read_peak_memory
from benchmarks.training.torch_peer import train_by_torch

_IDS, _QUICK_IDS = 500_000, 1000
_STEPS, _WINDOW = 500, 100
_PREDICT_IDS, _PREDICT_BATCH, _PREDICTED = 50_000, 4096, 1_000_000
_LOOP = "a loop with the predictor"
_KERAS = "Keras 3 fit, datasets.to_tf_dataset"


def _make_job(quick: bool) -> ClickJob:
    return ClickJob(_QUICK_IDS if quick else _IDS)


def _train(api_name: str, quick: bool) -> float:
    """Returns the steps per second of an Estimator, from Parquet or the original's TFRecords."""
    job, clock = _make_job(quick), make_step_clock()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as model_dir:
        if api_name == OURS:
            job.write_parquet(Path(folder))
        else:
            job.write_records(Path(folder))
        read = job.parquet_input if api_name == OURS else job.records_input
        estimator = job.estimator(APIS[api_name].estimator, model_dir)
        steps = 10 if quick else _STEPS
        estimator.train(lambda: read(Path(folder)), hooks=[clock], steps=steps)
    return (steps - 1) / (clock.last - clock.first)


def _train_torch(quick: bool) -> float:
    job = _make_job(quick)
    with tempfile.TemporaryDirectory() as folder:
        job.write_parquet(Path(folder))
        return train_by_torch(job, Path(folder), 10 if quick else _STEPS)


def _train_keras(quick: bool) -> float:
    """Returns the steps per second of Keras 3 with the table of Hugging Face's datasets."""
    os.environ["KERAS_BACKEND"] = "tensorflow"
    import datasets
    import keras

    job = _make_job(quick)
    with tempfile.TemporaryDirectory() as folder:
        job.write_parquet(Path(folder))
        table = datasets.Dataset.from_parquet(f"{folder}/rows.parquet", cache_dir=folder)
        names = [f"c{number}" for number in range(FEATURES)]
        batches = table.to_tf_dataset(
            BATCH, columns=names, label_cols="click", shuffle=True, drop_remainder=True
        )
        marks: list[float] = []
        clock = keras.callbacks.LambdaCallback(
            on_epoch_end=lambda epoch, logs: marks.append(time.perf_counter())
        )
        window, epochs = (2, 2) if quick else (_WINDOW, 4)
        model = _make_keras_model(job, names)
        model.fit(
            batches.repeat(), epochs=epochs, steps_per_epoch=window, callbacks=[clock], verbose=0
        )
    return window * (epochs - 1) / (marks[-1] - marks[0])


def _make_keras_model(job: ClickJob, names: list[str]) -> Any:
    import keras

    inputs = {name: keras.Input([], dtype="int64", name=name) for name in names}
    crossed = keras.layers.HashedCrossing(CROSS)((inputs["c0"], inputs["c1"]))
    wide = [keras.layers.Embedding(job.ids, 1)(value) for value in inputs.values()]
    wide.append(keras.layers.Embedding(CROSS, 1)(crossed))
    deep = [keras.layers.Embedding(job.ids, EMBEDDING)(value) for value in inputs.values()]
    hidden = keras.layers.Concatenate()(deep)
    for units in HIDDEN:
        hidden = keras.layers.Dense(units, "relu")(hidden)
    logits = keras.layers.Add()([*wide, keras.layers.Dense(1)(hidden)])
    model = keras.Model(inputs, logits)
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adagrad(0.05), loss)
    return model


def _predict(by_hand: bool, quick: bool) -> dict[str, float]:
    """Returns the rows per second from Parquet to Parquet, with the start, and the peak memory."""
    import estimator_train

    job = ClickJob(_PREDICT_IDS)
    rows = 10_000 if quick else _PREDICTED
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as model_dir:
        job.write_parquet(Path(folder), rows)
        estimator = job.estimator(estimator_train, model_dir)
        estimator.train(lambda: job.parquet_input(Path(folder)), steps=1)
        start = time.perf_counter()
        predict = _predict_by_hand if by_hand else _predict_with_command
        predict(estimator, folder)
        seconds = time.perf_counter() - start
        written = _count_rows(f"{folder}/out")
    assert written == rows, written
    return {
        "clicks_predict": rows / seconds,
        "clicks_predict_memory": read_peak_memory(),
    }


def _count_rows(folder: str) -> int:
    """Returns the number of rows in the Parquet files of a folder."""
    import pyarrow.parquet as pq

    return sum(pq.read_metadata(path).num_rows for path in Path(folder).glob("*.parquet"))


def _predict_with_command(estimator: Any, folder: str) -> None:
    """Predicts as `estimator-train predict --format=parquet` does."""
    import input_fns
    from estimator_train.cli.parquet_parts import ParquetParts

    names = [f"c{number}" for number in range(FEATURES)]
    path = f"{folder}/rows.parquet"
    predictions = estimator.predict(
        lambda: input_fns.parquet(path, select=names, batch_size=_PREDICT_BATCH, num_epochs=1),
        predict_keys=["probabilities", "class_ids"],
        yield_single_examples=False,
    )
    ParquetParts(f"{folder}/out", 0, 1, {}).write(predictions)


def _predict_by_hand(estimator: Any, folder: str) -> None:
    """Predicts with a predictor, and a loop over the batches of pyarrow."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    import tensorflow as tf

    from estimator_train import export, predictor

    names = [f"c{number}" for number in range(FEATURES)]

    def receive() -> Any:
        inputs = {name: tf.compat.v1.placeholder(tf.int64, [None], name) for name in names}
        return export.ServingInputReceiver(inputs, inputs)

    predict = predictor.from_estimator(estimator, receive, output_key="predict")
    Path(f"{folder}/out").mkdir()
    writer = None
    table = pq.ParquetFile(f"{folder}/rows.parquet")
    for batch in table.iter_batches(_PREDICT_BATCH, columns=names):
        found = predict({name: batch[name].to_numpy() for name in names})
        columns = {
            "probabilities": pa.FixedSizeListArray.from_arrays(
                pa.array(np.ravel(found["probabilities"])), 2
            ),
            "class_ids": pa.array(np.ravel(found["class_ids"])),
        }
        part = pa.table(columns)
        writer = writer or pq.ParquetWriter(f"{folder}/out/all.parquet", part.schema)
        writer.write_table(part)
    if writer:
        writer.close()


def _benchmark_predict(name: str, description: str, unit: str, goal: float) -> Benchmark:
    return Benchmark(
        name,
        f"click model, {_PREDICTED:,} rows predicted from Parquet to Parquet: {description}",
        unit,
        {OURS: partial(_predict, False), _LOOP: partial(_predict, True)},
        less_is_better=unit == "MB",
        goals={_LOOP: goal} if goal else {},
        job="clicks_predict",
    )


BENCHMARKS = (
    Benchmark(
        "clicks_parquet",
        f"click model, tables of 0.7 GB, batch {BATCH}: from Parquet; tf.estimator: TFRecords",
        "steps/s",
        {
            OURS: partial(_train, OURS),
            ORIGINAL: partial(_train, ORIGINAL),
            _KERAS: _train_keras,
            TORCH: _train_torch,
        },
        goals={ORIGINAL: 6.0, _KERAS: 1.5, TORCH: 1.5},
    ),
    _benchmark_predict("clicks_predict", "with the start", "rows/s", 0.95),
    _benchmark_predict("clicks_predict_memory", "memory at its peak", "MB", 0),
)
