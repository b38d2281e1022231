"""SparseReorder, SparseReshape, SparseConcat, SparseSlice, SparseSplit: entries moved, joined and picked."""

from __future__ import annotations

import math

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.registry import define_op
from stillflow.ops.sparse_tensor import SparseTensor, as_sparse_tensor, known_dims, parts

sparse_reorder_op = define_op(
    "SparseReorder(input_indices: int64, input_values: T, input_shape: int64) -> "
    "(output_indices: int64, output_values: T)",
    "T: type",
    kernel="sparse_reorder(input_indices, input_values, input_shape)",
)
sparse_reshape_op = define_op(
    "SparseReshape(input_indices: int64, input_shape: int64, new_shape: int64) -> "
    "(output_indices: int64, output_shape: int64)",
    kernel="sparse_reshape(input_indices, input_shape, new_shape)",
    differentiable=None,
)
sparse_concat_op = define_op(
    "SparseConcat(indices: N * int64, values: N * T, shapes: N * int64) -> "
    "(output_indices: int64, output_values: T, output_shape: int64)",
    "concat_dim: int; N: int >= 2; T: type",
    kernel="sparse_concat(indices, values, shapes | concat_dim)",
    differentiable=False,
)
sparse_slice_op = define_op(
    "SparseSlice(indices: int64, values: T, shape: int64, start: int64, size: int64) -> "
    "(output_indices: int64, output_values: T, output_shape: int64)",
    "T: type",
    kernel="sparse_slice(indices, values, shape, start, size)",
)
sparse_slice_grad = define_op(
    "SparseSliceGrad(backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64) -> "
    "(val_grad: T)",
    "T: {float32, float64, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, uint16, "
    "complex128, float16, uint32, uint64}",
    kernel="sparse_slice_grad(backprop_val_grad, input_indices, input_start, output_indices)",
    differentiable=None,
)
sparse_split_op = define_op(
    "SparseSplit(split_dim: int64, indices: int64, values: T, shape: int64) -> "
    "(output_indices: num_split * int64, output_values: num_split * T, output_shape: num_split * int64)",
    "num_split: int >= 1; T: type",
    kernel="sparse_split(split_dim, indices, values, shape | num_split)",
    differentiable=None,
)


# ---- Shapes -----------------------------------------------------------------------------------------------------


@sparse_reorder_op.shape_rule
def _(context):
    plain.with_rank(context.shapes[2], 1)
    return [plain.with_rank(context.shapes[0], 2), plain.with_rank(context.shapes[1], 1)]


@sparse_reshape_op.shape_rule
def _(context):
    indices = plain.with_rank(context.shapes[0], 2)
    plain.with_rank(context.shapes[1], 1)
    new_shape = plain.with_rank(context.shapes[2], 1)
    return [(indices[0], new_shape[0]), new_shape]


