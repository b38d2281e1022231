"""PartitionedCall, StatefulPartitionedCall and RemoteCall: a function of the graph, called."""

from __future__ import annotations

from stillflow.ops.functions.symbolic_gradient import gradient_of_call
from stillflow.ops.registry import define_op

_ATTRS = (
    "Tin: list(type) >= 0; Tout: list(type) >= 0; f: func; config: string = ''; config_proto: string = ''; "
    "executor_type: string = ''"
)
_KERNEL = "call_function(args | f(args), Tout)"

partitioned_call = define_op(
    "PartitionedCall(args: Tin) -> (output: Tout)",
    _ATTRS,
    kernel=_KERNEL,
    state="op",
    traits="waits",
)
stateful_partitioned_call = define_op(
    "StatefulPartitionedCall(args: Tin) -> (output: Tout)",
    _ATTRS,
    kernel=_KERNEL,
    state="op",
    stateful=True,
    traits="waits",
)
# A session has one machine, so the device does not matter.
remote_call = define_op(
    "RemoteCall(target: string, args: Tin) -> (output: Tout)",
    "Tin: list(type) >= 1; Tout: list(type) >= 1; f: func",
    kernel="call_remote(target, args | f(args), Tout)",
    state="op",
    stateful=True,
    differentiable=None,
    traits="waits",
    public="python.ops.functional_ops.remote_call",
    doc="The results, of types `Tout`, of the function `f` of `args`, called on the device `target`.",
)


@partitioned_call.shape_rule
@stateful_partitioned_call.shape_rule
@remote_call.shape_rule
def _(context):
    return [None] * context.output_count()


partitioned_call.gradient(gradient_of_call)
stateful_partitioned_call.gradient(gradient_of_call)
