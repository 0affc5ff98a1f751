"""Inputs of an open model, one after another, with as little growth of its graph as possible.

The user's dataset is built in a separate graph. That graph is imported into the model's graph with
placeholders for its values; a later input of the same form only feeds other values. If forms keep
changing, datasets are serialized, and one operation of the model's graph reads them. Each import
makes TensorFlow prune and optimize the model's graph again. A dataset that cannot be serialized
(it calls Python, or reads tables) is imported each time.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.engine.comparison import have_same_structure
from estimator_train.engine.inputs.external_arrays import list_external_arrays
from estimator_train.engine.inputs.input_fn import Inputs, is_dataset
from estimator_train.engine.inputs.input_form import InputForm, extract_form
from estimator_train.engine.inputs.start import has_many_rows, optimize_start
from estimator_train.engine.tf_internals import graphs, iterators

_FAIL_ON_STATE = 2
_TABLES = tf.compat.v1.GraphKeys.TABLE_INITIALIZERS
# With more forms than a program has input_fns, the form changes from call to call.
_MAX_FORMS = 8

# The key of a form, and whether its inputs have many rows.
_Key = tuple[bytes, bool]


@dataclasses.dataclass(frozen=True)
class InputStart:
    """Operations that start an input in an open model's session.

    Attributes:
      operations: The operations, in order.
      feeds: Feeds of the last operation.
      source: The graph that an imported input was built in, which owns its Python functions.
      size: Growth of the model's graph in bytes.
    """

    operations: tuple[Any, ...]
    feeds: dict[tf.Tensor, Any]
    source: tf.Graph | None = None
    size: int = 0

    def __call__(self, session: tf.compat.v1.Session) -> None:
        """Starts the input."""
        *before, last = self.operations
        for operation in before:
            session.run(operation)
        session.run(last, self.feeds)


class InputSlot:
    """Input of an open model's graph, which each call replaces.

    Args:
      graph: The model's graph, not finalized.
      inputs: The inputs that the model was built on, with an iterator.
    """

    def __init__(self, graph: tf.Graph, inputs: Inputs) -> None:
        self._graph = graph
        self._inputs = inputs
        self._forms: dict[_Key, tuple[tf.Operation, dict[str, tf.Tensor]]] = {}

    def take(self, make: Callable[[], Any], prepare: Callable[[], Any]) -> InputStart | None:
        """Builds the next input.

        Args:
          make: Calls the user's input_fn.
          prepare: Called before `make` in the new graph.

        Returns:
          The start of the input; None if its structure differs from the first input's.
        """
        with tf.Graph().as_default() as source:
            prepare()
            result = make()
            spec = self._inputs.iterator.element_spec
            if not (is_dataset(result) and have_same_structure(result.element_spec, spec)):
                return None
            variant = tf.data.experimental.to_variant(result)
        needed = list(graphs.walk([variant.op]))
        if source.get_collection(_TABLES) or any(map(_reads_resource, needed)):
            return self._import(source, variant)
        arrays = list_external_arrays(source)
        form = extract_form(source.as_graph_def(), {op.name for op in needed}, arrays)
        has_state = form.has_state or any(map(_has_state, needed))
        if not has_state and (_make_key(form) in self._forms or len(self._forms) < _MAX_FORMS):
            return self._feed(form, variant.name)
        serialized = None if arrays else _serialize(source, variant)
        if serialized is None:
            return self._import(source, variant)
        placeholder, read = self._reader
        return InputStart((read,), {placeholder: serialized})

    def build_release_op(self) -> tf.Operation | None:
        """Adds an operation that replaces the input by an empty one; None for other elements."""
        specs = tf.nest.flatten(self._inputs.iterator.element_spec)
        if not all(isinstance(spec, tf.TensorSpec) for spec in specs):
            return None
        with self._graph.as_default(), tf.name_scope("no_input"), tf.device("/cpu:0"):
            empty = tuple(tf.zeros([0, *_choose_shape(spec)], spec.dtype) for spec in specs)
            options = tf.data.Options()
            options.experimental_optimization.apply_default_optimizations = False
            options.autotune.enabled = False
            dataset = tf.data.Dataset.from_tensor_slices(empty).with_options(options)
            return tf.raw_ops.MakeIterator(
                dataset=tf.data.experimental.to_variant(dataset),
                iterator=iterators.find_iterator_handle(self._inputs.iterator),
            )

    def _feed(self, form: InputForm, dataset: str) -> InputStart:
        """Returns the start of an input whose form is, or will be, in the graph."""
        key = _make_key(form)
        if key not in self._forms:
            names = list(form.values)
            with self._graph.as_default(), tf.name_scope("next_input"):
                variant, *fed = tf.import_graph_def(
                    form.definition, return_elements=[dataset, *(f"{name}:0" for name in names)]
                )
                start = self._bind(variant, not has_many_rows(form.rows))
            self._forms[key] = start, dict(zip(names, fed, strict=True))
        start, placeholders = self._forms[key]
        return InputStart(
            (start,), {placeholders[name]: form.values[name] for name in placeholders}
        )

    @functools.cached_property
    def _reader(self) -> tuple[tf.Tensor, tf.Operation]:
        """The placeholder of a serialized dataset, and the operation that starts it."""
        with self._graph.as_default(), tf.name_scope("next_input"):
            serialized = tf.compat.v1.placeholder(tf.string, [])
            return serialized, self._bind(tf.raw_ops.DatasetFromGraph(graph_def=serialized))

    def _import(self, source: tf.Graph, variant: tf.Tensor) -> InputStart:
        tables = source.get_collection(_TABLES)
        definition = source.as_graph_def()
        with self._graph.as_default(), tf.name_scope("next_input"):
            dataset, *initializers = tf.import_graph_def(
                definition, return_elements=[variant.name, *(op.name for op in tables)]
            )
            start = self._bind(dataset)
        return InputStart((initializers, start), {}, source, definition.ByteSize())

    def _bind(self, variant: tf.Tensor, has_few_rows: bool = False) -> tf.Operation:
        iterator = self._inputs.iterator
        dataset = tf.data.experimental.from_variant(variant, iterator.element_spec)
        with tf.device("/cpu:0"):
            start = iterator.make_initializer(dataset)
        return optimize_start(start, iterator, has_few_rows)


def _make_key(form: InputForm) -> _Key:
    return form.key, has_many_rows(form.rows)


def _serialize(source: tf.Graph, variant: tf.Tensor) -> bytes | None:
    """Returns a serialized dataset; None if it depends on other state of its graph."""
    with source.as_default():
        data = tf.raw_ops.DatasetToGraphV2(
            input_dataset=variant, external_state_policy=_FAIL_ON_STATE
        )
    config = tf.compat.v1.ConfigProto(device_count={"GPU": 0})
    with tf.compat.v1.Session(graph=source, config=config) as session:
        try:
            return bytes(session.run(data))
        except (tf.errors.FailedPreconditionError, tf.errors.UnimplementedError):
            return None


def _choose_shape(spec: tf.TensorSpec) -> list[int]:
    """Returns a shape that matches a spec."""
    return [] if spec.shape.rank is None else [size or 0 for size in spec.shape.as_list()]


def _reads_resource(operation: tf.Operation) -> bool:
    return any(tensor.dtype == tf.resource for tensor in operation.inputs)


def _has_state(operation: tf.Operation) -> bool:
    """Returns whether an operation keeps state from one input to the next, as a random one does."""
    # Dataset operations are marked as stateful to prevent constant folding, but start afresh.
    return operation.op_def.is_stateful and "Dataset" not in operation.type
