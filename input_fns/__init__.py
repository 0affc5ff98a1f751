"""Input pipelines in plain tf.data, for Estimators and for any other trainer.

Every source is a function that returns a `tf.data.Dataset` of (features, labels), in graph
mode as well as eagerly. They shuffle, repeat, batch and prefetch alike:

    import input_fns

    estimator.train(
        lambda: input_fns.arrays(images, labels, batch_size=128, shuffle=True, seed=1),
        max_steps=1000,
    )
    estimator.evaluate(lambda: input_fns.arrays(images, labels, batch_size=128, num_epochs=1))

`num_epochs=None`, which is the default, repeats for ever; give `num_epochs=1` to evaluate.

Sources: `arrays`, `idx`, `mnist_format`, `mnist`, `fashion_mnist`, `digits`, `image_folder`.
For `dataset.apply`: `shuffle_and_repeat`, `map_and_batch`. Files: `read_idx`, `write_idx`.
"""

from input_fns.arrays import arrays
from input_fns.digits import digits
from input_fns.idx import idx, read_idx, write_idx
from input_fns.image_folder import image_folder
from input_fns.mnist_format import fashion_mnist, mnist, mnist_format
from input_fns.transformations import map_and_batch, shuffle_and_repeat

__all__ = [
    "arrays",
    "digits",
    "fashion_mnist",
    "idx",
    "image_folder",
    "map_and_batch",
    "mnist",
    "mnist_format",
    "read_idx",
    "shuffle_and_repeat",
    "write_idx",
]
