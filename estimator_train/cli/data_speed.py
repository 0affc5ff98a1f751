"""How fast each stage of a dataset delivers examples, and which one holds the others back."""

import dataclasses
import re
import time
from typing import Any

import tensorflow as tf

from estimator_train.engine import tf_internals

_SLOWER = 0.8  # A stage slows the pipeline down if less than this of the rate before it is left.
_LOOKED_AT = 3
_MOST_COUNTED = 1 << 30

# Kind of stage, by its class's name, to what helps where it is the slowest.
_ADVICE = (
    (r"Generator", "Python makes one row at a time: write TFRecords once, or use arrays"),
    (r"^Map", "work on several at a time: num_parallel_calls=tf.data.AUTOTUNE"),
    (r"^ParallelMap", "do less in the function, on whole batches, or keep its results: cache"),
    (r"Interleave|FlatMap", "read or decode less: smaller pictures, cache, more processors"),
    (r"^Shuffle", "a smaller buffer, or shuffle names or numbers in place of examples"),
    (r"Batch", "make rows smaller before they are batched, or map and batch in one"),
    (r"Cache", "the first epoch fills it; the next is faster"),
    (r"Filter", "filter earlier, before rows are decoded"),
)
_SOURCE_ADVICE = "read several files at a time, larger ones, or keep them nearer"


@dataclasses.dataclass(frozen=True)
class Stage:
    """One stage of a pipeline.

    Attributes:
      name: What it does, by its class.
      rate: Examples a second that come out of it, alone with the stages before it; None if
        it delivers nothing.
    """

    name: str
    rate: float | None


def measure(dataset: tf.data.Dataset, seconds: float) -> list[Stage]:
    """Measures each stage, the source first.

    Args:
      dataset: Made eagerly; where it has several sources, the first is followed.
      seconds: How long to measure each.
    """
    chain = [dataset]
    while inputs := tf_internals.datasets_before(chain[-1]):
        chain.append(inputs[0])
    return [Stage(_name(stage), _rate(stage, seconds)) for stage in reversed(chain)]


def report(stages: list[Stage]) -> str:
    """Returns a table of the stages, and what to change."""
    width = max(len(stage.name) for stage in stages)
    lines = ["examples a second, up to each stage:"]
    slowest = _slowest(stages)
    for stage in stages:
        rate = "nothing" if stage.rate is None else f"{stage.rate:,.0f}"
        mark = "  <- holds it back" if stage is slowest else ""
        lines.append(f"  {stage.name:<{width}}  {rate:>13}{mark}")
    if slowest is not None:
        lines.append(
            f"{slowest.name} is the slowest stage. What may help: {_advice(slowest, stages)}."
        )
    return "\n".join(lines)


def _name(dataset: Any) -> str:
    return re.sub(r"^_|Dataset(V\d)?$|V\d$", "", type(dataset).__name__)


def _rate(dataset: tf.data.Dataset, seconds: float) -> float | None:
    """Examples a second; a dataset that ends is begun again.

    Elements are not handed to Python, which would be slower than many a stage.
    """
    sizes = [_examples(element, dataset.element_spec) for element in dataset.take(_LOOKED_AT)]
    if not sizes:
        return None

    @tf.function
    def consume(count: tf.Tensor) -> tf.Tensor:
        return dataset.repeat().take(count).reduce(tf.constant(0), lambda seen, *_: seen + 1)

    count = 1
    consume(tf.constant(count, tf.int64))
    while True:
        start = time.perf_counter()
        consume(tf.constant(count, tf.int64))
        passed = time.perf_counter() - start
        if passed >= seconds or count >= _MOST_COUNTED:
            return count * sum(sizes) / len(sizes) / passed
        count *= 2


def _examples(element: Any, spec: Any) -> int:
    """How many examples an element holds: its first dimension, if that is not always the same."""
    first = tf.nest.flatten(element)[0]
    first_spec = tf.nest.flatten(spec)[0]
    shape = getattr(first_spec, "shape", tf.TensorShape(None))
    if shape.rank and shape[0] is None and hasattr(first, "shape") and first.shape.rank:
        return int(first.shape[0] or 0)
    return 1


def _slowest(stages: list[Stage]) -> Stage | None:
    """The last stage after which much less comes out than before it; else the source."""
    known = [stage for stage in stages if stage.rate is not None]
    if not known:
        return None
    final = known[-1].rate or 0.0
    for before, stage in zip(known[-2::-1], known[:0:-1], strict=True):
        assert before.rate is not None
        assert stage.rate is not None
        if stage.rate < _SLOWER * before.rate and stage.rate <= final / _SLOWER:
            return stage
    return known[0]


def _advice(slowest: Stage, stages: list[Stage]) -> str:
    for pattern, advice in _ADVICE:
        if re.search(pattern, slowest.name):
            return advice
    return _SOURCE_ADVICE if slowest is stages[0] else "simpler work in this stage"
