"""MatrixSquareRoot, MatrixLogarithm: functions of square matrices."""

from __future__ import annotations

from stillflow import ops
from stillflow.ops.math.factors import square_shape
from stillflow.ops.registry import define_op

matrix_square_root = define_op(
    "MatrixSquareRoot(input: T) -> (output: T)",
    "T: {float64, float32, float16, complex64, complex128}",
    kernel="matrix_square_root(input)",
    public="matrix_square_root linalg.sqrtm",
    doc="""The principal square root of each matrix [..., n, n]; NaN for real matrices with negative eigenvalues.""",
)
matrix_logarithm = define_op(
    "MatrixLogarithm(input: T) -> (output: T)",
    "T: {complex64, complex128}",
    kernel="matrix_logarithm(input)",
    differentiable=None,
    public="linalg.logm",
    doc="""The principal logarithm of each complex matrix [..., n, n].""",
)
matrix_square_root.shape_rule(square_shape)
matrix_logarithm.shape_rule(square_shape)


def _kronecker_product(a, b):
    """That of two batches of square matrices."""
    a_shape, b_shape = ops.shape(a), ops.shape(b)
    a_order, b_order = a_shape[-1], b_shape[-1]
    batch = ops.slice(a_shape, [0], [ops.sub(ops.size(a_shape), 2)])
    a_shape = ops.concat([batch, [a_order], [1], [a_order], [1]], 0)
    b_shape = ops.concat([batch, [1], [b_order], [1], [b_order]], 0)
    a, b = ops.reshape(a, a_shape), ops.reshape(b, b_shape)
    order = a_order * b_order
    shape = ops.concat([batch, [order], [order]], 0)
    return ops.reshape(a * b, shape)


@matrix_square_root.gradient
def _(op, grad):
    """Of a = r r, da = r dr + dr r: solved for dr as a linear equation of all its elements."""
    root = op._outputs[0]
    shape = ops.shape(root)
    order = shape[-1]
    count = ops.reduce_prod(shape[0:-2])
    identity = ops.reshape(ops.eye(order, dtype=root.dtype), [-1])
    identities = ops.reshape(ops.tile(identity, [count]), shape)
    transposed = ops.matrix_transpose(root)
    right = _kronecker_product(identities, transposed)
    total = ops.add(right, _kronecker_product(root, identities))
    batch = ops.slice(shape, [0], [ops.sub(ops.size(shape), 2)])
    column_shape = ops.concat([batch, [order * order], [1]], 0)
    column = ops.reshape(ops.matrix_transpose(grad), column_shape)
    return ops.matrix_transpose(ops.reshape(ops.matrix_solve(total, column), shape))
