"""How products, reductions and factorizations of matrices are vectorized."""

from __future__ import annotations

from stillflow import ops
from stillflow.parallel_for.rules import flatten_two, stacked, unflatten_first, vectorizes


@vectorizes("MatMul")
def _matmul(node):
    (left, left_stacked), (right, right_stacked) = node.inputs
    turns_left, turns_right = node.attr("transpose_a"), node.attr("transpose_b")
    if left_stacked and not right_stacked and not turns_left:
        # All rows of all rounds in one product.
        product = ops.matmul(flatten_two(left), right, transpose_b=turns_right)
        return stacked(_with_static(unflatten_first(product, node.length), left, right, turns_right))
    if left_stacked and right_stacked:
        return stacked(ops.matmul(left, right, transpose_a=turns_left, transpose_b=turns_right))
    left, right = node.stack_all()
    return stacked(ops.matmul(left, right, transpose_a=turns_left, transpose_b=turns_right))


def _with_static(product, left, right, turns_right):
    """The product of rows with the shape that their dimensions say."""
    if left.shape.rank == 3 and right.shape.rank == 2:
        product.set_shape([*left.shape.dims[:2], right.shape.dims[0 if turns_right else 1]])
    return product


@vectorizes("BatchMatMul", "BatchMatMulV2")
def _batch_matmul(node):
    if node.op.type == "BatchMatMul":
        return stacked(node.again(node.stack_all())[0])
    return stacked(node.again(node.aligned())[0])


@vectorizes("Sum", "Prod", "Max", "Min", "Mean", "All", "Any", "EuclideanNorm")
def _reduction(node):
    axes = node.common(1)
    axes = axes + ops.cast(axes >= 0, axes.dtype)
    return stacked(node.again([node.rows(0), axes])[0])


@vectorizes("ArgMax", "ArgMin", "Cumsum", "Cumprod")
def _along_axis(node):
    axis = node.common(1)
    return stacked(node.again([node.rows(0), axis + ops.cast(axis >= 0, axis.dtype)])[0])


@vectorizes("UnsortedSegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd")
def _segments(node):
    data, segments = node.stack_all([0, 1])
    count = node.common(2)
    kept = ops.less(segments, ops.zeros_like(segments))
    ones = ops.fill(ops.reshape(ops.rank(segments) - 1, [1]), 1)
    starts = ops.cast(ops.range(node.length[0]), segments.dtype) * ops.cast(count, segments.dtype)
    starts = ops.reshape(starts, ops.concat([node.length, ones], 0))
    segments = ops.where(kept, segments, segments + starts)  # negative ones are left out
    result = node.again([data, segments, count * ops.cast(node.length[0], count.dtype)])[0]
    return stacked(ops.reshape(result, ops.concat([node.length, ops.reshape(ops.cast(count, "int32"), [1]),
                                                   ops.shape(result)[1:]], 0)))  # fmt: skip


@vectorizes("LogMatrixDeterminant")
def _log_determinant(node):
    outputs = node.again([flatten_two(node.rows(0))])
    return [stacked(unflatten_first(output, node.length)) for output in outputs]


@vectorizes("MatrixTriangularSolve", "MatrixSolve")
def _solve(node):
    return stacked(node.again(node.stack_all())[0])


@vectorizes("Multinomial")
def _multinomial(node):
    (logits, logits_stacked), count = node.inputs[0], node.common(1)
    if logits_stacked:
        return stacked(unflatten_first(node.again([flatten_two(logits), count])[0], node.length))
    samples = node.again([logits, count * node.length[0]])[0]
    samples = ops.reshape(samples, ops.stack([-1, node.length[0], count]))
    return stacked(ops.transpose(samples, [1, 0, 2]))


@vectorizes(
    "RandomUniform", "RandomUniformInt", "RandomStandardNormal", "TruncatedNormal",
)  # fmt: skip
def _random(node):
    shape, *rest = [node.common(index) for index in range(len(node))]
    return stacked(node.again([ops.concat([ops.cast(node.length, shape.dtype), shape], 0), *rest])[0])


@vectorizes("RandomGamma", "RandomPoissonV2")
def _random_of_parameter(node):
    shape, (parameter, is_stacked) = node.common(0), node.inputs[1]
    if not is_stacked:
        return stacked(node.again([ops.concat([ops.cast(node.length, shape.dtype), shape], 0), parameter])[0])
    samples = node.again([shape, parameter])[0]
    before = ops.size(shape)
    order = ops.concat([ops.reshape(before, [1]), ops.range(before), ops.range(before + 1, ops.rank(samples))], 0)
    return stacked(ops.transpose(samples, order))


@vectorizes("Assert")
def _assert(node):
    condition = ops.reduce_all(node.value(0)) if node.is_stacked(0) else node.value(0)
    return node.again_as_op([condition, *(tensor for tensor, _ in node.inputs[1:])])


@vectorizes("Print")
def _print(node):
    # Its data are of all rounds, as they are stacked.
    return node.inputs[0]._replace(tensor=node.again([tensor for tensor, _ in node.inputs])[0])
