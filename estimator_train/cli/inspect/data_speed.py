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
# Kinds of stages by which batches can be told.
_SAYS_SIZE = "Batch|Rebatch|Unbatch|FlatMap|Interleave"

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
# They hand on what they get; where one is slower than the stage before, that is chance.
_WITHOUT_WORK = (
    "Random|Take|Skip|Repeat|Zip|Restructured|AssertCardinality|Options|Prefetch|Identity"
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
    """Measures each stage that has something to do, the source first, and the last.

    Args:
      dataset: Made eagerly; where it has several sources, the first is followed.
      seconds: How long to measure each.
    """
    chain = stages_of(dataset)
    found = []
    for stage, examples in zip(chain, examples_of(chain), strict=True):
        if stage is dataset or _works(_name(stage)):
            rate = examples and examples * _elements_per_second(stage, seconds)
            found.append(Stage(_name(stage), rate))
    return found


def stages_of(dataset: tf.data.Dataset) -> list[tf.data.Dataset]:
    """The datasets that one was made of, from the source to itself."""
    chain = [dataset]
    while inputs := tf_internals.datasets_before(chain[-1]):
        chain.append(inputs[0])
    return chain[::-1]


def examples_of(chain: list[tf.data.Dataset]) -> list[float | None]:
    """How many examples an element of each stage holds; None where there are no elements."""
    found: list[float | None] = []
    are_batches = False
    for place, stage in enumerate(chain):
        are_batches = _are_batches(chain, place, are_batches)
        sizes = [_size(element) if are_batches else 1 for element in stage.take(_LOOKED_AT)]
        found.append(sum(sizes) / len(sizes) if sizes else None)
    # A function of one element makes one: a seed or a name stands for all that is made of it.
    for place in range(len(chain) - 1, 0, -1):
        before, made = found[place - 1], found[place]
        if before and made and re.fullmatch("(Parallel)?Map", _name(chain[place])):
            found[place - 1] = max(before, made)
    return found


def _are_batches(chain: list[tf.data.Dataset], place: int, were_before: bool) -> bool:
    """Whether a stage gives batches: by its kind, by the next that says, or by its shapes."""
    kind, *later = map(_name, chain[place:])
    following = next((name for name in later if re.search(_SAYS_SIZE, name)), "")
    if re.search("Batch|Rebatch", kind) or re.search("Unbatch|Rebatch", following):
        return True
    if kind == "Unbatch":
        return False
    if place == 0 or re.search("FlatMap|Interleave|Group", kind):
        shape = getattr(tf.nest.flatten(chain[place].element_spec)[0], "shape", None)
        is_open = bool(shape is not None and shape.rank and shape[0] is None)
        return is_open and "Batch" not in following
    return were_before


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


def _elements_per_second(dataset: tf.data.Dataset, seconds: float) -> float:
    """The speed of a dataset that is begun again where it ends, once its buffers are full.

    Elements are not handed to Python, which would be slower than many a stage.
    """
    iterator = iter(dataset.repeat())

    def read_one(number: tf.Tensor) -> tf.Tensor:
        next(iterator)
        return number + 1

    @tf.function(autograph=False)
    def read(count: tf.Tensor) -> tf.Tensor:
        return tf.while_loop(lambda number: number < count, read_one, [tf.constant(0, tf.int64)])

    # Called as it is, each would be taken for a function that is traced again and again.
    consume = read.get_concrete_function(tf.TensorSpec([], tf.int64))
    count = 1
    consume(tf.constant(count, tf.int64))
    while True:
        start = time.perf_counter()
        consume(tf.constant(count, tf.int64))
        passed = time.perf_counter() - start
        if passed >= seconds or count >= _MOST_COUNTED:
            return count / passed
        count *= 2


def _size(element: Any) -> int:
    shape = getattr(tf.nest.flatten(element)[0], "shape", tf.TensorShape([]))
    return int(shape[0] or 0) if shape.rank else 1


def _slowest(stages: list[Stage]) -> Stage | None:
    """The last stage after which much less comes out than before it; else the source."""
    known = [stage for stage in stages if stage.rate is not None]
    if len(known) > 1 and not _works(known[-1].name):
        known.pop()
    if not known:
        return None
    final = known[-1].rate or 0.0
    for before, stage in zip(known[-2::-1], known[:0:-1], strict=True):
        assert before.rate is not None
        assert stage.rate is not None
        if stage.rate < _SLOWER * before.rate and stage.rate <= final / _SLOWER:
            return stage
    return known[0]


def _works(name: str) -> bool:
    return re.fullmatch(_WITHOUT_WORK, name) is None


def _advice(slowest: Stage, stages: list[Stage]) -> str:
    for pattern, advice in _ADVICE:
        if re.search(pattern, slowest.name):
            return advice
    return _SOURCE_ADVICE if slowest is stages[0] else "simpler work in this stage"
