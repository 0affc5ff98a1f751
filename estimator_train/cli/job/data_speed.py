"""Measures the speed of each stage of a dataset, and finds the slowest stage."""

import dataclasses
import re
import time
from typing import Any

import tensorflow as tf

from estimator_train.engine.tf_internals import strategies

_SLOW_RATIO = 0.8  # A stage is slow if it reduces the rate of the previous stage to less than this.
_SAMPLED_ELEMENTS = 3
_MAX_ELEMENTS = 1 << 30
# Names of stages that show whether the previous stage gives batches.
_CHANGES_BATCHES = "Batch|Rebatch|Unbatch|FlatMap|Interleave"

# Patterns of stage names, and the advice if such a stage is the slowest.
_ADVICE = (
    (r"Generator", "Python makes one row at a time: write TFRecords once, or use arrays"),
    (r"^Map", "map elements in parallel: num_parallel_calls=tf.data.AUTOTUNE"),
    (r"^ParallelMap", "simplify the function, apply it to batches, or cache its results"),
    (r"Interleave|FlatMap", "use fewer columns or smaller pictures, a cache, or more processors"),
    (r"^Shuffle", "use a smaller buffer, or shuffle file names instead of examples"),
    (r"Batch", "make rows smaller before they are batched, or map after batching"),
    (r"Cache", "the first epoch fills the cache; later epochs are faster"),
    (r"Filter", "filter before rows are decoded"),
)
# Stages that only pass elements on: a lower rate than before them is a measuring error.
_WITHOUT_WORK = (
    "Random|Take|Skip|Repeat|Zip|Restructured|AssertCardinality|Options|Prefetch|Identity"
)
_SOURCE_ADVICE = "read several files in parallel, use larger files, or use a faster disk"


@dataclasses.dataclass(frozen=True)
class Stage:
    """Speed of a stage of a pipeline.

    Attributes:
      name: Kind of the stage, from the name of its class.
      rate: Examples per second of this stage with all stages before it; None if the stage gives
        no elements.
    """

    name: str
    rate: float | None


def measure(dataset: tf.data.Dataset, seconds: float) -> list[Stage]:
    """Measures each stage that does work, and the last stage, in the order of the pipeline.

    Args:
      dataset: An eager dataset. If a stage has several inputs, only the first is measured.
      seconds: Seconds to measure each stage.
    """
    chain = list_stages(dataset)
    stages = []
    for stage, examples in zip(chain, count_examples(chain), strict=True):
        if stage is dataset or _does_work(_get_kind(stage)):
            rate = examples and examples * _measure_elements_per_second(stage, seconds)
            stages.append(Stage(_get_kind(stage), rate))
    return stages


def list_stages(dataset: tf.data.Dataset) -> list[tf.data.Dataset]:
    """Returns the datasets of a pipeline, from the source to `dataset`."""
    chain = [dataset]
    while inputs := strategies.list_datasets_before(chain[-1]):
        chain.append(inputs[0])
    return chain[::-1]


def count_examples(chain: list[tf.data.Dataset]) -> list[float | None]:
    """Returns the mean number of examples in an element of each stage; None if it is empty."""
    counts: list[float | None] = []
    has_batches = False
    for index, stage in enumerate(chain):
        has_batches = _has_batches(chain, index, has_batches)
        sample = stage.take(_SAMPLED_ELEMENTS)
        sizes = [_get_batch_size(element) if has_batches else 1 for element in sample]
        counts.append(sum(sizes) / len(sizes) if sizes else None)
    # Map gives one element for each element: a seed or a name counts as the examples made from it.
    for index in range(len(chain) - 1, 0, -1):
        before, after = counts[index - 1], counts[index]
        if before and after and re.fullmatch("(Parallel)?Map", _get_kind(chain[index])):
            counts[index - 1] = max(before, after)
    return counts


