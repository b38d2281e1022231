"""ClipByValue: elements between two bounds, as one node. tf.clip_by_value makes a minimum and a maximum instead."""

from __future__ import annotations

from stillflow.ops.registry import define_op

clip_by_value_op = define_op(
    "ClipByValue(t: T, clip_value_min: T, clip_value_max: T) -> (output: T)",
    "T: {float32, float64, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, uint16, "
    "complex128, float16, uint32, uint64}",
    kernel="clip_by_value(t, clip_value_min, clip_value_max)",
    differentiable=None,
)


@clip_by_value_op.shape_rule
def _(context):
    return context.shapes[0]
