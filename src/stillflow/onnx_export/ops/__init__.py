"""Converters of ops, by what they are about. Importing this package registers them all."""

from stillflow.onnx_export.ops import (
    arrays,
    control_flow,
    convolution,
    elementwise,
    image,
    indexing,
    losses,
    normalization,
    pooling,
    products,
    recurrent,
    reduction,
    tensor_array,
)

__all__ = [
    "arrays",
    "control_flow",
    "convolution",
    "elementwise",
    "image",
    "indexing",
    "losses",
    "normalization",
    "pooling",
    "products",
    "recurrent",
    "reduction",
    "tensor_array",
]
