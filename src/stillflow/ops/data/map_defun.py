"""A function of each row of its arguments."""

from __future__ import annotations

from stillflow.ops.registry import define_op

map_defun = define_op(
    "MapDefun(arguments: Targuments, captured_inputs: Tcaptured) -> (output: output_types)",
    "Targuments: list(type) >= 1; Tcaptured: list(type) >= 0 = []; output_types: list(type) >= 1; "
    "output_shapes: list(shape) >= 1; f: func; max_intra_op_parallelism: int = 1",
    kernel="map_defun(arguments, captured_inputs | output_types, output_shapes, f(captured_inputs), Targuments)",
    differentiable=False,
    traits="waits",
)


@map_defun.shape_rule
def _(context):
    count = len(context.attrs["Targuments"])
    rows = next((shape[0] for shape in context.shapes[:count] if shape is not None and shape), None)
    return [None if shape.rank is None else (rows, *shape._dims) for shape in context.attrs["output_shapes"]]
