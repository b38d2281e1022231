"""Timestamp, BytesInUse, MaxBytesInUse, BytesLimit: what the machine says at the moment of the run."""

from __future__ import annotations

from stillflow.ops.registry import define_op

timestamp = define_op(
    "Timestamp() -> (ts: float64)",
    kernel="timestamp()",
    stateful=True,
    differentiable=False,
    public="timestamp",
    doc="The time as seconds since 1970, a float64; control_dependencies say at which moment.",
)
bytes_in_use = define_op(
    "BytesInUse() -> (out: int64)",
    kernel="bytes_in_use()",
    stateful=True,
    differentiable=False,
)
max_bytes_in_use = define_op(
    "MaxBytesInUse() -> (out: int64)",
    kernel="max_bytes_in_use()",
    stateful=True,
    differentiable=False,
)
bytes_limit = define_op(
    "BytesLimit() -> (out: int64)",
    kernel="bytes_limit()",
    stateful=True,
    differentiable=False,
)


@timestamp.shape_rule
@bytes_in_use.shape_rule
@max_bytes_in_use.shape_rule
@bytes_limit.shape_rule
def _(context):
    return ()
