"""Reference variables: the node that stands for a variable, and the ops that change it as a whole."""

from __future__ import annotations

from stillflow.graph.shape import merge
from stillflow.graph.shape_inference import ShapeError
from stillflow.graph.shape_inference import incompatible_text as incompatible
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

NUMBERS = (
    "{float32, float64, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, uint16, "
    "complex128, float16, uint32, uint64}"
)

variable_v2 = define_op(
    "VariableV2() -> (ref: Ref(dtype))",
    "shape: shape; dtype: type; container: string = ''; shared_name: string = ''",
    special="variable",
    stateful=True,
    differentiable=False,
    traits="is_variable",
)
variable = define_op(
    "Variable() -> (ref: Ref(dtype))",
    "shape: shape; dtype: type; container: string = ''; shared_name: string = ''",
    special="variable",
    stateful=True,
    differentiable=False,
    traits="is_variable",
)
# Nothing that a program calls adds these two: TensorFlow's own rewriting of sums over many tensors did.
temporary_variable = define_op(
    "TemporaryVariable() -> (ref: Ref(dtype))",
    "shape: shape; dtype: type; var_name: string = ''",
    kernel="temporary_variable(| dtype, shape, var_name, node_name)",
    stateful=True,
    differentiable=None,
    traits="makes_variable",
)
destroy_temporary_variable = define_op(
    "DestroyTemporaryVariable(ref: Ref(T)) -> (value: T)",
    "T: type; var_name: string",
    kernel="destroy_temporary_variable(ref | var_name)",
    differentiable=None,
)
assign = define_op(
    "Assign(ref: Ref(T), value: T) -> (output_ref: Ref(T))",
    "T: type; validate_shape: bool = true; use_locking: bool = true",
    kernel="assign(ref, value | validate_shape)",
    allows_uninitialized_input=True,
    differentiable=False,
    traits="assigns_variable",
)
assign_add = define_op(
    "AssignAdd(ref: Ref(T), value: T) -> (output_ref: Ref(T))",
    f"T: {NUMBERS}; use_locking: bool = false",
    kernel="assign_add(ref, value)",
    differentiable=False,
)
assign_sub = define_op(
    "AssignSub(ref: Ref(T), value: T) -> (output_ref: Ref(T))",
    f"T: {NUMBERS}; use_locking: bool = false",
    kernel="assign_sub(ref, value)",
    differentiable=False,
)
count_up_to = define_op(
    "CountUpTo(ref: Ref(T)) -> (output: T)",
    "limit: int; T: {int32, int64}",
    kernel="count_up_to(ref | limit)",
    differentiable=False,
)
is_variable_initialized = define_op(
    "IsVariableInitialized(ref: Ref(dtype)) -> (is_initialized: bool)",
    "dtype: type",
    kernel="is_initialized(ref)",
    allows_uninitialized_input=True,
    differentiable=False,
    traits="asks_for_state",
)


@public("python.ops.state_ops.variable_op")
def variable_op(shape, dtype, name="Variable", set_shape=True, container="", shared_name=""):
    """The reference of a variable as graphs of TensorFlow 0.x have it; without `set_shape` its shape is unknown."""
    ref = variable(
        shape=shape if set_shape else None, dtype=dtype, container=container, shared_name=shared_name, name=name
    )
    if set_shape:
        ref.set_shape(shape)
    return ref


@public("python.ops.state_ops.variable_op_v2")
def variable_op_v2(shape, dtype, name="Variable", container="", shared_name=""):
    """The reference of a variable, which tf.assign gives a value."""
    return variable_v2(shape=shape, dtype=dtype, container=container, shared_name=shared_name, name=name)


@variable_v2.shape_rule
@temporary_variable.shape_rule
def _(context):
    return context.attrs["shape"]._dims


@variable.shape_rule
def _(context):
    # The old op cannot tell a scalar from an unknown shape.
    return context.attrs["shape"]._dims or None


@destroy_temporary_variable.shape_rule
def _(context):
    return context.shapes[0]


@assign.shape_rule
def _(context):
    ref, value = context.shapes
    return _merged(ref, value) if context.attrs["validate_shape"] else value


@assign_add.shape_rule
@assign_sub.shape_rule
def _(context):
    return _merged(*context.shapes)


@count_up_to.shape_rule
def _(context):
    return plain.with_rank(context.shapes[0], 0)


@is_variable_initialized.shape_rule
def _(context):
    return ()


def _merged(ref, value):
    merged = merge(ref, value)
    if merged is False:
        raise ShapeError(incompatible(ref, value))
    return merged
