"""CTCLoss: what it costs that scores of classes over time spell a label sequence."""

from __future__ import annotations

from stillflow import ops
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

ctc_loss = define_op(
    "CTCLoss(inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32) -> "
    "(loss: T, gradient: T)",
    "preprocess_collapse_repeated: bool = false; ctc_merge_repeated: bool = true; "
    "ignore_longer_outputs_than_inputs: bool = false; T: {float32, float64} = float32",
    kernel="ctc_loss(inputs, labels_indices, labels_values, sequence_length | preprocess_collapse_repeated, "
    "ctc_merge_repeated, ignore_longer_outputs_than_inputs)",
)


@ctc_loss.shape_rule
def _(context):
    inputs = plain.with_rank(context.shapes[0], 3)
    indices = plain.with_rank(context.shapes[1], 2)
    values, lengths = (plain.with_rank(shape, 1) for shape in context.shapes[2:])
    plain.merged_size(indices[0], values[0])
    batch = plain.merged_size(inputs[1], lengths[0])
    return [(batch,), (inputs[0], batch, inputs[2])]


@ctc_loss.gradient
def _(op, grad, _gradient_grad):
    """The op has computed it; there is no gradient of that one."""
    gradient = ops.prevent_gradient(
        op._outputs[1],
        message="Currently there is no way to take the second  derivative of ctc_loss due to the fused "
        "implementation's interaction  with tf.gradients()",
    )
    return ops.expand_dims(grad, -1) * gradient, None, None, None
