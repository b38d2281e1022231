"""Elementwise ops on the bits of integers."""

from __future__ import annotations

from stillflow.ops.math.elementwise_binary import broadcast_rule
from stillflow.ops.math.elementwise_unary import unchanged_shape
from stillflow.ops.registry import define_op

_INTEGERS = "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}"


def _binary(name, elementwise, **options):
    op = define_op(
        f"{name}(x: T, y: T) -> (z: T)", _INTEGERS, elementwise=elementwise, differentiable=False, **options
    )
    op.shape_rule(broadcast_rule)
    return op


bitwise_and = _binary(
    "BitwiseAnd", "bitwise_and", commutative=True, public="bitwise.bitwise_and", doc="The bits that both have."
)
bitwise_or = _binary(
    "BitwiseOr", "bitwise_or", commutative=True, public="bitwise.bitwise_or", doc="The bits that one or both have."
)
bitwise_xor = _binary(
    "BitwiseXor", "bitwise_xor", commutative=True, public="bitwise.bitwise_xor", doc="The bits that exactly one has."
)
left_shift = _binary(
    "LeftShift",
    "left_shift",
    public="bitwise.left_shift",
    doc="x << y, with y taken to the nearest number of bits from 0 to the type's width - 1.",
)
right_shift = _binary(
    "RightShift",
    "right_shift",
    public="bitwise.right_shift",
    doc="x >> y, with y taken to the nearest number of bits from 0 to the type's width - 1.",
)
invert = define_op(
    "Invert(x: T) -> (y: T)",
    _INTEGERS,
    elementwise="invert",
    differentiable=False,
    public="bitwise.invert",
    doc="The bits that x does not have.",
)
population_count = define_op(
    "PopulationCount(x: T) -> (y: uint8)", _INTEGERS, elementwise="population_count", differentiable=False
)

invert.shape_rule(unchanged_shape)
population_count.shape_rule(unchanged_shape)
