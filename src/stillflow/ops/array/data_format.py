"""DataFormatDimMap, DataFormatVecPermute: dimensions and what belongs to them, of another data format."""

from __future__ import annotations

from stillflow.ops.math.elementwise_unary import unchanged_shape
from stillflow.ops.registry import define_op

_ATTRS = "T: {int32, int64} = int32; src_format: string = 'NHWC'; dst_format: string = 'NCHW'"

data_format_dim_map = define_op(
    "DataFormatDimMap(x: T) -> (y: T)",
    _ATTRS,
    kernel="data_format_dim_map(x | src_format, dst_format)",
    differentiable=None,
)
data_format_vec_permute = define_op(
    "DataFormatVecPermute(x: T) -> (y: T)",
    _ATTRS,
    kernel="data_format_vec_permute(x | src_format, dst_format)",
    differentiable=None,
)
data_format_dim_map.shape_rule(unchanged_shape)
data_format_vec_permute.shape_rule(unchanged_shape)
