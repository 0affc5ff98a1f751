"""Descriptions of graphs, to compare two that are built in different ways."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def describe(graph: tf.Graph) -> dict[str, Any]:
    """Returns everything about a graph that programs can see."""
    keys = [key for key in graph.get_all_collection_keys() if isinstance(key, str)]
    collections = {
        key: [getattr(item, "name", str(item)) for item in graph.get_collection(key)]
        for key in keys
    }
    variables = graph.get_collection("variables")
    handles = [variable.handle for variable in variables if hasattr(variable, "handle")]
    # The key of a graph is a number of the process.
    members = [
        {key: str(value) for key, value in vars(variable).items() if key != "_graph_key"}
        for variable in variables
    ]
    stores = graph.get_collection(("__variable_store",))
    return {
        "graph": graph.as_graph_def(add_shapes=True),
        "names": graph._names_in_use,
        "collections": collections,
        "members": members,
        "protos": [variable.to_proto() for variable in variables],
        "groups": [operation.colocation_groups() for operation in graph.get_operations()],
        "handles": [(str(handle._handle_data), handle._unique_id) for handle in handles],
        "owners": [id(handle._parent_trackable()) for handle in handles]
        == [id(variable) for variable in variables if hasattr(variable, "handle")],
        "store": [list(store._vars) for store in stores],
    }
