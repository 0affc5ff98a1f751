"""Inputs of an open model, one after another, with as little growth of its graph as possible.

The user's dataset is built in a separate graph. If it differs from the dataset that the model was
built on, or from an earlier one, only in its values, these are fed. Another one is imported into
the model's graph with placeholders for its values. If forms keep changing, datasets are serialized,
and one operation of the model's graph reads them. Each import makes TensorFlow prune and optimize
the model's graph again. A dataset that cannot be serialized (it calls Python, or reads tables) is
imported each time.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.comparison import have_same_structure
from estimator_train.engine.inputs.input_fn import (
    EXTERNAL_ARRAY,
    Inputs,
    find_external_array,
    has_external_arrays,
    is_dataset,
    is_external_array,
)
from estimator_train.engine.inputs.start import optimize_start
from estimator_train.engine.tf_internals import graphs

_PYTHON_CALLS = ("PyFunc", "PyFuncStateless", "EagerPyFunc")
# Stateful operations that leave the rows as they are.
_CONSTANT_STATE = ("Assert", "HashTableV2", "LookupTableFindV2")
# Parts of the names of random operations.
_RANDOM = ("Multinomial", "Normal", "Random")
# Datasets that are random, or that other processes fill.
_CHANGING_DATASETS = ("DataService", "Random", "Sampling", "Shuffle")
_FAIL_ON_STATE = 2
_SLICED = ("TensorSliceDataset", "TensorDataset")
_TABLES = tf.compat.v1.GraphKeys.TABLE_INITIALIZERS
# With more forms than a program has input_fns, the form changes from call to call.
_MAX_FORMS = 8
# With fewer rows the start of the function that makes batches takes longer than it gains.
_MIN_ROWS = 10_000
# A graph without its values, and whether they have many rows.
_Key = tuple[bytes, bool]


def gives_same_rows_again(operations: Sequence[tf.Operation]) -> bool:
    """Returns whether a second iteration of a dataset is known to give the rows of the first.

    Python functions may read from a generator, which gives its rows once. A random operation, and a
    table that can be changed, may give other rows.

    Args:
      operations: The operations that create the dataset.
    """
    graph = operations[0].graph
    nodes = [*(op.node_def for op in operations), *_list_function_nodes(operations)]
    return all(
        _is_constant(node.op) or find_external_array(graph, node.name) is not None for node in nodes
    )


def calls_python(graph: tf.Graph) -> bool:
    """Returns whether a graph calls functions of Python, other than those of external arrays."""
    definition = graph.as_graph_def()
    nodes = [node for node in definition.node if not is_external_array(graph, node.name)]
    nodes.extend(node for function in definition.library.function for node in function.node_def)
    return any(node.op in _PYTHON_CALLS for node in nodes)


def _list_function_nodes(operations: Sequence[tf.Operation]) -> list[tf.compat.v1.NodeDef]:
    """Returns the nodes of the functions that operations call, and of those that these call."""
    definition = tf.compat.v1.GraphDef()
    definition.node.extend(op.node_def for op in operations)
    graphs.add_functions(definition, operations[0].graph)
    return [node for function in definition.library.function for node in function.node_def]


def _is_constant(operation_type: str) -> bool:
    """Returns whether an operation of a type computes the same result at each iteration."""
    if operation_type in _PYTHON_CALLS:
        return False
    if "Dataset" in operation_type:
        return not any(word in operation_type for word in _CHANGING_DATASETS)
    return operation_type in _CONSTANT_STATE or not graphs.is_stateful(operation_type)


@dataclasses.dataclass(frozen=True)
class _InputForm:
    """Graph of a dataset, with placeholders for its values.

    Attributes:
      definition: The graph.
      values: Name of each placeholder to its values.
      text: The graph in bytes, equal for graphs that differ only in their values.
      has_state: Whether a function of the graph may keep state from one input to the next.
    """

    definition: tf.compat.v1.GraphDef
    values: Mapping[str, Any]
    text: bytes
    has_state: bool

    @property
    def has_many_rows(self) -> bool:
        """Whether the values have enough rows to gain from whole batches."""
        rows = sum(len(value) for value in self.values.values() if value.ndim)
        return rows >= _MIN_ROWS

    @property
    def key(self) -> _Key:
        """Key of the inputs that may start by the same operation."""
        return self.text, self.has_many_rows


@dataclasses.dataclass(frozen=True)
class InputStart:
    """Operations that start an input in an open model's session.

    Attributes:
      operations: The operations, in order.
      feeds: Feeds of the last operation.
      source: The graph that an imported input was built in, which owns its Python functions.
      size: Growth of the model's graph in bytes.
      repeats: Whether a later call may start the input again, without a call of its input_fn.
    """

    operations: tuple[Any, ...]
    feeds: dict[tf.Tensor, Any]
    source: tf.Graph | None = None
    size: int = 0
    repeats: bool = False

    def __call__(self, session: tf.compat.v1.Session) -> None:
        """Starts the input."""
        *before, last = self.operations
        for operation in before:
            session.run(operation)
        session.run(last, self.feeds)


@dataclasses.dataclass(frozen=True)
class _KnownForm:
    """Form of a dataset that is in the model's graph.

    Attributes:
      start: The operation that starts the iterator on the dataset.
      values: The tensors of its values, by their names in the form.
    """

    start: tf.Operation
    values: Mapping[str, tf.Tensor]

    def fits(self, form: _InputForm) -> bool:
        """Returns whether the values of an equal form have shapes that the tensors can have."""
        return all(
            tensor.shape.is_compatible_with(form.values[name].shape)
            for name, tensor in self.values.items()
        )

    def start_on(self, form: _InputForm) -> InputStart:
        """Returns the start of the input with the values of an equal form."""
        feeds = {tensor: form.values[name] for name, tensor in self.values.items()}
        return InputStart((self.start,), feeds)


class InputSlot:
    """Input of an open model's graph, which each call replaces.

    Args:
      graph: The model's graph, not finalized.
      inputs: The inputs that the model was built on, with an iterator.
    """

    def __init__(self, graph: tf.Graph, inputs: Inputs) -> None:
        self._graph = graph
        self._inputs = inputs
        self._forms: dict[_Key, _KnownForm] = {}

    def prepare_first(self, may_repeat: bool) -> InputStart:
        """Returns the start of the input that the model was built on, before its session opens.

        Args:
          may_repeat: Whether this input is the one of later calls too.
        """
        initializer, iterator = self._inputs.initializer, self._inputs.iterator
        form, repeats = None, False
        if initializer is not None and initializer.type == "MakeIterator":
            operations = _list_operations(initializer.inputs[0])
            form = None if _reads_resources(operations) else _extract_stateless_form(operations)
            repeats = may_repeat and gives_same_rows_again(operations)
        has_few_rows = form is not None and not form.has_many_rows
        with self._graph.as_default():
            start = optimize_start(initializer, iterator, has_few_rows and not repeats)
        if form is None or (has_few_rows and repeats):
            return InputStart((start,), {}, repeats=repeats)
        values = {name: self._graph.get_tensor_by_name(f"{name}:0") for name in form.values}
        known = self._forms[form.key] = _KnownForm(start, values)
        return dataclasses.replace(known.start_on(form), repeats=repeats)

    def take(
        self, make: Callable[[], Any], prepare: Callable[[], Any], may_repeat: bool
    ) -> InputStart | None:
        """Builds the next input.

        Args:
          make: Calls the user's input_fn.
          prepare: Called before `make` in the new graph.
          may_repeat: Whether this input is the one of later calls too.

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
        operations = _list_operations(variant)
        start = self._start(source, variant, operations)
        repeats = may_repeat and gives_same_rows_again(operations)
        return dataclasses.replace(start, repeats=repeats)

    def _start(
        self, source: tf.Graph, variant: tf.Tensor, operations: Sequence[tf.Operation]
    ) -> InputStart:
        """Returns the start of a dataset of another graph.

        Args:
          source: The graph.
          variant: The dataset.
          operations: The operations that create the dataset.
        """
        if source.get_collection(_TABLES) or _reads_resources(operations):
            return self._import(source, variant)
        form = _extract_stateless_form(operations)
        if form is not None:
            known = self._forms.get(form.key)
            if known is not None and known.fits(form):
                return known.start_on(form)
            if len(self._forms) < _MAX_FORMS:
                return self._add_form(form, variant.name).start_on(form)
        serialized = None
        if not (has_external_arrays(source) or _keeps_unserialized_state(operations)):
            serialized = _serialize(source, variant)
        if serialized is None:
            return self._import(source, variant)
        placeholder, read = self._reader
        return InputStart((read,), {placeholder: serialized})

    def _add_form(self, form: _InputForm, dataset: str) -> _KnownForm:
        """Imports a form into the model's graph.

        Args:
          form: The form.
          dataset: Name of the tensor of its dataset.
        """
        names = list(form.values)
        with self._graph.as_default(), tf.name_scope("next_input"):
            variant, *values = tf.import_graph_def(
                form.definition, return_elements=[dataset, *(f"{name}:0" for name in names)]
            )
            start = self._bind(variant, not form.has_many_rows)
        known = _KnownForm(start, dict(zip(names, values, strict=True)))
        self._forms[form.key] = known
        return known

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


