"""One seed for a program that names none: of Python, of NumPy, and of each TensorFlow graph."""

import random
import types
from typing import Any


def seed_python(seed: int) -> None:
    """Seeds the generators of `random` and `numpy.random`; the program may seed them anew."""
    import numpy as np  # Here, so that a program without a seed starts as fast as it can.

    random.seed(seed)
    np.random.seed(seed)


def seed_tensorflow(tensorflow: types.ModuleType, seed: int) -> None:
    """Makes random operations repeat their numbers, in all graphs and in eager code.

    A seed that the program or its RunConfig sets goes before this one.

    Args:
      tensorflow: The imported package.
      seed: Graph-level seed of every graph for which none is set.
    """
    tensorflow.random.set_seed(seed)
    graph = tensorflow.Graph
    own = graph.seed

    def seed_of(self: Any) -> int:
        set_by_program = own.fget(self)
        return seed if set_by_program is None else set_by_program

    graph.seed = property(seed_of, own.fset, doc=own.__doc__)
