"""Graphs for serving: masked weights become constants, without masks and thresholds."""

from collections.abc import Sequence

import tensorflow as tf

from tf_contrib.model_pruning.masks import MASKED_WEIGHT_NAME

_v1 = tf.compat.v1


def graph_def_from_checkpoint(
    checkpoint_dir: str, output_node_names: Sequence[str]
) -> tf.compat.v1.GraphDef:
    """Returns the graph of the latest checkpoint, with its values as constants.

    Args:
      checkpoint_dir: Directory of checkpoints and their graphs (`.meta` files).
      output_node_names: List of the names of the operations to compute.

    Raises:
      ValueError: The directory has no checkpoint.
      AssertionError: The graph has no operation of a name.
      TypeError: The names are not a list.
    """
    path = tf.train.latest_checkpoint(checkpoint_dir)
    if path is None:
        raise ValueError(f"Could not find a checkpoint at: {checkpoint_dir}.")
    with tf.Graph().as_default() as graph, _v1.Session() as session:
        saver = _v1.train.import_meta_graph(f"{path}.meta", clear_devices=True)
        saver.restore(session, path)
        return _v1.graph_util.convert_variables_to_constants(
            session, graph.as_graph_def(), output_node_names
        )


def strip_pruning_vars_fn(
    input_graph_def: tf.compat.v1.GraphDef, output_node_names: Sequence[str]
) -> tf.compat.v1.GraphDef:
    """Returns a graph of constants without masks: each masked weight is one constant.

    Args:
      input_graph_def: Graph whose variables are constants; see `graph_def_from_checkpoint`.
      output_node_names: List of the names of the operations to compute.

    Raises:
      AssertionError: The graph has no operation of a name.
      TypeError: The names are not a list.
    """
    names = [node.name for node in input_graph_def.node]
    masked = [name for name in names if name.endswith(MASKED_WEIGHT_NAME)]
    with tf.Graph().as_default(), _v1.Session() as session:
        tf.graph_util.import_graph_def(input_graph_def, name="")
        values = dict(zip(masked, session.run([f"{name}:0" for name in masked]), strict=True))
    with tf.Graph().as_default() as constants:
        for name, value in values.items():
            tf.constant(value, name=name)
    replaced = {node.name: node for node in constants.as_graph_def().node}
    stripped = tf.compat.v1.GraphDef(versions=input_graph_def.versions)
    stripped.library.CopyFrom(input_graph_def.library)
    stripped.node.extend(replaced.get(node.name, node) for node in input_graph_def.node)
    return _v1.graph_util.extract_sub_graph(stripped, output_node_names)
