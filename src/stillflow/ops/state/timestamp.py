"""Timestamp: the time at which a run comes by."""

from __future__ import annotations

from stillflow.ops.registry import define_op

timestamp = define_op(
    "Timestamp() -> (ts: float64)",
    kernel="timestamp()",
    stateful=True,
    differentiable=False,
    public="timestamp",
    doc="Seconds since 1970 as a float64 scalar, found out anew in each run.",
)


@timestamp.shape_rule
def _(context):
    return ()
