"""Functions and methods that networkx 2 and 3 have removed."""

import pickle
from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from estimator_train.legacy.removed.add import add_missing


def add_to_graphs() -> None:
    """Adds `node`, `add_path` and their like to graphs."""
    add_missing(
        nx.Graph,
        {
            "node": property(lambda self: self.nodes),
            "add_cycle": nx.add_cycle,
            "add_path": nx.add_path,
            "add_star": nx.add_star,
            "nodes_with_selfloops": nx.nodes_with_selfloops,
            "number_of_selfloops": nx.number_of_selfloops,
            "selfloop_edges": nx.selfloop_edges,
        },
    )


def connected_component_subgraphs(graph: Any, copy: bool = True) -> Iterator[Any]:
    """Yields the connected parts of a graph."""
    for nodes in nx.connected_components(graph):
        part = graph.subgraph(nodes)
        yield part.copy() if copy else part


def from_numpy_matrix(matrix: Any, *arguments: Any, **named: Any) -> Any:
    """Returns the graph of an adjacency matrix."""
    return nx.from_numpy_array(np.asarray(matrix), *arguments, **named)


def to_numpy_matrix(graph: Any, *arguments: Any, **named: Any) -> Any:
    """Returns the adjacency matrix of a graph."""
    return np.asmatrix(nx.to_numpy_array(graph, *arguments, **named))


def to_scipy_sparse_matrix(graph: Any, *arguments: Any, **named: Any) -> Any:
    """Returns the adjacency matrix of a graph as a sparse matrix."""
    import scipy.sparse

    return scipy.sparse.csr_matrix(nx.to_scipy_sparse_array(graph, *arguments, **named))


def read_gpickle(path: Any) -> Any:
    """Reads a graph from a file of `write_gpickle`."""
    with open(path, "rb") as file:
        return pickle.load(file)


def write_gpickle(graph: Any, path: Any, protocol: int = pickle.HIGHEST_PROTOCOL) -> None:
    """Writes a graph with pickle."""
    with open(path, "wb") as file:
        pickle.dump(graph, file, protocol)