def _keeps_unserialized_state(operations: Sequence[tf.Operation]) -> bool:
    """Returns whether the functions of a dataset call Python, or are random.

    TensorFlow refuses to serialize these, and writes a line about the refusal to the log.
    """
    types = {node.op for node in _list_function_nodes(operations)}
    return any(
        (name in _PYTHON_CALLS or any(word in name for word in _RANDOM))
        and "Dataset" not in name
        and graphs.is_stateful(name)
        for name in types
    )


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


def _list_operations(dataset: tf.Tensor) -> list[tf.Operation]:
    """Returns the operations that create a dataset."""
    return list(graphs.walk([dataset.op]))


def _reads_resources(operations: Iterable[tf.Operation]) -> bool:
    """Returns whether operations read tables or other resources."""
    return any(tensor.dtype == tf.resource for op in operations for tensor in op.inputs)


def _extract_stateless_form(operations: Sequence[tf.Operation]) -> _InputForm | None:
    """Returns the form of a dataset; None if it keeps state from one input to the next."""
    if any(map(_has_state, operations)):
        return None
    form = _extract_form(operations)
    return None if form.has_state else form


def _has_state(operation: tf.Operation) -> bool:
    """Returns whether an operation keeps state from one input to the next, as a random one does."""
    # Dataset operations are marked as stateful to prevent constant folding, but start afresh.
    return operation.op_def.is_stateful and "Dataset" not in operation.type


