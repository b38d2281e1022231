"""SparseAdd and its kin: sparse tensors with sparse and dense ones; products, quotients, softmax."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.registry import define_op
from stillflow.ops.sparse_tensor import SparseTensor, as_sparse_tensor, is_sparse, parts

_NUMBERS = (
    "{float32, float64, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, uint16, "
    "complex128, float16, uint32, uint64}"
)
_REALS = "{float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32, uint64}"
_BOTH = "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64"

sparse_add_op = define_op(
    f"SparseAdd({_BOTH}, thresh: Treal) -> (sum_indices: int64, sum_values: T, sum_shape: int64)",
    f"T: {_NUMBERS}; Treal: {_REALS}",
    kernel="sparse_add(a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh)",
)
sparse_add_grad = define_op(
    "SparseAddGrad(backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64) -> "
    "(a_val_grad: T, b_val_grad: T)",
    f"T: {_NUMBERS}",
    kernel="sparse_add_grad(backprop_val_grad, a_indices, b_indices, sum_indices)",
    differentiable=False,
)
sparse_tensor_dense_add = define_op(
    "SparseTensorDenseAdd(a_indices: Tindices, a_values: T, a_shape: Tindices, b: T) -> (output: T)",
    f"T: {_NUMBERS}; Tindices: {{int32, int64}}",
    kernel="sparse_tensor_dense_add(a_indices, a_values, a_shape, b)",
)


def _cwise(name, operation):
    return define_op(
        f"SparseDenseCwise{name}(sp_indices: int64, sp_values: T, sp_shape: int64, dense: T) -> (output: T)",
        f"T: {_NUMBERS}",
        kernel=f"sparse_dense_cwise(sp_indices, sp_values, sp_shape, dense | '{operation}')",
    )


def _extremum(name, types, kept):
    return define_op(
        f"SparseSparse{name}({_BOTH}) -> (output_indices: int64, output_values: T)",
        f"T: {types}",
        kernel=f"sparse_extremum(a_indices, a_values, a_shape, b_indices, b_values, b_shape | '{kept}')",
    )


sparse_dense_cwise_add_op = _cwise("Add", "add")
sparse_dense_cwise_mul = _cwise("Mul", "mul")
sparse_dense_cwise_div = _cwise("Div", "div")
sparse_sparse_maximum = _extremum("Maximum", _REALS, "max")
sparse_sparse_minimum = _extremum("Minimum", _NUMBERS, "min")
sparse_tensor_dense_mat_mul = define_op(
    "SparseTensorDenseMatMul(a_indices: Tindices, a_values: T, a_shape: int64, b: T) -> (product: T)",
    "T: type; Tindices: {int32, int64} = int64; adjoint_a: bool = false; adjoint_b: bool = false",
    kernel="sparse_tensor_matmul(a_indices, a_values, a_shape, b | adjoint_a, adjoint_b)",
)
sparse_softmax_op = define_op(
    "SparseSoftmax(sp_indices: int64, sp_values: T, sp_shape: int64) -> (output: T)",
    "T: {float32, float64}",
    kernel="sparse_softmax(sp_indices, sp_values, sp_shape)",
)


# ---- Shapes -----------------------------------------------------------------------------------------------------


@sparse_add_op.shape_rule
def _(context):
    shape = plain.with_rank(context.shapes[2], 1)
    return [(None, shape[0]), (None,), shape]


@sparse_add_grad.shape_rule
def _(context):
    return [(plain.with_rank(context.shapes[i], 2)[0],) for i in (1, 2)]


@sparse_tensor_dense_add.shape_rule
def _(context):
    return context.shapes[3]


@sparse_dense_cwise_add_op.shape_rule
@sparse_dense_cwise_mul.shape_rule
@sparse_dense_cwise_div.shape_rule
def _(context):
    return (plain.with_rank(context.shapes[0], 2)[0],)


@sparse_sparse_maximum.shape_rule
@sparse_sparse_minimum.shape_rule
def _(context):
    plain.merged_size(*(plain.with_rank(context.shapes[i], 2)[1] for i in (0, 3)))
    return [(None, None), (None,)]  # TensorFlow's rule tells no more


@sparse_tensor_dense_mat_mul.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 2)
    plain.with_rank(context.shapes[1], 1)
    a = plain.with_rank(plain.spelled(context, 2), 2)
    b = plain.with_rank(context.shapes[3], 2)
    rows, inner = a[::-1] if context.attrs["adjoint_a"] else a
    other, columns = b[::-1] if context.attrs["adjoint_b"] else b
    plain.merged_size(inner, other)
    return rows, columns


@sparse_softmax_op.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 2)
    plain.with_rank(context.shapes[2], 1)
    return plain.with_rank(context.shapes[1], 1)


# ---- Gradients --------------------------------------------------------------------------------------------------


@sparse_add_op.gradient
def _(op, *grads):
    a_grad, b_grad = sparse_add_grad(grads[1], op._inputs[0], op._inputs[3], op._outputs[0])
    a_grad.set_shape(op._inputs[1].shape)
    b_grad.set_shape(op._inputs[4].shape)
    return None, a_grad, None, None, b_grad, None, None


@sparse_tensor_dense_add.gradient
def _(op, grad):
    return None, ops.gather_nd(grad, op._inputs[0]), None, grad


@sparse_dense_cwise_add_op.gradient
@sparse_sparse_maximum.gradient
@sparse_sparse_minimum.gradient
def _(op, *_):
    raise NotImplementedError(f"Gradient for {op.type} is currently not implemented yet.")


def _dense_at_entries(op):
    """The dense elements at the entries, their places in the dense tensor, and its shape."""
    indices, _, shape, dense = op._inputs
    dense_shape = ops.cast(ops.shape(dense), dtypes.int64)
    added = ops.expand_dims(ops.size(shape) - ops.size(dense_shape), 0)
    scales = shape // ops.concat([ops.ones(added, dtypes.int64), dense_shape], 0)
    places = ops.slice(indices // scales, ops.concat([[0], added], 0), [-1, -1])
    return ops.gather_nd(dense, places), places, dense_shape


def _cwise_gradient(op, places, dense_shape, by_values, by_dense):
    zeros = ops.zeros_like(op._inputs[3])
    return None, by_values, None, sparse_add(zeros, SparseTensor(places, by_dense, dense_shape))


@sparse_dense_cwise_mul.gradient
def _(op, grad):
    dense, places, dense_shape = _dense_at_entries(op)
    return _cwise_gradient(op, places, dense_shape, grad * dense, grad * op._inputs[1])


@sparse_dense_cwise_div.gradient
def _(op, grad):
    dense, places, dense_shape = _dense_at_entries(op)
    return _cwise_gradient(op, places, dense_shape, grad / dense, grad * (-op._inputs[1] / ops.square(dense)))


@sparse_tensor_dense_mat_mul.gradient
def _(op, grad):
    indices, values, shape, b = op._inputs
    adjoint_a, adjoint_b = op._attrs["adjoint_a"], op._attrs["adjoint_b"]
    if values.dtype.base_dtype.is_complex:
        raise NotImplementedError("SparseTensorDenseMatMul op does not support complex gradients.")
    b_grad = sparse_tensor_dense_mat_mul(indices, values, shape, grad, adjoint_a=not adjoint_a)
    if adjoint_b:
        b_grad = ops.transpose(b_grad)
    rows, columns = indices[:, 0], indices[:, 1]
    if adjoint_a:
        rows, columns = columns, rows
    left = ops.gather(grad, rows)
    right = ops.gather(ops.transpose(b) if adjoint_b else b, columns)
    return None, ops.reduce_sum(left * right, axis=1), None, b_grad


@sparse_softmax_op.gradient
def _(op, grad):
    """(grad - the row's sum of grad * softmax) * softmax."""
    indices, _, shape = op._inputs
    softmax = SparseTensor(indices, op._outputs[0], shape)
    grads = SparseTensor(indices, grad, shape)
    product = SparseTensor(indices, softmax.values * grads.values, shape)
    sums = -ops.sparse_reduce_sum(product, [-1], keepdims=True)
    return [None, sparse_dense_cwise_add(grads, sums).values * softmax.values, None]


# ---- Builders ---------------------------------------------------------------------------------------------------


@public("sparse_add", "sparse.add")
def sparse_add(a, b, threshold=None, thresh=None):
    """The sum of two tensors of which one at least is sparse: dense if one is dense.

    Entries of a sparse sum of a magnitude below `threshold` are left out.

    Raises TypeError if both are dense.
    """
    threshold = renamed("threshold", threshold, "thresh", thresh)
    threshold = 0 if threshold is None else threshold
    if not is_sparse(a) and not is_sparse(b):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if not (is_sparse(a) and is_sparse(b)):
        sparse, dense = (b, a) if is_sparse(b) else (a, b)
        return sparse_tensor_dense_add(*parts(sparse), dense)
    a, b = as_sparse_tensor(a), as_sparse_tensor(b)
    threshold = convert_to_tensor(threshold, a.dtype.real_dtype.base_dtype, name="threshold")
    indices, values, shape = sparse_add_op(*parts(a), *parts(b), threshold)
    a.shape.assert_is_compatible_with(b.shape)
    known = ops.broadcast_static_shape(a.shape, b.shape)
    return SparseTensor(indices, values, known.as_list() if known.is_fully_defined() else shape)


def sparse_dense_cwise_add(sp_input, dense):
    sums = sparse_dense_cwise_add_op(*parts(sp_input), dense)
    return SparseTensor(sp_input.indices, sums, sp_input.dense_shape)


@public("sparse_tensor_dense_matmul", "sparse.matmul", "sparse.sparse_dense_matmul")
def sparse_tensor_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    """The product of a sparse matrix and a dense one, each transposed first if asked for."""
    sp_a = as_sparse_tensor(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul", [sp_a.indices, sp_a.values, b]):
        b = convert_to_tensor(b, name="b")
        return sparse_tensor_dense_mat_mul(*parts(sp_a), b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)


@public("sparse_softmax", "sparse.softmax")
def sparse_softmax(sp_input, name=None):
    """Softmax over the entries of each row; the last axis is the row."""
    with name_scope(name, "SparseSoftmax", [sp_input.indices, sp_input.values]):
        values = sparse_softmax_op(*parts(sp_input))
        return SparseTensor(sp_input.indices, values, sp_input.dense_shape)


def _sparse_extremum(scope_name, op, a, b, name):
    with name_scope(name, scope_name, [a.indices, a.values, b.indices, b.values]) as scope:
        indices, values = op(*parts(a), *parts(b), name=scope)
    return SparseTensor(indices, values, a.dense_shape)


@public("sparse_maximum", "sparse.maximum")
def sparse_maximum(sp_a, sp_b, name=None):
    """The greater elements of two sparse tensors of one shape, wherever one of them has an entry."""
    return _sparse_extremum("SparseSparseMaximum", sparse_sparse_maximum, sp_a, sp_b, name)


@public("sparse_minimum", "sparse.minimum")
def sparse_minimum(sp_a, sp_b, name=None):
    """The lesser elements of two sparse tensors of one shape, wherever one of them has an entry."""
    return _sparse_extremum("SparseSparseMinimum", sparse_sparse_minimum, sp_a, sp_b, name)
