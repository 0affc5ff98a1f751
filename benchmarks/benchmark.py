"""What a benchmark is: one figure, and who is asked for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

OURS = "estimator_train"
ORIGINAL = "tf.estimator"
# For what TensorFlow 2.15 has no kernels for any more.
OLDER_ORIGINAL = "tf.estimator 2.8"


@dataclass(frozen=True)
class Benchmark:
    """One row group of the table.

    Attributes:
      name: Short, for the command line.
      title: What is measured, for the table.
      unit: Of the figure.
      peers: What is compared: names (`OURS` among them) and functions that measure them. Each
        runs in a process of its own and imports what it needs itself; `ORIGINAL` runs in an
        interpreter that has TensorFlow 2.15 and nothing of ours, `OLDER_ORIGINAL` in one
        with TensorFlow 2.8. They take `quick`: true to prove that it works, false to measure.
      less_is_better: Whether the smaller figure is the better one, as for times.
      goals: How many times as good as a peer ours is to be at least, by peer.
      job: What several rows are figures of: they have the same peers, which return a figure for
        each row, by its name. None where the figure has a measurement of its own.
    """

    name: str
    title: str
    unit: str
    peers: Mapping[str, Callable[[bool], float | Mapping[str, float]]]
    less_is_better: bool = False
    goals: Mapping[str, float] = field(default_factory=dict)
    job: str | None = None
