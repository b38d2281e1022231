"""Variables that are cut into parts along their first dimension, as cells of early versions have them."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.variables.get_variable import get_variable
from stillflow.variables.scope import get_variable_scope


def sharded_variable(name, shape, dtype, num_shards):
    """A variable of `num_shards` parts, name_0, name_1, ..., whose first ones are larger where they differ.

    Raises ValueError for more parts than there are rows.
    """
    if num_shards > shape[0]:
        raise ValueError(f"Too many shards: shape={shape}, num_shards={num_shards}")
    size, larger = divmod(shape[0], num_shards)
    sizes = [size + 1 if i < larger else size for i in range(num_shards)]
    parts = [get_variable(f"{name}_{i}", [rows, *shape[1:]], dtype=dtype) for i, rows in enumerate(sizes)]
    if len(parts) == 1:
        return parts[0]
    whole = f"{get_variable_scope().name}/{name}/concat:0"
    graph = get_default_graph()
    for value in graph.get_collection(GraphKeys.CONCATENATED_VARIABLES):
        if value.name == whole:
            return value
    value = ops.concat(parts, 0, name=f"{name}/concat")
    graph.add_to_collection(GraphKeys.CONCATENATED_VARIABLES, value)
    return value
