"""Values that may be none, and data sets as values."""

from __future__ import annotations

from stillflow.ops.data.declare import SPEC
from stillflow.ops.registry import define_op


def _scalar(op):
    @op.shape_rule
    def _(context):
        return ()

    return op


optional_from_value = _scalar(
    define_op(
        "OptionalFromValue(components: Toutput_types) -> (optional: variant)",
        "Toutput_types: list(type) >= 1",
        kernel="optional_from_value(components)",
        differentiable=False,
    )
)
optional_none = _scalar(
    define_op("OptionalNone() -> (optional: variant)", kernel="optional_none()", differentiable=False)
)
optional_has_value = _scalar(
    define_op(
        "OptionalHasValue(optional: variant) -> (has_value: bool)",
        kernel="optional_has_value(optional)",
        differentiable=False,
    )
)
optional_get_value = define_op(
    "OptionalGetValue(optional: variant) -> (components: output_types)",
    SPEC,
    kernel="optional_get_value(optional | output_types, output_shapes)",
    differentiable=False,
)


@optional_get_value.shape_rule
def _(context):
    return [shape._dims for shape in context.attrs["output_shapes"]]


wrap_dataset_variant = _scalar(
    define_op(
        "WrapDatasetVariant(input_handle: variant) -> (output_handle: variant)",
        kernel="wrap_dataset_variant(input_handle)",
        differentiable=False,
    )
)
unwrap_dataset_variant = _scalar(
    define_op(
        "UnwrapDatasetVariant(input_handle: variant) -> (output_handle: variant)",
        kernel="unwrap_dataset_variant(input_handle)",
        differentiable=False,
    )
)
