"""Graph of a model for other runtimes: constants, no strings, inputs named by features."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.engine.graph.step_graph import call_model_fn, open_model_graph
from estimator_train.engine.job import Job
from estimator_train.engine.portability import (
    IdFeatures,
    TreeLogits,
    has_sequences,
    make_input_name,
    without_tensor_lists,
)
from estimator_train.engine.sessions.open_model import open_restored_session
from estimator_train.engine.sessions.session import make_session_config
from estimator_train.estimator_spec import EstimatorSpec, ModeKeys
from estimator_train.estimator_spec.export_outputs import (
    ClassificationOutput,
    PredictOutput,
    RegressionOutput,
)
from estimator_train.export.portable.rows import (
    SINGLE,
    Rows,
    UnsupportedModelError,
    describe_column,
)
from estimator_train.export.tree_graphs import (
    TreeNodes,
    build_nodes,
    flatten_complete_trees,
    sum_trees,
)

_v1 = tf.compat.v1
_DEFAULT = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
_PREDICT = "predict"  # Signature of canned estimators with all predictions.
_PYTHON = ("PyFunc", "PyFuncStateless", "EagerPyFunc")


@dataclasses.dataclass(frozen=True)
class CutTrees:
    """Trees that a graph does not contain.

    Attributes:
      inputs: Name of the tensor of the numbers that nodes compare, an output of the graph.
      logits: Name of the tensor of the trees' sum, a placeholder of the graph.
      nodes: The nodes of the trees.
    """

    inputs: str
    logits: str
    nodes: TreeNodes


@dataclasses.dataclass(frozen=True)
class PortableGraph:
    """Frozen graph of a model.

    Attributes:
      graph_def: The graph, without variables.
      inputs: Input name to the name of its tensor.
      outputs: Output name to the name of its tensor.
      description: Content of `encoder.json`.
      trees: Trees that were cut out.
    """

    graph_def: tf.compat.v1.GraphDef
    inputs: dict[str, str]
    outputs: dict[str, str]
    description: dict[str, Any]
    trees: list[CutTrees]

    def write(self, directory: str) -> str:
        """Writes a SavedModel with one signature, and frozen.pb; returns the path of the latter."""
        with tf.Graph().as_default() as graph, _v1.Session(graph=graph) as session:
            tf.import_graph_def(self.graph_def, name="")
            _v1.saved_model.simple_save(
                session,
                os.path.join(directory, "saved_model"),
                {name: graph.get_tensor_by_name(tensor) for name, tensor in self.inputs.items()},
                {name: graph.get_tensor_by_name(tensor) for name, tensor in self.outputs.items()},
            )
        path = os.path.join(directory, "frozen.pb")
        with open(path, "wb") as file:
            file.write(self.graph_def.SerializeToString())
        return path


def build_portable_graph(
    job: Job,
    rows: Rows,
    checkpoint_path: str,
    signature: str | None,
    outputs: Collection[str] | None,
    *,
    has_trees: bool = False,
) -> PortableGraph:
    """Builds the graph for predictions, with ids instead of strings as inputs.

    Args:
      job: The estimator.
      rows: Rows that define the features.
      checkpoint_path: The checkpoint.
      signature: Key of the export_outputs; None for "predict" or the default.
      outputs: Names of outputs; None for all that are not strings.
      has_trees: Whether the runtime has an operation for boosted trees. A placeholder then
        replaces their sum; otherwise operations compute it that every runtime has.

    Raises:
      UnsupportedModelError: The model needs strings or Python code.
      ValueError: The signature or an output does not exist.
    """
    with open_model_graph(job) as graph:
        placeholders = rows.make_placeholders()
        features = IdFeatures(placeholders)
        with _without_gradients_of_loops(), without_tensor_lists():
            spec = _call_model(job, features[SINGLE] if rows.is_single else features)
        chosen = select_outputs(spec, signature, outputs)
        with tf.name_scope(""):
            named = {
                name: _name_output(tensor, make_input_name(name)) for name, tensor in chosen.items()
            }
        targets = [tensor.op.name for tensor in named.values()]
        definition = graph.as_graph_def()
        for tree in features.trees:
            _replace_by_placeholder(definition, tree.logits)
            targets.append(tree.inputs.op.name)
        needed = _v1.graph_util.extract_sub_graph(definition, targets)
        _check_operations(needed, graph, placeholders)
        config = make_session_config(job)
        with open_restored_session(graph, spec.scaffold, config, checkpoint_path) as session:
            frozen = _v1.graph_util.convert_variables_to_constants(session, needed, targets)
            trees = [_read_trees(session, tree) for tree in features.trees]
        if not has_trees:
            _expand_trees(frozen, trees)
            trees = []
    inputs, entries = _describe_inputs(frozen, features, rows, named)
    description = {"format": 1, "inputs": entries, "outputs": list(named)}
    tensors = {name: tensor.name for name, tensor in named.items()}
    return PortableGraph(frozen, inputs, tensors, description, trees)


def _name_output(tensor: tf.Tensor, name: str) -> tf.Tensor:
    """Returns a tensor of the same values and of this name."""
    source = tensor
    while source.op.type == "Identity":
        source = source.op.inputs[0]
    if source.op.type == "Placeholder" and source.dtype != tf.bool:
        # OpenVINO loses the name of an output that is an input.
        tensor = tf.maximum(source, source)
    return tf.identity(tensor, name)


def _replace_by_placeholder(graph_def: tf.compat.v1.GraphDef, tensor: tf.Tensor) -> None:
    """Replaces the operation of a tensor by a placeholder of the same name."""
    with tf.Graph().as_default() as graph:
        _v1.placeholder(tensor.dtype, tensor.shape, tensor.op.name)
        (placeholder,) = graph.as_graph_def().node
    (node,) = (node for node in graph_def.node if node.name == tensor.op.name)
    node.CopyFrom(placeholder)


def _read_trees(session: tf.compat.v1.Session, trees: TreeLogits) -> CutTrees:
    values = trees._asdict()
    inputs, logits = values.pop("inputs"), values.pop("logits")
    nodes = flatten_complete_trees(**session.run(values))
    return CutTrees(inputs.name, logits.name, nodes)


def _expand_trees(graph_def: tf.compat.v1.GraphDef, trees: Sequence[CutTrees]) -> None:
    """Replaces the placeholders of trees by operations that compute them.

    Args:
      graph_def: The graph.
      trees: The trees that were cut out of it.
    """
    nodes = {node.name: [node] for node in graph_def.node}
    for tree in trees:
        name = tree.logits.partition(":")[0]
        build = functools.partial(_build_trees, tree.nodes)
        nodes[name] = build_nodes(name, build, [tree.inputs], tf.float32)
    # A second message: the nodes are elements of the list that is replaced.
    expanded = _v1.GraphDef(node=[part for parts in nodes.values() for part in parts])
    del graph_def.node[:]
    graph_def.node.extend(expanded.node)


def _build_trees(nodes: TreeNodes, inputs: list[tf.Tensor]) -> list[tf.Tensor]:
    """Returns the sum of trees of numbers, where NaN goes left at each split."""
    (numbers,) = inputs
    # OpenVINO's comparisons put NaN above all numbers.
    lowest = tf.fill(tf.shape(numbers), numbers.dtype.min)
    return [sum_trees(nodes, tf.where(tf.math.is_nan(numbers), lowest, numbers))]


def _describe_inputs(
    frozen: tf.compat.v1.GraphDef, features: IdFeatures, rows: Rows, outputs: Collection[str]
) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Returns the tensors that a graph takes by their names, and their entries for the encoder.

    No input has the name of an output: ONNX and OpenVINO have one value for each name.
    """
    nodes = {node.name for node in frozen.node}
    inputs: dict[str, str] = {}
    entries: list[dict[str, Any]] = []
    for name, placeholder in features.items():
        if not isinstance(placeholder, tf.Tensor) or placeholder.op.name not in nodes:
            continue
        key = _choose_name(make_input_name(name), "input", (*inputs, *outputs))
        shape = rows.specs[name].shape
        inputs[key] = placeholder.name
        entry = {"kind": "feature", "name": key, "feature": name, "dtype": placeholder.dtype.name}
        entries.append({**entry, "shape": None if shape.rank is None else shape.as_list()})
    for column, given in features.inputs.items():
        if given.ids.op.name not in nodes:
            continue
        key = _choose_name(make_input_name(column.name), "ids", (*inputs, *outputs))
        inputs[key] = given.ids.name
        described = describe_column(column, rows.specs)
        entry = {"kind": "ids", "name": key, "column": described}
        if has_sequences(column):
            entry["sequence"] = True
        if given.weights is not None:
            weights = f"{key}_weights"
            entry["weights"] = _choose_name(weights, "input", (*inputs, *outputs))
            inputs[entry["weights"]] = given.weights.name
        entries.append(entry)
    return inputs, entries


