"""networkx 2.3: Graph.node, matrices, components as graphs, and pickled graphs."""

from __future__ import annotations

import pickle

import numpy as np


def restore(networkx):
    """The names that networkx has dropped."""
    nx = networkx
    if not hasattr(nx.Graph, "node"):
        nx.Graph.node = property(lambda graph: graph.nodes)

    def to_numpy_matrix(G, *args, **kwargs):  # noqa: N803
        return np.asmatrix(nx.to_numpy_array(G, *args, **kwargs))

    def connected_component_subgraphs(G, copy=True):  # noqa: N803
        for component in nx.connected_components(G):
            yield G.subgraph(component).copy() if copy else G.subgraph(component)

    def read_gpickle(path):
        with open(path, "rb") as file:
            return pickle.load(file)

    def write_gpickle(G, path, protocol=pickle.HIGHEST_PROTOCOL):  # noqa: N803
        with open(path, "wb") as file:
            pickle.dump(G, file, protocol)

    found = {
        "to_numpy_matrix": to_numpy_matrix,
        "connected_component_subgraphs": connected_component_subgraphs,
        "read_gpickle": read_gpickle,
        "write_gpickle": write_gpickle,
        "from_numpy_matrix": nx.from_numpy_array,
        "from_scipy_sparse_matrix": nx.from_scipy_sparse_array,
        "to_scipy_sparse_matrix": _sparse_matrix(nx),
    }
    for name, function in found.items():
        if not hasattr(nx, name):
            setattr(nx, name, function)


def _sparse_matrix(nx):
    def to_scipy_sparse_matrix(G, nodelist=None, dtype=None, weight="weight", format="csr"):  # noqa: N803
        from scipy import sparse

        array = nx.to_scipy_sparse_array(G, nodelist, dtype, weight, format)
        return getattr(sparse, f"{format}_matrix")(array)

    return to_scipy_sparse_matrix
