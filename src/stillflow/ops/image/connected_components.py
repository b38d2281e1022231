"""ImageConnectedComponents of tf.contrib.image: which pixels hang together."""

from __future__ import annotations

from stillflow.ops.math.elementwise_unary import unchanged_shape
from stillflow.ops.registry import define_op

image_connected_components = define_op(
    "ImageConnectedComponents(image: dtype) -> (components: int64)",
    "dtype: {int64, int32, uint16, int16, uint8, int8, float16, float32, float64, bool, string}",
    kernel="connected_components(image)",
    differentiable=False,
)
image_connected_components.shape_rule(unchanged_shape)
