"""BatchNormWithGlobalNormalization and its gradient: batch normalization in graphs of 2015."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_ATTRS = (
    "T: {float32, float64, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, uint16, "
    "complex128, float16, uint32, uint64}; variance_epsilon: float; scale_after_normalization: bool"
)

batch_norm_with_global_normalization_op = define_op(
    "BatchNormWithGlobalNormalization(t: T, m: T, v: T, beta: T, gamma: T) -> (result: T)",
    _ATTRS,
    kernel="global_batch_norm(t, m, v, beta, gamma | variance_epsilon, scale_after_normalization)",
)
batch_norm_with_global_normalization_grad = define_op(
    "BatchNormWithGlobalNormalizationGrad(t: T, m: T, v: T, gamma: T, backprop: T) -> (dx: T, dm: T, dv: T, db: T, "
    "dg: T)",
    _ATTRS,
    kernel="global_batch_norm_grad(t, m, v, gamma, backprop | variance_epsilon, scale_after_normalization)",
    differentiable=None,
)


def _with_depth(dims, vectors):
    """`dims` of rank 4 and the size of its last dimension, which vectors may know, too."""
    dims = plain.with_rank(dims, 4)
    depth = dims[3]
    for vector in vectors:
        depth = plain.merged_size(depth, plain.with_rank(vector, 1)[0])
    return (*dims[:3], depth), depth


@batch_norm_with_global_normalization_op.shape_rule
def _(context):
    return _with_depth(context.shapes[0], context.shapes[1:])[0]


@batch_norm_with_global_normalization_grad.shape_rule
def _(context):
    t, *vectors, backprop = context.shapes
    dims, depth = _with_depth(plain.merged(plain.with_rank(t, 4), plain.with_rank(backprop, 4)), vectors)
    return [dims, (depth,), (depth,), (depth,), (depth,)]


@batch_norm_with_global_normalization_op.gradient
def _(op, grad):
    t, mean, variance, _, gamma = op._inputs
    dt, dmean, dvariance, dbeta, dgamma = batch_norm_with_global_normalization_grad(
        t,
        mean,
        variance,
        gamma,
        grad,
        variance_epsilon=op.get_attr("variance_epsilon"),
        scale_after_normalization=op.get_attr("scale_after_normalization"),
    )
    return dt, dmean, dvariance, dbeta, dgamma
