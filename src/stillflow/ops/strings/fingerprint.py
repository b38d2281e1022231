"""Fingerprint: a hash of each row of a tensor."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_BYTES = 8

fingerprint_op = define_op(
    "Fingerprint(data: T, method: string) -> (fingerprint: uint8)",
    "T: type",
    kernel="fingerprint(data, method)",
    differentiable=None,
)


@fingerprint_op.shape_rule
def _(context):
    data, method = context.shapes
    plain.with_rank_at_least(data, 1)
    plain.with_rank(method, 0)
    kind = context.value(1)
    if kind is not None and kind.item() != b"farmhash64":
        raise ShapeError(f"Unsupported method: {kind.item().decode(errors='replace')}")
    return (None if data is None else data[0], None if kind is None else _BYTES)


@public("fingerprint")
def fingerprint(data, method="farmhash64", name=None):
    """A hash of each row of a tensor, of the bytes alone: neither the type nor the shape of a row matters.

    Args:
      data: a tensor of rank 1 or more. For rows of several strings, it is of the strings' fingerprints.
      method: a string scalar: "farmhash64", FarmHash's Fingerprint64.
      name: of the node.

    Returns:
      uint8 of shape [rows, 8], the lowest byte first.

    Raises:
      ValueError: for a scalar, or another method.
    """
    return fingerprint_op(data, method, name=name)