def _choose_name(name: str, suffix: str, used: Collection[str]) -> str:
    """Returns a name, or the name with the suffix and a number, that is not used yet."""
    longer = f"{name}_{suffix}"
    numbered = (f"{longer}_{number}" for number in itertools.count(1))
    return next(n for n in itertools.chain((name, longer), numbered) if n not in used)


def compute_expected(
    job: Job,
    rows: Rows,
    checkpoint_path: str,
    signature: str | None,
    outputs: Collection[str] | None,
) -> dict[str, np.ndarray]:
    """Returns the outputs that TensorFlow computes for rows, from their strings.

    The arguments are those of `build_portable_graph`.
    """
    with open_model_graph(job) as graph:
        features = rows.make_constants()
        spec = _call_model(job, features[SINGLE] if rows.is_single else features)
        chosen = select_outputs(spec, signature, outputs)
        config = make_session_config(job)
        with open_restored_session(graph, spec.scaffold, config, checkpoint_path) as session:
            found: dict[str, np.ndarray] = session.run(chosen)
            return found


@contextlib.contextmanager
def _without_gradients_of_loops() -> Iterator[None]:
    """Builds loops without the lists of values that only gradients need."""
    _v1.experimental.output_all_intermediates(False)
    try:
        yield
    finally:
        _v1.experimental.output_all_intermediates(None)


