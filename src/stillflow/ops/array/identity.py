"""Identity and its kin: nodes that hand on their input, and the node that does nothing."""

from __future__ import annotations

from stillflow.ops.registry import define_op

identity = define_op(
    "Identity(input: T) -> (output: T)",
    "T: type",
    alias=0,
    traits="keeps_value",
    public="identity",
    doc="A tensor with the value of `input`.",
)
stop_gradient = define_op(
    "StopGradient(input: T) -> (output: T)",
    "T: type",
    alias=0,
    differentiable=False,
    public="stop_gradient",
    doc="A tensor with the value of `input` through which no gradient flows.",
)
prevent_gradient = define_op("PreventGradient(input: T) -> (output: T)", "T: type; message: string = ''", alias=0)
identity_n = define_op(
    "IdentityN(input: T) -> (output: T)",
    "T: list(type) >= 1",
    kernel="identity_n(input)",
    public="identity_n",
    doc="A list of the tensors in the list `input`, as one node.",
)
ref_identity = define_op(
    "RefIdentity(input: Ref(T)) -> (output: Ref(T))",
    "T: type",
    special="nothing",
    allows_uninitialized_input=True,
    traits="keeps_value",
)
# Their names say whose gradient is remembered, by stillflow.debug.gradients, which registers their gradients.
debug_gradient_identity = define_op(
    "DebugGradientIdentity(input: T) -> (output: T)",
    "T: type",
    alias=0,
    allows_uninitialized_input=True,
    differentiable=None,
)
debug_gradient_ref_identity = define_op(
    "DebugGradientRefIdentity(input: Ref(T)) -> (output: Ref(T))",
    "T: type",
    special="nothing",
    allows_uninitialized_input=True,
    traits="keeps_value",
    differentiable=None,
)
snapshot = define_op("Snapshot(input: T) -> (output: T)", "T: type", alias=0, differentiable=False)
guarantee_const = define_op(
    "GuaranteeConst(input: T) -> (output: T)",
    "T: type",
    kernel="identity_n(input)",
    stateful=True,
    differentiable=None,
    public="guarantee_const",
    doc="A tensor with the value of `input`, of which it is promised that it never changes.",
)
no_op = define_op(
    "NoOp() -> ()",
    special="nothing",
    differentiable=False,
    public="no_op",
    doc="An operation that does nothing, for others to wait for.",
)


@identity.shape_rule
@stop_gradient.shape_rule
@prevent_gradient.shape_rule
@ref_identity.shape_rule
@debug_gradient_identity.shape_rule
@debug_gradient_ref_identity.shape_rule
@snapshot.shape_rule
@guarantee_const.shape_rule
def _(context):
    return context.shapes[0]


@identity.folded_value
@stop_gradient.folded_value
def _(context):
    return context.value(0)


@identity_n.shape_rule
def _(context):
    return list(context.shapes)


@identity.gradient
@ref_identity.gradient
def _(op, grad):
    return grad


@identity_n.gradient
def _(op, *grads):
    return grads


@prevent_gradient.gradient
def _(op, grad):
    raise LookupError(f"Gradient explicitly disabled. Reason: {op.get_attr('message')}")
