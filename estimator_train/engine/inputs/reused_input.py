"""Inputs that a kept model takes one after another, without its graph growing where possible.

A dataset of the user's is made in a graph of its own. Its values are taken out of that graph, which
is imported into the model's graph with placeholders for them; an input of the same form then only
feeds its values. Where forms keep changing, datasets are written out and read back by one operation
of the model's graph. TensorFlow would otherwise copy, prune and optimize the whole of the model's
graph for each new input. A dataset that cannot be written out (it calls Python, or looks things up
in tables) is imported each time.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.engine import tf_internals
from estimator_train.engine.inputs.input_fn import Inputs, bind_input, is_dataset
from estimator_train.engine.inputs.input_form import InputForm, form_of
from estimator_train.engine.inputs.outside_arrays import arrays_beside
from estimator_train.engine.inputs.start import are_many, untuned

_FAIL_ON_STATE = 2
_TABLES = tf.compat.v1.GraphKeys.TABLE_INITIALIZERS
# More than a program has input_fns; past these, forms change from call to call.
_MOST_FORMS = 8

# A form, and whether its inputs are so large that they start otherwise.
_Key = tuple[bytes, bool]


@dataclasses.dataclass(frozen=True)
class Start:
    """How an input starts in a kept model's session.

    Attributes:
      operations: What is run, one after another.
      feeds: What is fed to the last of them.
      source: The graph that an imported input was made in, which holds its Python functions.
      size: Bytes that the model's graph grew by.
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
    """The place in a kept model's graph where its inputs go.

    Args:
      graph: The model's graph, open for further operations.
      inputs: The inputs that the model was built on; they have an iterator.
    """

    def __init__(self, graph: tf.Graph, inputs: Inputs) -> None:
        self._graph = graph
        self._inputs = inputs
        self._forms: dict[_Key, tuple[tf.Operation, dict[str, tf.Tensor]]] = {}
        self._written: tf.Tensor | None = None
        self._read: tf.Operation | None = None

    def take(self, make: Callable[[], Any], prepare: Callable[[], Any]) -> Start | None:
        """Makes an input.

        Args:
          make: Calls the user's input_fn.
          prepare: Called before it in the new graph, for what comes before it in every graph.

        Returns:
          How it starts; None if it is of another structure than the one the model was built on.
        """
        with tf.Graph().as_default() as source:
            prepare()
            result = make()
            if not is_dataset(result) or result.element_spec != self._inputs.iterator.element_spec:
                return None
            variant = tf.data.experimental.to_variant(result)
        needed = _ancestors(variant.op)
        if source.get_collection(_TABLES) or any(map(_reads_resource, needed)):
            return self._imported(source, variant)
        arrays = arrays_beside(source)
        form = form_of(source.as_graph_def(), {op.name for op in needed}, arrays)
        has_state = form.has_state or any(map(_has_state, needed))
        if not has_state and (_key(form) in self._forms or len(self._forms) < _MOST_FORMS):
            return self._fed(form, variant.name)
        written = None if arrays else _written_out(source, variant)
        if written is None:
            return self._imported(source, variant)
        placeholder, read = self._reader()
        return Start((read,), {placeholder: written})

    def emptied(self) -> tf.Operation | None:
        """Adds an operation that frees what the input holds; None for elements of other kinds."""
        specs = tf.nest.flatten(self._inputs.iterator.element_spec)
        if not all(isinstance(spec, tf.TensorSpec) for spec in specs):
            return None
        with self._graph.as_default(), tf.name_scope("no_input"), tf.device("/cpu:0"):
            none = tuple(tf.zeros([0, *_some_shape(spec)], spec.dtype) for spec in specs)
            options = tf.data.Options()
            options.experimental_optimization.apply_default_optimizations = False
            options.autotune.enabled = False
            dataset = tf.data.Dataset.from_tensor_slices(none).with_options(options)
            return tf.raw_ops.MakeIterator(
                dataset=tf.data.experimental.to_variant(dataset),
                iterator=tf_internals.iterator_handle(self._inputs.iterator),
            )

    def _fed(self, form: InputForm, dataset: str) -> Start:
        """An input of a form that the graph has, or gets here."""
        key = _key(form)
        if key not in self._forms:
            names = list(form.values)
            with self._graph.as_default(), tf.name_scope("next_input"):
                variant, *fed = tf.import_graph_def(
                    form.definition, return_elements=[dataset, *(f"{name}:0" for name in names)]
                )
                start = self._bound(variant, not are_many(form.rows))
            self._forms[key] = start, dict(zip(names, fed, strict=True))
        start, placeholders = self._forms[key]
        return Start((start,), {placeholders[name]: form.values[name] for name in placeholders})

    def _reader(self) -> tuple[tf.Tensor, tf.Operation]:
        if self._written is None or self._read is None:
            with self._graph.as_default(), tf.name_scope("next_input"):
                self._written = tf.compat.v1.placeholder(tf.string, [])
                self._read = self._bound(tf.raw_ops.DatasetFromGraph(graph_def=self._written))
        return self._written, self._read

    def _imported(self, source: tf.Graph, variant: tf.Tensor) -> Start:
        tables = source.get_collection(_TABLES)
        definition = source.as_graph_def()
        with self._graph.as_default(), tf.name_scope("next_input"):
            dataset, *initializers = tf.import_graph_def(
                definition, return_elements=[variant.name, *(op.name for op in tables)]
            )
            start = self._bound(dataset)
        return Start((initializers, start), {}, source, definition.ByteSize())

    def _bound(self, variant: tf.Tensor, has_few_rows: bool = False) -> tf.Operation:
        spec = self._inputs.iterator.element_spec
        start = bind_input(self._inputs, tf.data.experimental.from_variant(variant, spec))
        assert start is not None
        return untuned(start, self._inputs.iterator, has_few_rows)


def _key(form: InputForm) -> _Key:
    return form.key, are_many(form.rows)


def _written_out(source: tf.Graph, variant: tf.Tensor) -> bytes | None:
    """A dataset in bytes; None if it holds what only its own graph has."""
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


def _some_shape(spec: tf.TensorSpec) -> list[int]:
    """A shape that a spec allows."""
    return [] if spec.shape.rank is None else [size or 0 for size in spec.shape.as_list()]


def _ancestors(operation: tf.Operation) -> list[tf.Operation]:
    """All operations that run when this one does, itself among them."""
    stack, found = [operation], {operation.name: operation}
    while stack:
        operation = stack.pop()
        for before in (*operation.control_inputs, *(tensor.op for tensor in operation.inputs)):
            if before.name not in found:
                found[before.name] = before
                stack.append(before)
    return list(found.values())


def _reads_resource(operation: tf.Operation) -> bool:
    return any(tensor.dtype == tf.resource for tensor in operation.inputs)


def _has_state(operation: tf.Operation) -> bool:
    """Whether an operation goes on, at a later input, from where it was: as random numbers do."""
    # Datasets count as stateful so that nothing computes them ahead; what they do begins anew.
    return operation.op_def.is_stateful and "Dataset" not in operation.type
