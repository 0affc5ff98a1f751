"""Graphs of a SavedModel, read and imported into the graph of a step."""

import os
from collections.abc import Mapping
from typing import TypeAlias

import tensorflow as tf
from tensorflow.core.framework import variable_pb2
from tensorflow.core.protobuf import saved_model_pb2

_v1 = tf.compat.v1
_Keys = _v1.GraphKeys
MetaGraph: TypeAlias = tf.compat.v1.MetaGraphDef
Tensors: TypeAlias = dict[str, tf.Tensor]
_VARIABLES = (
    _Keys.GLOBAL_VARIABLES,
    _Keys.LOCAL_VARIABLES,
    _Keys.METRIC_VARIABLES,
    _Keys.MODEL_VARIABLES,
    _Keys.TRAINABLE_VARIABLES,
)
_TRAIN_OP, _MAIN_OPS = "train_op", ("saved_model_main_op", "legacy_init_op")
_INIT_OP = "initialization"


def read_meta_graphs(saved_model_dir: str) -> list[MetaGraph]:
    """Returns all graphs of a SavedModel.

    Raises:
      ValueError: The directory has no SavedModel.
    """
    path = os.path.join(saved_model_dir, "saved_model.pb")
    if not tf.io.gfile.exists(path):
        raise ValueError(
            f"Directory provided has an invalid SavedModel format: {saved_model_dir}. Use the "
            "directory that `export_saved_model` returned, which contains saved_model.pb."
        )
    with tf.io.gfile.GFile(path, "rb") as file:
        return list(saved_model_pb2.SavedModel.FromString(file.read()).meta_graphs)


def keeps_step_as_resource(meta_graph: MetaGraph) -> bool:
    """Returns whether the global step of a graph is a resource variable."""
    nodes = meta_graph.graph_def.node
    return any(node.name == _Keys.GLOBAL_STEP and node.op == "VarHandleOp" for node in nodes)


def import_meta_graph(
    meta_graph: MetaGraph, inputs: Mapping[str, tf.Tensor], signature: str
) -> tuple[Tensors, tf.Operation | None]:
    """Imports a graph into the default graph, which has the global step and the inputs.

    Vocabulary files must be where they were at the export, as under TensorFlow 1.15. Variables
    keep their names. Other operations get new names if theirs are taken; this function finds the
    results by operations that it adds under unused names.

    Args:
      meta_graph: The graph.
      inputs: Tensors by the names of the tensors that they replace.
      signature: Key of the signature to compute.

    Returns:
      The outputs by name, and the training operation if there is one.
    """
    graph = _v1.get_default_graph()
    scope = graph.unique_name("saved_model", mark_as_used=False)
    changed = _v1.MetaGraphDef.FromString(meta_graph.SerializeToString())
    outputs = _add_outputs(changed, scope, signature)
    operations = _add_operations(changed, scope)
    _keep_variables(changed)
    step = f"{_Keys.GLOBAL_STEP}:0"
    replaced = dict(inputs)
    if any(node.name == _Keys.GLOBAL_STEP for node in changed.graph_def.node):
        replaced[step] = graph.get_tensor_by_name(step)
    _v1.train.import_meta_graph(changed, clear_devices=True, input_map=replaced)
    found = {name: graph.get_operation_by_name(node) for name, node in operations.items()}
    if _INIT_OP in found:
        _v1.add_to_collection(_Keys.TABLE_INITIALIZERS, found[_INIT_OP])
    tensors = {name: graph.get_tensor_by_name(f"{node}:0") for name, node in outputs.items()}
    return tensors, found.get(_TRAIN_OP)


def _add_outputs(meta_graph: MetaGraph, scope: str, signature: str) -> dict[str, str]:
    """Adds an operation behind each output, and returns their names by those of the outputs."""
    names = {}
    infos = meta_graph.signature_def[signature].outputs
    for number, (name, info) in enumerate(sorted(infos.items())):
        names[name] = f"{scope}/output_{number}"
        node = meta_graph.graph_def.node.add(name=names[name], op="Identity", input=[info.name])
        node.attr["T"].type = info.dtype
    return names


def _add_operations(meta_graph: MetaGraph, scope: str) -> dict[str, str]:
    """Adds operations that run a training step, and that initialize; returns their names."""
    sources = {_TRAIN_OP: (_TRAIN_OP,), _INIT_OP: _MAIN_OPS}
    names = {}
    for name, keys in sources.items():
        values = [one for key in keys for one in meta_graph.collection_def[key].node_list.value]
        if values:
            names[name] = f"{scope}/{name}"
            inputs = [f"^{value.partition(':')[0]}" for value in values]
            meta_graph.graph_def.node.add(name=names[name], op="NoOp", input=inputs)
    return names


def _keep_variables(meta_graph: MetaGraph) -> None:
    """Removes all collections except those of variables, and the global step from these."""
    for key in list(meta_graph.collection_def):
        if key not in _VARIABLES:
            del meta_graph.collection_def[key]
            continue
        values = meta_graph.collection_def[key].bytes_list.value
        kept = {one: variable_pb2.VariableDef.FromString(one).variable_name for one in values}
        # Some exports list a variable twice.
        by_name = {name: one for one, name in kept.items() if name != f"{_Keys.GLOBAL_STEP}:0"}
        del values[:]
        values.extend(by_name.values())
