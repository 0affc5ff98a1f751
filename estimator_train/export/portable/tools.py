"""Calls converters and runtimes of other projects, in a process of its own.

A process starts this file by its path. It imports neither estimator_train nor, where a runtime
computes, TensorFlow.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np


def convert_to_onnx(job: dict[str, Any]) -> None:
    """Converts a frozen graph with tf2onnx."""
    import tensorflow as tf
    import tf2onnx

    graph_def = tf.compat.v1.GraphDef()
    with open(job["frozen"], "rb") as file:
        graph_def.ParseFromString(file.read())
    trees = job["trees"]
    model, _ = tf2onnx.convert.from_graph_def(
        graph_def,
        input_names=[*job["inputs"].values(), *(tree["logits"] for tree in trees)],
        output_names=[*job["outputs"].values(), *(tree["inputs"] for tree in trees)],
        opset=job["opset"],
    )
    for tree in trees:
        _insert_trees(model, tree)
    _rename(model.graph, {tensor: name for name, tensor in job["inputs"].items()})
    _rename(model.graph, {tensor: name for name, tensor in job["outputs"].items()})
    import onnx

    onnx.checker.check_model(model)
    onnx.save(model, job["target"])


def _insert_trees(model: Any, trees: dict[str, str]) -> None:
    """Connects an output of a model, the inputs of trees, by an operation with an input, their sum.

    Args:
      model: The model.
      trees: Names of the output and the input, and the path of the trees' arrays, which
        `estimator_train.export.tree_graphs.TreeNodes` describes.
    """
    from onnx import helper

    inputs, logits = trees["inputs"], trees["logits"]
    with np.load(trees["nodes"]) as nodes:
        attributes = _describe_trees(dict(nodes))
    domain, version = "ai.onnx.ml", 3
    others = [entry for entry in model.opset_import if entry.domain != domain]
    _replace(model.opset_import, [*others, helper.make_opsetid(domain, version)])
    node = helper.make_node(
        "TreeEnsembleRegressor", [inputs], [logits], "trees", domain=domain, **attributes
    )
    graph = model.graph
    _replace(graph.input, [value for value in graph.input if value.name != logits])
    _replace(graph.output, [value for value in graph.output if value.name != inputs])
    # Nodes must follow those whose outputs they read.
    before, after, later = [], [], {logits}
    for other in graph.node:
        if later.isdisjoint(_list_reads(other)):
            before.append(other)
        else:
            after.append(other)
            later.update(other.output)
    _replace(graph.node, [*before, node, *after])


def _describe_trees(nodes: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Returns the attributes of the operation TreeEnsembleRegressor."""
    count, logits = nodes["value"].shape
    number = np.arange(count)
    tree = np.searchsorted(nodes["roots"], number, "right") - 1
    in_tree = number - nodes["roots"][tree]
    is_split = nodes["left"] != number
    modes = np.full(count, "LEAF", object)
    modes[is_split] = np.where(nodes["by_value"][is_split], "BRANCH_EQ", "BRANCH_LEQ")
    children = {side: nodes[side] - nodes["roots"][tree] for side in ("left", "right")}
    leaf = np.flatnonzero(~is_split)
    return {
        "n_targets": logits,
        "nodes_treeids": tree.tolist(),
        "nodes_nodeids": in_tree.tolist(),
        "nodes_featureids": nodes["feature"].tolist(),
        "nodes_modes": modes.tolist(),
        "nodes_values": nodes["threshold"].tolist(),
        "nodes_truenodeids": np.where(is_split, children["left"], 0).tolist(),
        "nodes_falsenodeids": np.where(is_split, children["right"], 0).tolist(),
        # NaN goes left at a split of a number.
        "nodes_missing_value_tracks_true": is_split.astype(int).tolist(),
        "target_treeids": np.repeat(tree[leaf], logits).tolist(),
        "target_nodeids": np.repeat(in_tree[leaf], logits).tolist(),
        "target_ids": np.tile(np.arange(logits), len(leaf)).tolist(),
        "target_weights": nodes["value"][leaf].ravel().tolist(),
    }


