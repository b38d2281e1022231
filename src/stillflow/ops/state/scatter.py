"""Reference variables changed in part: rows, or parts at index tuples, set, added to, multiplied, ..."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.array.scatter_nd import check_parts
from stillflow.ops.registry import define_op
from stillflow.ops.state.variable import NUMBERS

_ORDERED = "{float16, bfloat16, float32, float64, int32, int64}"


def _scatter(name, operation, types=NUMBERS, use_locking="false", differentiable: bool | None = False):
    return define_op(
        f"{name}(ref: Ref(T), indices: Tindices, updates: T) -> (output_ref: Ref(T))",
        f"T: {types}; Tindices: {{int32, int64}}; use_locking: bool = {use_locking}",
        kernel=f"scatter(ref, indices, updates | '{operation}')",
        differentiable=differentiable,
    )


scatter_update = _scatter("ScatterUpdate", "set", "type", "true", differentiable=None)
scatter_add = _scatter("ScatterAdd", "add")
scatter_sub = _scatter("ScatterSub", "sub")
scatter_mul = _scatter("ScatterMul", "mul")
scatter_div = _scatter("ScatterDiv", "div")
scatter_min = _scatter("ScatterMin", "min", _ORDERED, differentiable=None)
scatter_max = _scatter("ScatterMax", "max", _ORDERED, differentiable=None)


def _scatter_nd(name, operation, types=NUMBERS, use_locking="false"):
    return define_op(
        f"{name}(ref: Ref(T), indices: Tindices, updates: T) -> (output_ref: Ref(T))",
        f"T: {types}; Tindices: {{int32, int64}}; use_locking: bool = {use_locking}",
        kernel=f"scatter_nd_ref(ref, indices, updates | '{operation}')",
        differentiable=False,
    )


scatter_nd_update = _scatter_nd("ScatterNdUpdate", "set", "type", "true")
scatter_nd_add = _scatter_nd("ScatterNdAdd", "add")
scatter_nd_sub = _scatter_nd("ScatterNdSub", "sub")


@scatter_update.shape_rule
@scatter_add.shape_rule
@scatter_sub.shape_rule
@scatter_mul.shape_rule
@scatter_div.shape_rule
@scatter_min.shape_rule
@scatter_max.shape_rule
def _(context):
    ref, indices, updates = context.shapes
    if updates != ():
        plain.merged(updates, plain.joined(indices, None if ref is None else ref[1:]))
    return ref


@scatter_nd_update.shape_rule
@scatter_nd_add.shape_rule
@scatter_nd_sub.shape_rule
def _(context):
    ref, indices, updates = context.shapes
    check_parts(ref, indices, updates, "input")
    return context.shapes[0]
