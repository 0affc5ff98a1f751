"""Training speed on a GPU: `python -m benchmarks --gpu`."""

from functools import partial
from types import ModuleType
from typing import Any

from benchmarks.benchmark import OURS, Benchmark
from benchmarks.training import gpu
from benchmarks.training.gpu import GpuModel

_FIT = f"tf_keras fit, steps_per_execution={gpu.STEPS_PER_EXECUTION}"
_KERAS_3_FIT = f"Keras 3 fit, steps_per_execution={gpu.STEPS_PER_EXECUTION}"
_IDS = 200_000


def _build_mlp(keras: ModuleType, x: Any) -> Any:
    hidden = keras.layers.Dense(256, "relu")(keras.layers.Dense(256, "relu")(x))
    return keras.layers.Dense(10)(hidden)


def _build_convnet(keras: ModuleType, x: Any) -> Any:
    for filters in (32, 64, 64):
        x = keras.layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
        x = keras.layers.MaxPooling2D(2)(x)
    hidden = keras.layers.Dense(64, "relu")(keras.layers.Flatten()(x))
    return keras.layers.Dense(10)(hidden)


def _build_resnet(keras: ModuleType, x: Any) -> Any:
    layers = keras.layers
    x = layers.Conv2D(32, 3, padding="same")(x)
    for filters in (32, 64, 128):
        strides = 1 if filters == 32 else 2
        shortcut = layers.Conv2D(filters, 1, strides)(x)
        for stride in (strides, 1):
            x = layers.Conv2D(filters, 3, stride, padding="same", use_bias=False)(x)
            x = layers.ReLU()(layers.BatchNormalization()(x))
        x = layers.Add()([x, shortcut])
    return layers.Dense(10)(layers.GlobalAveragePooling2D()(x))


def _build_click_model(keras: ModuleType, x: Any) -> Any:
    embedded = keras.layers.Flatten()(keras.layers.Embedding(_IDS, 16)(x))
    hidden = keras.layers.Dense(64, "relu")(keras.layers.Dense(128, "relu")(embedded))
    return keras.layers.Dense(10)(hidden)


_MODELS = {
    "gpu_mlp": ("MLP 784-256-256-10, batch 128", GpuModel(128, 8_000, (784,), _build_mlp)),
    "gpu_convnet": (
        "ConvNet, 28x28, batch 128",
        GpuModel(128, 4_000, (28, 28, 1), _build_convnet),
    ),
    "gpu_resnet": (
        "ResNet of 7 convolutions, 32x32, batch 128",
        GpuModel(128, 2_000, (32, 32, 3), _build_resnet),
    ),
    "gpu_clicks": (
        "click model, ten ids of 200,000, batch 512",
        GpuModel(512, 3_000, (10,), _build_click_model, ids=_IDS),
    ),
}


def _make_benchmark(name: str, title: str, model: GpuModel) -> Benchmark:
    train = partial(gpu.train_by_estimator, model)
    return Benchmark(
        name,
        f"train on a GPU: {title}",
        "steps/s",
        {
            OURS: train,
            "steps_per_loop=1": partial(train, steps_per_loop=1),
            'xla="auto"': partial(train, xla="auto"),
            'mixed_precision="float16"': partial(train, mixed_precision="float16"),
            _FIT: partial(gpu.train_by_fit, model),
            _KERAS_3_FIT: partial(gpu.train_by_keras_3_fit, model),
        },
    )


BENCHMARKS = tuple(_make_benchmark(name, *description) for name, description in _MODELS.items())
