"""Training steps in chunks: one function that XLA compiles runs many steps of a small model.

Each call of a compiled step hands over the batch and all variables, which takes as long as the step
of a small model. So the batches of a chunk are taken from the input at once, and one call runs
their steps. The chunk stays in variables: a loop may end within it, and a step that hooks see takes
its batch from it, so that the batches keep the order of the input.
"""

import dataclasses
from collections.abc import Callable

import tensorflow as tf

from estimator_train.engine.compiled.checks import raise_failure
from estimator_train.engine.compiled.step import CompiledStep, NotCompilableError, Trial


class BatchChunks:
    """Chunk of the batches of an input, and the position of the next batch in it.

    Args:
      dataset: Chunks without end; a component has the shape [size, ...] for the component [...] of
        the input.
      iterator: The handle of the input's iterator, in the default graph.

    Attributes:
      iterator: See above.
      size: Number of batches in a chunk.
      batch_size: Number of examples in a batch.
      specs: Shapes and dtypes of the components of a chunk.
      start: Operation that starts the chunks in a session, and makes the iterator read from them.
    """

    def __init__(self, dataset: tf.data.Dataset, iterator: tf.Tensor) -> None:
        self.iterator = iterator
        self.specs: tuple[tf.TensorSpec, ...] = dataset.element_spec
        self.size: int = self.specs[0].shape[0]
        self.batch_size: int = self.specs[0].shape[1]
        self._types = {
            "output_types": [spec.dtype for spec in self.specs],
            "output_shapes": [spec.shape for spec in self.specs],
        }
        name = iterator.graph.unique_name("chunks", mark_as_used=False)
        self._chunks = tf.raw_ops.IteratorV2(shared_name=name, container="", **self._types)
        self._position = _make_variable(tf.TensorSpec([], tf.int64), "position")
        self._buffers = [_make_variable(spec, "batches") for spec in self.specs]
        options = tf.data.Options()
        # tf.data would read ahead of the steps.
        options.autotune.enabled = False
        batches = tf.data.Dataset.counter().map(self._take_batch).with_options(options)
        to_variant = tf.data.experimental.to_variant
        self.start = tf.group(
            self.move(tf.constant(self.size, tf.int64)),
            tf.raw_ops.MakeIterator(dataset=to_variant(dataset), iterator=self._chunks),
            tf.raw_ops.MakeIterator(dataset=to_variant(batches), iterator=iterator),
        )

    def find_next(self) -> tf.Tensor:
        """Adds a read of the position of the next batch, which the buffers then contain."""
        position = self._position.read_value()
        return tf.cond(position < self.size, lambda: position, self._fill)

    def read(self) -> list[tf.Tensor]:
        """Adds reads of the buffers."""
        return [buffer.read_value() for buffer in self._buffers]

    def move(self, position: tf.Tensor) -> tf.Operation:
        """Adds an operation that sets the position of the next batch."""
        return self._position.assign(position, read_value=False)

    def _fill(self) -> tf.Tensor:
        values = tf.raw_ops.IteratorGetNext(iterator=self._chunks, **self._types)
        pairs = zip(self._buffers, values, strict=True)
        with tf.control_dependencies([b.assign(v, read_value=False) for b, v in pairs]):
            return tf.constant(0, tf.int64)

    def _take_batch(self, _: tf.Tensor) -> tuple[tf.Tensor, ...]:
        position = self.find_next()
        with tf.control_dependencies([position]):
            batch = [buffer[position] for buffer in self.read()]
        with tf.control_dependencies([*batch, self.move(position + 1)]):
            return tuple(tf.identity(value) for value in batch)


def _make_variable(spec: tf.TensorSpec, name: str) -> tf.Variable:
    """Returns a variable in no collection, so that nothing saves, initializes or reports it."""
    return tf.compat.v1.Variable(
        lambda: tf.zeros(spec.shape, spec.dtype),
        trainable=False,
        collections=[],
        name=name,
        use_resource=True,
    )


@dataclasses.dataclass(frozen=True)
class ChunkedStep:
    """Step whose loop over the batches of a chunk is one compiled function.

    Attributes:
      step: The compiled step.
      chunks: The chunks of its input.
      loop: Takes the positions of the first batch and of the end, the buffers, and the handles of
        variables; returns the position after the last step, its loss, and the number of the first
        check that failed in it.
    """

    step: CompiledStep
    chunks: BatchChunks
    loop: Callable[..., list[tf.Tensor]]

    def run(self, handles: dict[str, tf.Tensor], max_steps: tf.Tensor) -> list[tf.Tensor]:
        """Adds steps to the default graph, at most up to the end of the chunk.

        Args:
          handles: Name of each handle of state to a tensor of the default graph.
          max_steps: Maximum number of steps; 1 or more.

        Returns:
          The number of steps and the loss of the last one, available when the steps are done.
        """
        first = self.chunks.find_next()
        with tf.control_dependencies([first]):
            buffers = self.chunks.read()
        end = tf.minimum(first + max_steps, self.chunks.size)
        variables = [handles[name] for name in self.step.handles]
        position, loss, failure = self.loop(first, end, *buffers, *variables)
        ends = [self.chunks.move(position), *raise_failure(self.step.checks, failure)]
        with tf.control_dependencies(ends):
            return [position - first, tf.identity(loss)]

    def make_trial(self, graph: tf.Graph) -> Trial:
        """Returns a test whether XLA compiles the loop over a chunk.

        Args:
          graph: The graph of the step, which is the default graph.
        """
        none = tf.constant(0, tf.int64)
        buffers = [tf.zeros(spec.shape, spec.dtype) for spec in self.chunks.specs]
        handles = map(graph.get_tensor_by_name, self.step.handles)
        return Trial(self.loop(none, none, *buffers, *handles)[0])


def compile_chunks(
    step: CompiledStep, chunks: BatchChunks, loss: tf.Tensor, stop_at_nan: bool
) -> ChunkedStep:
    """Returns a step with its loop over the batches of a chunk.

    Args:
      step: The step.
      chunks: The chunks of its input.
      loss: The loss of the step.
      stop_at_nan: Whether a loop ends after a step whose loss is not finite.

    Raises:
      NotCompilableError: The step reads no batch, or more than the batch.
    """
    fed = [loss.graph.get_tensor_by_name(name) for name in step.fed]
    if {(node.op, *node.input) for node in step.outside.node} != {
        ("IteratorGetNext", chunks.iterator.op.name)
    }:
        raise NotCompilableError("its input is not that of the batches alone")

    @tf.function(jit_compile=True, autograph=False)
    def run_chunk(first: tf.Tensor, end: tf.Tensor, *arguments: tf.Tensor) -> list[tf.Tensor]:
        buffers, handles = arguments[: len(chunks.specs)], arguments[len(chunks.specs) :]

        def wants_step(position: tf.Tensor, step_loss: tf.Tensor, failure: tf.Tensor) -> tf.Tensor:
            continues = (position < end) & tf.equal(failure, 0)
            return continues & tf.math.is_finite(step_loss) if stop_at_nan else continues

        def run_step(position: tf.Tensor, *_: tf.Tensor) -> list[tf.Tensor]:
            batch = [buffers[tensor.value_index][position] for tensor in fed]
            step_loss, failure = step.function(*batch, *handles)
            with tf.control_dependencies([step_loss]):
                return [position + 1, tf.identity(step_loss), failure]

        start = [first, tf.zeros([], loss.dtype), tf.zeros([], tf.int32)]
        return tf.while_loop(wants_step, run_step, start)

    return ChunkedStep(step, chunks, run_chunk)
