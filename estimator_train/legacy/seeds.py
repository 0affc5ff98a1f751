"""One seed for a program that sets none: for Python, NumPy and each TensorFlow graph."""

from __future__ import annotations

import random
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tensorflow as tf


def seed_python(seed: int) -> None:
    """Seeds `random` and `numpy.random`; the program can seed them again."""
    import numpy as np  # Imported here so that a program without a seed starts faster.

    random.seed(seed)
    np.random.seed(seed)


def seed_tensorflow(tensorflow: ModuleType, seed: int) -> None:
    """Makes random operations repeat their numbers in graphs and in eager code.

    A seed that the program or its RunConfig sets overrides this seed.

    Args:
      tensorflow: The imported package.
      seed: Graph-level seed of each graph that has none.
    """
    tensorflow.random.set_seed(seed)
    graph_class = tensorflow.Graph
    original = graph_class.seed

    def get_seed(graph: tf.Graph) -> int:
        set_by_program = original.fget(graph)
        return seed if set_by_program is None else set_by_program

    graph_class.seed = property(get_seed, original.fset, doc=original.__doc__)
