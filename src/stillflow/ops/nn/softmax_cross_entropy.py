"""SoftmaxCrossEntropyWithLogits and its sparse form: losses of classifiers, with their gradients."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.shape_inference import ShapeError, constant_value
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.registry import define_op

_FLOATS = "T: {float16, bfloat16, float32, float64}"

softmax_cross_entropy_op = define_op(
    "SoftmaxCrossEntropyWithLogits(features: T, labels: T) -> (loss: T, backprop: T)",
    _FLOATS,
    kernel="softmax_cross_entropy(features, labels)",
)
sparse_softmax_cross_entropy_op = define_op(
    "SparseSoftmaxCrossEntropyWithLogits(features: T, labels: Tlabels) -> (loss: T, backprop: T)",
    f"{_FLOATS}; Tlabels: {{int32, int64}} = int64",
    kernel="sparse_softmax_cross_entropy(features, labels)",
)


def _broadcast_size(a, b):
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if a is not None and b is not None:
        raise ShapeError(f"Dimensions must be equal, but are {a} and {b}")
    return b if a is None else a


@softmax_cross_entropy_op.shape_rule
def _(context):
    logits, labels = context.shapes
    if logits is None or labels is None:
        return [(None,), (None, None)]
    plain.with_rank(logits, 2)
    plain.with_rank(labels, 2)
    merged = tuple(_broadcast_size(a, b) for a, b in zip(logits, labels, strict=True))
    return [merged[:1], merged]


@sparse_softmax_cross_entropy_op.shape_rule
def _(context):
    logits, labels = context.shapes
    logits = plain.with_rank(logits, 2)
    labels = plain.with_rank(labels, 1)
    batch = plain.merged_size(logits[0], labels[0])
    return [(batch,), (batch, logits[1])]


# ---- Gradients ----------------------------------------------------------------------------------------------


def _for_each_row(vector, matrix):
    return ops.expand_dims(vector, -1) * matrix


def _is_zero(tensor):
    if tensor._op.type in ("ZerosLike", "Zeros"):
        return True
    value = constant_value(convert_to_tensor(tensor))
    return value is not None and bool((value == 0).all())


@softmax_cross_entropy_op.gradient
def _(op, loss_grad, backprop_grad):
    """The second output is the gradient; its own gradient is softmax's."""
    grad = _for_each_row(loss_grad, op._outputs[1])
    logits = op._inputs[0]
    if backprop_grad is not None and not _is_zero(backprop_grad):
        probabilities = ops.softmax(logits)
        row = ops.expand_dims(backprop_grad, 1)
        column = ops.expand_dims(probabilities, 2)
        products = ops.squeeze(ops.matmul(row, column), axis=1)
        grad += (backprop_grad - products) * probabilities
    return grad, _for_each_row(loss_grad, -ops.log_softmax(logits))


@sparse_softmax_cross_entropy_op.gradient
def _(op, loss_grad, _):
    backprop = ops.prevent_gradient(
        op._outputs[1],
        message="Currently there is no way to take the second derivative of sparse_softmax_cross_entropy_with_logits "
        "due to the fused implementation's interaction with tf.gradients()",
    )
    return _for_each_row(loss_grad, backprop), None
