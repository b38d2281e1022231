"""SparseFillEmptyRows: a sparse tensor in which every row has an entry."""

from __future__ import annotations

from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.registry import define_op
from stillflow.ops.sparse_tensor import SparseTensor, as_sparse_tensor, parts

sparse_fill_empty_rows_op = define_op(
    "SparseFillEmptyRows(indices: int64, values: T, dense_shape: int64, default_value: T) -> "
    "(output_indices: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: int64)",
    "T: type",
    kernel="sparse_fill_empty_rows(indices, values, dense_shape, default_value)",
)
sparse_fill_empty_rows_grad = define_op(
    "SparseFillEmptyRowsGrad(reverse_index_map: int64, grad_values: T) -> (d_values: T, d_default_value: T)",
    "T: type",
    kernel="sparse_fill_empty_rows_grad(reverse_index_map, grad_values)",
    differentiable=None,
)


@sparse_fill_empty_rows_op.shape_rule
def _(context):
    indices = plain.with_rank(context.shapes[0], 2)
    values = plain.with_rank(context.shapes[1], 1)
    shape = plain.with_rank(context.shapes[2], 1)
    plain.with_rank(context.shapes[3], 0)
    count = plain.merged_size(indices[0], values[0])
    columns = plain.merged_size(indices[1], shape[0])
    dims = plain.spelled(context, 2)
    return [(None, columns), (None,), (dims[0] if dims else None,), (count,)]


@sparse_fill_empty_rows_grad.shape_rule
def _(context):
    plain.with_rank(context.shapes[1], 1)
    return [plain.with_rank(context.shapes[0], 1), ()]


@sparse_fill_empty_rows_op.gradient
def _(op, _indices, values_grad, _is_empty, _map):
    by_values, by_default = sparse_fill_empty_rows_grad(op._outputs[3], values_grad)
    return [None, by_values, None, by_default]


@public("sparse_fill_empty_rows", "sparse.fill_empty_rows")
def sparse_fill_empty_rows(sp_input, default_value, name=None):
    """(sparse tensor, bools): rows without an entry get `default_value` at their beginning, and which those are."""
    sp_input = as_sparse_tensor(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp_input]):
        default_value = convert_to_tensor(default_value, sp_input.values.dtype)
        indices, values, is_empty, _ = sparse_fill_empty_rows_op(*parts(sp_input), default_value)
        return SparseTensor(indices, values, sp_input.dense_shape), is_empty
