"""The definition of a benchmark: a figure, and the peers that are compared."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

OURS = "estimator_train"
ORIGINAL = "tf.estimator"
# For operations whose kernels TensorFlow 2.15 no longer has.
OLDER_ORIGINAL = "tf.estimator 2.8"
JAX_FIT = "Keras 3 fit on JAX, steps_per_execution=64"
JAX_SCAN = "jax.jit of a lax.scan over 100 steps"
TORCH = "PyTorch, a DataLoader over pyarrow"
TORCH_WORKERS = "PyTorch, DistributedDataParallel over gloo"


@dataclass(frozen=True)
class Benchmark:
    """A group of rows in the table, with one row for each peer.

    Attributes:
      name: Short name for the command line.
      title: Description of the measurement, for the table.
      unit: Unit of the figure.
      peers: Maps names of peers, including `OURS`, to functions that measure them. Each function
        runs in a separate process and imports its packages. `ORIGINAL` runs in an interpreter
        with TensorFlow 2.15 and without estimator_train, `OLDER_ORIGINAL` in one with TensorFlow
        2.8, `JAX_FIT` and `JAX_SCAN` in one with JAX and Keras 3, `TORCH` and
        `TORCH_WORKERS` in one with PyTorch and pyarrow. The argument `quick` is True to
        try the code, and False to measure.
      less_is_better: Whether smaller figures are better, as for times.
      goals: Minimum ratio of `OURS` to a peer, by peer.
      job: Name of a measurement that gives the figures of several rows. These rows have the same
        peers, whose functions return a figure by row name. None if the row is measured alone.
    """

    name: str
    title: str
    unit: str
    peers: Mapping[str, Callable[[bool], float | Mapping[str, float]]]
    less_is_better: bool = False
    goals: Mapping[str, float] = field(default_factory=dict)
    job: str | None = None