@sparse_reshape_op.folded_value
def _(context):
    indices, old, new = (context.value(i) for i in range(3))
    if indices is None or old is None or new is None:
        return None
    # In Python's integers, which do not overflow; what the kernel refuses is not known here.
    count, rest = math.prod(old.tolist()), math.prod(new[new != -1].tolist())
    if (old < 0).any() or count >= 2**63:
        return None
    shape = np.where(new == -1, count // max(rest, 1), new)
    if math.prod(shape.tolist()) != count:
        return None
    if context.output_index == 1:
        return shape
    if np.array_equal(shape, old):  # whatever the indices are
        return indices
    if (indices < 0).any() or (indices >= old).any():
        return None
    places = indices @ _strides(old)
    return places[:, np.newaxis] // _strides(shape) % shape


def _strides(shape):
    """How many elements of a shape lie between neighbours along each axis."""
    return np.append(np.cumprod(shape[:0:-1])[::-1], 1)[-shape.size :] if shape.size else shape


@sparse_concat_op.shape_rule
def _(context):
    count = context.attrs["N"]
    rows: int | None = 0
    columns = shape = None
    for i in range(count):
        indices = plain.with_rank(context.shapes[i], 2)
        values = plain.with_rank(context.shapes[count + i], 1)
        size = plain.merged_size(indices[0], values[0])
        rows = None if rows is None or size is None else rows + size
        columns = plain.merged_size(columns, indices[1])
        shape = plain.merged(shape, plain.with_rank(context.shapes[2 * count + i], 1))
    return [(rows, columns), (rows,), shape]


@sparse_slice_op.shape_rule
def _(context):
    shape = context.shapes[2]
    return [(None, plain.product(shape)), (None,), shape]


@sparse_slice_grad.shape_rule
def _(context):
    return (plain.with_rank(context.shapes[1], 2)[0],)


@sparse_split_op.shape_rule
def _(context):
    shape, count = context.shapes[3], context.attrs["num_split"]
    return [(None, plain.product(shape))] * count + [(None,)] * count + [shape] * count


@public("sparse_concat", "sparse.concat")
def sparse_concat(
    axis, sp_inputs, name=None, expand_nonconcat_dim=False, concat_dim=None, expand_nonconcat_dims=None
):
    """Sparse tensors side by side along `axis`.

    `expand_nonconcat_dims` makes the sizes along other axes the largest of all; otherwise they must be equal.
    """
    if expand_nonconcat_dims is not None:
        expand_nonconcat_dim = expand_nonconcat_dims
    return _sparse_concat(renamed("axis", axis, "concat_dim", concat_dim), sp_inputs, expand_nonconcat_dim, name)


@public("sparse_split", "sparse.split")
def sparse_split(keyword_required=None, sp_input=None, num_split=None, axis=None, name=None, split_dim=None):
    """A list of `num_split` parts along `axis`, of which the first may be longer by one. Arguments go by name."""
    if keyword_required is not None:
        raise ValueError("Keyword arguments are required for this function.")
    axis = renamed("axis", axis, "split_dim", split_dim)
    for key, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None:
            raise ValueError(f"{key} is required")
    return _sparse_split(sp_input, num_split, axis, name)


# ---- Gradients --------------------------------------------------------------------------------------------------


@sparse_reorder_op.gradient
def _(op, _indices_grad, values_grad):
    """Each value's gradient goes back to where the value was."""
    indices, _, shape = op._inputs
    count = ops.shape(indices)[0]
    reordered = sparse_reorder(SparseTensor(indices, ops.range(count), shape))
    return None, ops.gather(values_grad, ops.invert_permutation(reordered.values)), None


@sparse_slice_op.gradient
def _(op, *grads):
    indices, values, _, start, _ = op._inputs
    grad = sparse_slice_grad(grads[1], indices, start, op._outputs[0])
    grad.set_shape(values.shape)
    return None, grad, None, None, None


# ---- Builders ---------------------------------------------------------------------------------------------------


def as_sparse_tensors(values):
    """A list of SparseTensors. Raises TypeError for what is none, or no list."""
    if not isinstance(values, (list, tuple)):
        raise TypeError("Inputs must be a list or tuple.")
    return [as_sparse_tensor(value) for value in values]


@public("sparse_reorder", "sparse.reorder")
def sparse_reorder(sp_input, name=None):
    """The same sparse tensor with its entries in row-major order."""
    sp_input = as_sparse_tensor(sp_input)
    indices, values = sparse_reorder_op(*parts(sp_input), name=name)
    shape = sp_input.shape
    return SparseTensor(
        indices, values, shape.as_list() if shape.is_fully_defined() else ops.identity(sp_input.dense_shape)
    )


@public("sparse_reshape", "sparse.reshape")
def sparse_reshape(sp_input, shape, name=None):
    """The same entries in another shape of as many elements; one size may be -1.

    Raises ValueError if the shape is known not to fit.
    """
    sp_input = as_sparse_tensor(sp_input)
    shape = ops.cast(shape, dtypes.int64)
    with name_scope(name, "SparseReshape", [sp_input]) as scope:
        indices, new_shape = sparse_reshape_op(sp_input.indices, sp_input.dense_shape, shape, name=scope)
        known = _known_new_shape(sp_input.shape, shape)
        if known is not None:
            new_shape = ops.constant(known, dtypes.int64)
        return SparseTensor(indices, ops.identity(sp_input.values), new_shape)


def _known_new_shape(old, shape):
    """The new shape as a list, if it is known; -1 is worked out. Raises ValueError if it cannot be."""
    dims = known_dims(shape)
    if dims is None or not old.is_fully_defined():
        return None
    given = constant_value(shape)
    if given is not None and np.sum(given == -1) > 1:
        raise ValueError(f"At most one dimension can be inferred (-1). Found: {given}")
    if dims.count(None) > 1:
        return None
    count = int(np.prod(old.as_list()))
    rest = int(np.prod([size for size in dims if size is not None]))
    sizes = [count // rest if size is None and rest else (size or 0) for size in dims]
    if np.prod(sizes) != count:
        raise ValueError(
            f"Cannot reshape a tensor with {count} elements to shape {list(dims)} ({int(np.prod(sizes))} elements)."
        )
    return sizes


def _sparse_concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    sp_inputs = as_sparse_tensors(sp_inputs)
    if len(sp_inputs) == 1:
        return sp_inputs[0]
    shapes = [sparse.dense_shape for sparse in sp_inputs]
    if expand_nonconcat_dims:
        largest = ops.reduce_max(ops.concat([ops.reshape(shape, [1, -1]) for shape in shapes], 0), 0)
        shapes = [_expanded(shape, largest, axis) for shape in shapes]
    indices, values, shape = sparse_concat_op(
        [sparse.indices for sparse in sp_inputs],
        [sparse.values for sparse in sp_inputs],
        shapes,
        concat_dim=axis,
        name=name,
    )
    known = [constant_value(each) for each in shapes]
    if all(each is not None for each in known):
        sizes = known[0].copy()
        sizes[axis] = sum(each[axis] for each in known)
        shape = convert_to_tensor(sizes)
    return SparseTensor(indices, values, shape)


def _expanded(shape, largest, axis):
    """The shape with the largest sizes but along the axis."""
    before = largest[:axis]
    own = shape[-1:] if axis == -1 else shape[axis : axis + 1]
    return ops.concat([before, own, [] if axis == -1 else largest[axis + 1 :]], 0)


@public("sparse_slice", "sparse.slice")
def sparse_slice(sp_input, start, size, name=None):
    """The part from `start` on, of `size` or to where the whole ends."""
    sp_input = as_sparse_tensor(sp_input)
    start, size = convert_to_tensor(start, dtypes.int64), convert_to_tensor(size, dtypes.int64)
    with name_scope(name, "SparseSlice", [sp_input]) as scope:
        return SparseTensor(*sparse_slice_op(*parts(sp_input), start, size, name=scope))


def _sparse_split(sp_input, num_split, axis, name=None):
    found = sparse_split_op(axis, *parts(as_sparse_tensor(sp_input)), num_split=num_split, name=name)
    return [SparseTensor(*each) for each in zip(*found, strict=True)]