def _call_model(job: Job, features: Any) -> EstimatorSpec:
    job.create_global_step(_v1.get_default_graph())
    return call_model_fn(job, features, None, ModeKeys.PREDICT)


def select_outputs(
    spec: EstimatorSpec, signature: str | None, names: Collection[str] | None
) -> dict[str, tf.Tensor]:
    """Returns the tensors of a signature by their names.

    Args:
      spec: Result of model_fn in PREDICT.
      signature: Key of the export_outputs; None for "predict" or the default.
      names: Names of outputs; None for all that are not strings.

    Raises:
      ValueError: The signature or an output does not exist, or an output is a string.
    """
    exported: Mapping[str, Any] = spec.export_outputs or {}
    if signature is None:
        signature = _PREDICT if _PREDICT in exported else _DEFAULT
    if signature not in exported:
        raise ValueError(
            f"signature '{signature}' does not exist; this model has "
            f"{sorted(map(str, exported))}. `signature` chooses one of them."
        )
    tensors = _list_tensors(exported[signature])
    missing = sorted(set(names or ()) - set(tensors))
    if missing:
        raise ValueError(
            f"outputs: signature '{signature}' has no {missing}; it has {sorted(tensors)}."
        )
    strings = [name for name, tensor in tensors.items() if tensor.dtype == tf.string]
    wrong = sorted(set(names or ()) & set(strings))
    if wrong:
        raise UnsupportedModelError(
            f"outputs: {wrong} are strings, which other runtimes cannot compute. Use class_ids, or "
            "export with --to=saved_model."
        )
    chosen = {n: t for n, t in tensors.items() if n not in strings and (not names or n in names)}
    if not chosen:
        raise UnsupportedModelError(
            f"signature '{signature}' has only outputs of strings, {sorted(tensors)}: other "
            "runtimes cannot compute them. Choose another signature."
        )
    return chosen


def _list_tensors(output: Any) -> dict[str, tf.Tensor]:
    if isinstance(output, PredictOutput):
        return output.outputs
    if isinstance(output, RegressionOutput):
        return {"outputs": output.value}
    if isinstance(output, ClassificationOutput):
        found = {"scores": output.scores, "classes": output.classes}
        return {name: tensor for name, tensor in found.items() if tensor is not None}
    raise UnsupportedModelError(f"export_outputs of {type(output).__name__} cannot be converted.")


def _check_operations(
    needed: tf.compat.v1.GraphDef, graph: tf.Graph, placeholders: Mapping[str, Any]
) -> None:
    """Raises UnsupportedModelError for operations that no other runtime has."""
    for node in _list_nodes(needed):
        if node.op in _PYTHON:
            raise UnsupportedModelError(
                f"Operation '{node.name}' is Python code (tf.py_function), which a file cannot "
                "contain. Use operations of TensorFlow, or compute its result in the input_fn."
            )
    names = {node.name for node in needed.node}
    for name, placeholder in placeholders.items():
        is_sparse = isinstance(placeholder, tf.SparseTensor)
        operation = placeholder.values.op if is_sparse else placeholder.op
        if operation.name not in names:
            continue
        if is_sparse or placeholder.dtype == tf.string:
            kind = "sparse" if is_sparse else "strings"
            raise UnsupportedModelError(
                f"Feature '{name}' is {kind}, and the model reads it without a categorical column "
                "whose ids can be fed. Use a column of tf.feature_column with a vocabulary, a hash "
                "or an identity, or export with --to=saved_model."
            )
    # Tables of strings are reported as their feature.
    for node in _list_nodes(needed):
        if node.op.startswith("LookupTable"):
            raise UnsupportedModelError(
                f"Operation '{node.name}' reads a table of tf.lookup, which a file cannot contain. "
                "Use a categorical column of tf.feature_column, or tf.gather on a constant, or "
                "export with --to=saved_model."
            )


def _list_nodes(graph_def: tf.compat.v1.GraphDef) -> Iterator[tf.compat.v1.NodeDef]:
    yield from graph_def.node
    for function in graph_def.library.function:
        yield from function.node_def