def _extract_form(operations: Sequence[tf.Operation]) -> _InputForm:
    """Returns the form of the dataset that operations create."""
    graph = operations[0].graph
    needed = set(operations)
    definition = tf.compat.v1.GraphDef()
    definition.versions.producer = graph.graph_def_versions.producer
    # In the order in which they were added, which is the same for equal input_fns.
    definition.node.extend(op.node_def for op in graph.get_operations() if op in needed)
    graphs.add_functions(definition, graph)
    slices = [node for node in definition.node if node.op in _SLICED]
    sliced = {name.partition(":")[0] for node in slices for name in node.input}
    values: dict[str, Any] = {}
    for node in definition.node:
        if node.op == EXTERNAL_ARRAY:
            dtype, value = node.attr["Tout"].list.type[0], find_external_array(graph, node.name)
        elif node.op == "Const" and node.name in sliced:
            dtype, value = node.attr["dtype"].type, tf.make_ndarray(node.attr["value"].tensor)
        else:
            continue
        if value is None:  # Another Python function.
            continue
        values[node.name] = value
        node.op = "Placeholder"
        node.attr.clear()
        node.attr["dtype"].type = dtype
    has_state = any(function.signature.is_stateful for function in definition.library.function)
    return _InputForm(definition, values, _serialize_form(definition), has_state)


def _serialize_form(definition: tf.compat.v1.GraphDef) -> bytes:
    """Returns the graph in bytes, with functions renumbered in the order of their names."""
    text = bytes(definition.SerializeToString(deterministic=True))
    names = {function.signature.name for function in definition.library.function}
    for number, name in enumerate(sorted(names, key=lambda name: (-len(name), name))):
        text = text.replace(name.encode(), b"function %d" % number)
    return text