def _list_reads(node: Any) -> Iterator[str]:
    """Yields the names of the values that a node and the graphs of its attributes read."""
    yield from node.input
    for attribute in node.attribute:
        for inner in attribute.g.node:
            yield from _list_reads(inner)


def _replace(field: Any, values: Iterable[Any]) -> None:
    """Replaces the messages of a repeated field."""
    copies = [type(value).FromString(value.SerializeToString()) for value in values]
    del field[:]
    field.extend(copies)


def _rename(graph: Any, names: dict[str, str]) -> None:
    """Gives the values of a graph other names."""
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    for value in (*graph.input, *graph.output, *graph.value_info):
        value.name = names.get(value.name, value.name)


def convert_to_tflite(job: dict[str, Any]) -> None:
    """Converts a SavedModel with TensorFlow's converter, to built-in operations only."""
    import tensorflow as tf

    converter = tf.lite.TFLiteConverter.from_saved_model(
        job["saved_model"], signature_keys=["serving_default"]
    )
    with open(job["target"], "wb") as file:
        file.write(converter.convert())


def convert_to_openvino(job: dict[str, Any]) -> None:
    """Converts a frozen graph with OpenVINO, and stores all numbers as float32."""
    import openvino

    model = openvino.convert_model(
        job["frozen"], input=list(job["inputs"].values()), output=list(job["outputs"].values())
    )
    ports = [(model.input(tensor), name) for name, tensor in job["inputs"].items()]
    ports += [(model.output(tensor), name) for name, tensor in job["outputs"].items()]
    for port, name in ports:
        port.get_tensor().set_names({name})
    openvino.save_model(model, job["target"], compress_to_fp16=False)


def convert_to_tfjs(job: dict[str, Any]) -> None:
    """Converts a SavedModel with tensorflowjs; the directory of the target gets the weights too."""
    import os

    from tensorflowjs.converters import converter  # type: ignore[import-not-found]

    options = ["--input_format=tf_saved_model", "--output_format=tfjs_graph_model"]
    options.append("--signature_name=serving_default")
    converter.convert([*options, job["saved_model"], os.path.dirname(job["target"])])
    with open(job["target"], encoding="utf-8") as file:
        model = json.load(file)
    # The converter replaces the names of some inputs by those of tensors.
    by_tensor = {entry["name"]: entry for entry in model["signature"]["inputs"].values()}
    inputs = {name: by_tensor[tensor] for name, tensor in job["inputs"].items()}
    model["signature"]["inputs"] = inputs
    with open(job["target"], "w", encoding="utf-8") as file:
        json.dump(model, file)


def run_onnx(path: str, inputs: dict[str, Any], outputs: list[str]) -> list[Any]:
    """Returns the outputs that onnxruntime computes."""
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    found: list[Any] = session.run(outputs, inputs)
    return found


def run_tflite(path: str, inputs: dict[str, Any], outputs: list[str]) -> list[Any]:
    """Returns the outputs that LiteRT computes."""
    from ai_edge_litert.interpreter import Interpreter

    runner = Interpreter(model_path=path).get_signature_runner("serving_default")
    found = runner(**inputs)
    return [found[name] for name in outputs]


def run_openvino(path: str, inputs: dict[str, Any], outputs: list[str]) -> list[Any]:
    """Returns the outputs that OpenVINO computes."""
    import openvino

    # The default is bfloat16 on processors that have it; the file cannot set the precision.
    model = openvino.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    found = model(inputs)
    return [found[name] for name in outputs]


def main(path: str) -> None:
    """Runs the job that a JSON file describes.

    Args:
      path: The file. Its `action` is "convert" or "run".
    """
    with open(path, encoding="utf-8") as file:
        job = json.load(file)
    if job["action"] == "convert":
        globals()[f"convert_to_{job['format']}"](job)
        return
    with np.load(job["values"]) as values:
        inputs = dict(values)
    names = job["outputs"]
    found = globals()[f"run_{job['format']}"](job["target"], inputs, names)
    if "tensorflow" in sys.modules:
        raise RuntimeError("TensorFlow was imported: the proof must not need it.")
    np.savez(job["results"], **{str(i): value for i, value in enumerate(found)})


if __name__ == "__main__":
    main(sys.argv[1])
