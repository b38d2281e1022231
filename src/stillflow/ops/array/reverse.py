"""Reverse, ReverseV2, ReverseSequence and Roll: elements moved along their dimensions."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

reverse_op = define_op(
    "Reverse(tensor: T, dims: bool) -> (output: T)",
    "T: {uint8, int8, uint16, int16, int32, int64, bool, float16, float32, float64, complex64, complex128, string}",
    kernel="reverse_dims(tensor, dims)",
)
reverse_v2 = define_op(
    "ReverseV2(tensor: T, axis: Tidx) -> (output: T)",
    "Tidx: {int32, int64} = int32; T: {uint8, int8, uint16, int16, int32, int64, bool, bfloat16, float16, float32, "
    "float64, complex64, complex128, string}",
    kernel="reverse(tensor, axis)",
    public="reverse reverse_v2 manip.reverse",
    doc="`tensor` with the dimensions in the integer vector `axis` turned round.",
)
reverse_sequence_op = define_op(
    "ReverseSequence(input: T, seq_lengths: Tlen) -> (output: T)",
    "seq_dim: int; batch_dim: int = 0; T: type; Tlen: {int32, int64} = int64",
    kernel="reverse_sequence(input, seq_lengths | seq_dim, batch_dim)",
)
roll = define_op(
    "Roll(input: T, shift: Tshift, axis: Taxis) -> (output: T)",
    "T: type; Tshift: {int32, int64}; Taxis: {int32, int64}",
    kernel="roll(input, shift, axis)",
    public="roll manip.roll",
    doc="""`input` moved along `axis` by `shift` places; what leaves at one end comes in at the other.""",
)


@reverse_op.shape_rule
def _(context):
    dims, flags = context.shapes
    count = plain.with_rank(flags, 1)[0]
    if dims is not None and count is not None and count != len(dims):
        raise ShapeError(f"reverse dims must have a value for each of {len(dims)} dimensions, not {count}")
    return dims if dims is not None else None if count is None else (None,) * count


@reverse_v2.shape_rule
def _(context):
    dims = context.shapes[0]
    plain.with_rank(context.shapes[1], 1)
    axes = context.value(1)
    if dims is None or axes is None:
        return dims
    seen = set()
    for axis in axes.tolist():
        if not -len(dims) <= axis < len(dims):
            raise ShapeError(f"'axis' value {axis} is out of valid range [{-len(dims)}, {len(dims) - 1}]")
        if axis % len(dims) in seen:
            raise ShapeError(f"axis {axis % len(dims)} specified more than once.")
        seen.add(axis % len(dims))
    return dims


@reverse_v2.folded_value
def _(context):
    value, axes = context.value(0), context.value(1)
    return None if value is None or axes is None else np.flip(value, tuple(axes.tolist()))


@reverse_sequence_op.shape_rule
def _(context):
    dims, lengths = context.shapes
    lengths = plain.with_rank(lengths, 1)
    if dims is None:
        return None
    batch_dim, seq_dim = context.attrs["batch_dim"], context.attrs["seq_dim"]
    for name, dim in (("batch_dim", batch_dim), ("seq_dim", seq_dim)):
        if dim >= len(dims):
            raise ShapeError(f"{name} must be < input rank: {dim} vs. {len(dims)}")
    size = plain.merged_size(dims[batch_dim], lengths[0])
    return (*dims[:batch_dim], size, *dims[batch_dim + 1 :])


@roll.shape_rule
def _(context):
    shifts, axes = (plain.with_rank_at_most(context.shapes[i], 1) for i in (1, 2))
    plain.merged(shifts, axes)
    return plain.with_rank_at_least(context.shapes[0], 1)


@public("reverse_sequence")
def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None, seq_dim=None, batch_dim=None):
    """`input` with the first seq_lengths[i] elements along `seq_axis` turned round, for each i along `batch_axis`."""
    seq_axis = renamed("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch_axis = renamed("batch_axis", batch_axis, "batch_dim", batch_dim)
    batch_axis = 0 if batch_axis is None else batch_axis
    return reverse_sequence_op(input, seq_lengths, seq_dim=seq_axis, batch_dim=batch_axis, name=name)


# ---- Gradients ----------------------------------------------------------------------------------------------


@reverse_op.gradient
def _(op, grad):
    return reverse_op(grad, op._inputs[1]), None


@reverse_v2.gradient
def _(op, grad):
    return reverse_v2(grad, op._inputs[1]), None


@reverse_sequence_op.gradient
def _(op, grad):
    attrs = op._attrs
    back = reverse_sequence_op(grad, op._inputs[1], seq_dim=attrs["seq_dim"], batch_dim=attrs["batch_dim"])
    return back, None


@roll.gradient
def _(op, grad):
    _, shift, axis = op._inputs
    return roll(grad, ops.negative(shift), axis), None, None
