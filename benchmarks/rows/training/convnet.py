"""The ConvNet of the tutorial, a Keras model, on images of Fashion-MNIST's size."""

from benchmarks.benchmark import ORIGINAL
from benchmarks.picture_job import CONVNET
from benchmarks.training import LOOP, TrainedModel, make_training_benchmark

MODEL = TrainedModel(128, [28, 28, 1], 1_000, CONVNET.layers, optimizer="adam")
BENCHMARK = make_training_benchmark(
    "convnet",
    "train: ConvNet of the tutorial, 28x28, Adam, batch 128",
    MODEL,
    {ORIGINAL: 1.03, LOOP: 0.98},
)
