"""embedding_lookup: rows of a table by their numbers, where the table may be in several parts."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.clip import clip_by_norm
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_n_to_tensor_or_indexed_slices, convert_to_tensor
from stillflow.variables.cast_variable import AutoCastVariable
from stillflow.variables.partitioned_variables import PartitionedVariable
from stillflow.variables.resource_variable import is_resource_variable


def as_parts(params):
    """A table's parts as a list: those of a partitioned variable, of a list, or the table itself."""
    if isinstance(params, PartitionedVariable):
        return list(params)
    return params if isinstance(params, list) else [params]


@public("nn.embedding_lookup")
def embedding_lookup(params, ids, partition_strategy="mod", name=None, validate_indices=True, max_norm=None):
    """The rows `ids` of a table.

    Args:
      params: a tensor or variable [rows, ...], or its parts: a list of them or a partitioned variable.
      ids: an integer tensor of any shape.
      partition_strategy: "mod": id i is in part i % parts; "div": parts hold neighbouring ids.
      validate_indices: not used.
      max_norm: rows that are longer are scaled down to this norm.

    Returns:
      A tensor of the shape of `ids`, followed by that of a row.

    Raises:
      ValueError: if there is no table, or the strategy is neither.
      InvalidArgumentError: when run, if an id is not in the table.
    """
    if params is None:
        raise ValueError("params must be specified")
    if isinstance(params, (list, tuple)) and not params:
        raise ValueError("Need at least one param")
    params = as_parts(params)
    with name_scope(name, "embedding_lookup", [*params, ids]) as scope:
        # One that layers cast is read as a whole, as TensorFlow does.
        if not any(is_resource_variable(table) and not isinstance(table, AutoCastVariable) for table in params):
            params = convert_n_to_tensor_or_indexed_slices(params, name="params")
        ids = convert_to_tensor(ids, name="ids")
        if len(params) > 1:
            return _lookup_in_parts(params, ids, partition_strategy, scope, max_norm)
        with get_default_graph().colocate_with(params[0]):
            rows = _clipped(ops.gather(params[0], ids, name=scope), ids, max_norm)
        return ops.identity(rows)


def _lookup_in_parts(params, ids, strategy, scope, max_norm):
    """Ids go to the parts that have them; the rows found there are stitched together in the order of the ids."""
    graph = get_default_graph()
    count = len(params)
    flat = ops.reshape(ids, [-1])
    positions = ops.range(ops.size(flat))
    part, row = _part_and_row(params, flat, strategy)
    part = ops.cast(part, dtypes.int32)
    rows_of = ops.dynamic_partition(row, part, count)
    positions_of = ops.dynamic_partition(positions, part, count)
    found = []
    for table, rows in zip(params, rows_of, strict=True):
        with graph.colocate_with(table):
            found.append(ops.gather(table, rows))
    result = ops.parallel_dynamic_stitch(positions_of, found, name=scope)
    width = params[0].shape[1:]
    for table in params[1:]:
        width = width.merge_with(table.shape[1:])
    width_tensor = width
    if not width.is_fully_defined():
        with graph.colocate_with(params[0]):
            shape = ops.shape(params[0])
        width_tensor = shape[1:]
    result = ops.reshape(result, ops.concat([ops.shape(ids), width_tensor], 0))
    result.set_shape(ids.shape.concatenate(width))
    return _clipped(result, ids, max_norm)


def _part_and_row(params, ids, strategy):
    """Which part each id is in, and in which of its rows."""
    count = len(params)
    if strategy == "mod":
        return ids % count, ids // count
    if strategy != "div":
        raise ValueError(f"Unrecognized partition strategy: {strategy}")
    total = _row_count(params, ids.dtype)
    each = total // count
    extra = total % count  # the first parts have a row more
    part = ops.maximum(ids // (each + 1), (ids - extra) // each)
    row = ops.where(part < extra, ids % (each + 1), (ids - extra) % each)
    return part, row


def _row_count(params, dtype):
    sizes: list[int | None] = [None if table._dims is None else table._dims[0] for table in params]
    known = [size for size in sizes if size is not None]
    if len(known) == len(sizes) and sum(known) > 0:
        return ops.constant(sum(known), dtype)
    parts = []
    for table, size in zip(params, sizes, strict=True):
        if size is not None:
            parts.append(size)
        else:
            with get_default_graph().colocate_with(table):
                parts.append(ops.shape(table)[0])
    return ops.reduce_sum(ops.cast(ops.stack(parts), dtype))


def _clipped(rows, ids, max_norm):
    """Rows scaled down to `max_norm` where they are longer."""
    if max_norm is None:
        return rows
    ids_rank, rows_rank = ids.shape.rank, rows.shape.rank
    first = ids_rank or ops.rank(ids)
    last = rows_rank or ops.rank(rows)
    axes = list(range(ids_rank, rows_rank)) if ids_rank and rows_rank else ops.range(first, last)
    return clip_by_norm(rows, max_norm, axes=axes)
