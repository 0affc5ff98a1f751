"""Input pipelines in plain tf.data, for Estimators and for any other trainer.

Every source is a function that returns a `tf.data.Dataset` of (features, labels), in graph
mode and in eager mode. All sources shuffle, repeat, batch and prefetch in the same way:

    import input_fns

    estimator.train(
        lambda: input_fns.arrays(images, labels, batch_size=128, shuffle=True, seed=1),
        max_steps=1000,
    )
    estimator.evaluate(lambda: input_fns.arrays(images, labels, batch_size=128, num_epochs=1))

The default `num_epochs=None` repeats indefinitely; give `num_epochs=1` to evaluate. All sources
take the same settings, by name or as one `PipelineOptions`.

Sources in memory: `arrays`, `frame`, `pandas_frame`, `idx`, `mnist_format`, `mnist`,
`fashion_mnist`, `digits`. Sources that read files: `image_folder`, `tfrecords`, `csv`,
`text_lines`, `parquet`, `arrow`. Other sources: `generator`, `tfds`. For `dataset.apply`:
`shuffle_and_repeat`, `map_and_batch`. IDX files: `read_idx`, `write_idx`.
"""

from input_fns.columns.arrow import arrow
from input_fns.columns.frame import frame
from input_fns.columns.parquet import parquet
from input_fns.memory.arrays import arrays
from input_fns.memory.frames import pandas_frame
from input_fns.memory.generators import generator
from input_fns.memory.tfds import tfds
from input_fns.pictures.digits import digits
from input_fns.pictures.idx import idx, read_idx, write_idx
from input_fns.pictures.image_folder import image_folder
from input_fns.pictures.mnist_format import fashion_mnist, mnist, mnist_format
from input_fns.pipeline.options import PipelineOptions
from input_fns.pipeline.transformations import map_and_batch, shuffle_and_repeat
from input_fns.records.csv import csv
from input_fns.records.text_lines import text_lines
from input_fns.records.tfrecords import tfrecords

__all__ = [
    "PipelineOptions",
    "arrays",
    "arrow",
    "csv",
    "digits",
    "fashion_mnist",
    "frame",
    "generator",
    "idx",
    "image_folder",
    "map_and_batch",
    "mnist",
    "mnist_format",
    "pandas_frame",
    "parquet",
    "read_idx",
    "shuffle_and_repeat",
    "text_lines",
    "tfds",
    "tfrecords",
    "write_idx",
]