def _has_batches(chain: list[tf.data.Dataset], index: int, had_batches: bool) -> bool:
    """Returns whether the elements of a stage are batches.

    The kind of the stage decides, or the kinds of later stages, or the shape of its elements.
    """
    kind, *later = map(_get_kind, chain[index:])
    following = next((name for name in later if re.search(_CHANGES_BATCHES, name)), "")
    if re.search("Batch|Rebatch", kind) or re.search("Unbatch|Rebatch", following):
        return True
    if kind == "Unbatch":
        return False
    if index == 0 or re.search("FlatMap|Interleave|Group", kind):
        shape = getattr(tf.nest.flatten(chain[index].element_spec)[0], "shape", None)
        has_open_size = bool(shape is not None and shape.rank and shape[0] is None)
        return has_open_size and "Batch" not in following
    return had_batches


def format_stages(stages: list[Stage]) -> str:
    """Returns a table of the stages, and advice about the slowest stage."""
    width = max(len(stage.name) for stage in stages)
    lines = ["examples per second, up to each stage:"]
    slowest = _find_slowest(stages)
    for stage in stages:
        rate = "nothing" if stage.rate is None else f"{stage.rate:,.0f}"
        mark = "  <- slowest" if stage is slowest else ""
        lines.append(f"  {stage.name:<{width}}  {rate:>13}{mark}")
    if slowest is not None:
        advice = _choose_advice(slowest, stages)
        lines.append(f"{slowest.name} is the slowest stage. To make it faster: {advice}.")
    return "\n".join(lines)


def _get_kind(dataset: tf.data.Dataset) -> str:
    return re.sub(r"^_|Dataset(V\d)?$|V\d$", "", type(dataset).__name__)


def _measure_elements_per_second(dataset: tf.data.Dataset, seconds: float) -> float:
    """Returns the speed of a repeated dataset after its buffers are full.

    The loop runs in the graph, because passing elements to Python is slower than many stages.
    """
    iterator = iter(dataset.repeat())

    def read_one(number: tf.Tensor) -> tf.Tensor:
        next(iterator)
        return number + 1

    @tf.function(autograph=False)
    def read(count: tf.Tensor) -> tf.Tensor:
        return tf.while_loop(lambda number: number < count, read_one, [tf.constant(0, tf.int64)])

    # A concrete function avoids TensorFlow's warning about repeated tracing.
    consume = read.get_concrete_function(tf.TensorSpec([], tf.int64))
    count = 1
    consume(tf.constant(count, tf.int64))
    while True:
        start = time.perf_counter()
        consume(tf.constant(count, tf.int64))
        elapsed = time.perf_counter() - start
        if elapsed >= seconds or count >= _MAX_ELEMENTS:
            return count / elapsed
        count *= 2


def _get_batch_size(element: Any) -> int:
    shape = getattr(tf.nest.flatten(element)[0], "shape", tf.TensorShape([]))
    return int(shape[0] or 0) if shape.rank else 1


def _find_slowest(stages: list[Stage]) -> Stage | None:
    """Returns the last stage that reduces the rate by much; otherwise the source."""
    known = [stage for stage in stages if stage.rate is not None]
    if len(known) > 1 and not _does_work(known[-1].name):
        known.pop()
    if not known:
        return None
    final = known[-1].rate or 0.0
    for before, stage in zip(known[-2::-1], known[:0:-1], strict=True):
        assert before.rate is not None
        assert stage.rate is not None
        if stage.rate < _SLOW_RATIO * before.rate and stage.rate <= final / _SLOW_RATIO:
            return stage
    return known[0]


def _does_work(name: str) -> bool:
    return re.fullmatch(_WITHOUT_WORK, name) is None


def _choose_advice(slowest: Stage, stages: list[Stage]) -> str:
    for pattern, advice in _ADVICE:
        if re.search(pattern, slowest.name):
            return advice
    return _SOURCE_ADVICE if slowest is stages[0] else "simpler work in this stage"
