"""ExtractVolumePatches: the patches under a window that slides through volumes."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.image.patches import patch_count
from stillflow.ops.registry import define_op
from stillflow.ops.sparse_tensor import SparseTensor

extract_volume_patches_op = define_op(
    "ExtractVolumePatches(input: T) -> (patches: T)",
    "ksizes: list(int) >= 5; strides: list(int) >= 5; T: {float32, float64, int32, uint8, int16, int8, int64, "
    "bfloat16, uint16, float16, uint32, uint64}; padding: {'SAME', 'VALID'}",
    kernel="extract_volume_patches(input | ksizes, strides, padding)",
)


@extract_volume_patches_op.shape_rule
def _(context):
    batch, *sizes, depth = plain.with_rank(context.shapes[0], 5)
    attrs = context.attrs
    for name, word in (("ksizes", "ksizes"), ("strides", "stride")):
        if len(attrs[name]) != 5:
            raise ShapeError(
                f"ExtractVolumePatches requires the {word} attribute to contain 5 values, but got: {len(attrs[name])}"
            )
    windows, is_same = attrs["ksizes"][1:4], attrs["padding"] == b"SAME"
    width = plain.product((*windows, depth))
    if None in sizes:
        return (batch, None, None, None, width)
    counts = [
        patch_count(size, window, stride, 1, is_same)
        for size, window, stride in zip(sizes, windows, attrs["strides"][1:4], strict=True)
    ]
    return (batch, *counts, width)


def _sizes(volumes):
    """Planes, rows and columns, as numbers if they are known."""
    if volumes._dims is not None and None not in volumes._dims[1:4]:
        return volumes._dims[1:4]
    return ops.unstack(ops.shape(volumes), 5)[1:4]


@extract_volume_patches_op.gradient
def _(op, grad):
    """As that of ExtractImagePatches."""
    attrs = op._attrs
    planes, rows, columns = _sizes(op._inputs[0])
    shape = ops.shape(op._inputs[0])
    batch, depth = shape[0], shape[4]
    pixel_count = 1 + planes * rows * columns  # and 0 for what is outside
    numbers = ops.range(1, pixel_count, dtype=dtypes.int64)
    numbers = ops.reshape(numbers, (1, planes, rows, columns, 1))
    patches = extract_volume_patches_op(
        numbers, ksizes=attrs["ksizes"], strides=attrs["strides"], padding=attrs["padding"]
    )
    out_planes, out_rows, out_columns = _sizes(op._outputs[0])
    _, deep, high, wide, _ = attrs["ksizes"]
    window = deep * high * wide
    count = out_planes * out_rows * out_columns * window
    places = ops.reshape(ops.range(count, dtype=dtypes.int64), (1, out_planes, out_rows, out_columns, window))
    pairs = ops.concat([ops.expand_dims(patches, -1), ops.expand_dims(places, -1)], axis=-1)
    pairs = ops.reshape(pairs, (-1, 2))
    went_to = SparseTensor(pairs, ops.ones([count], grad.dtype), (pixel_count, count))
    went_to = ops.sparse_slice(went_to, (1, 0), (pixel_count - 1, count))
    spread = ops.reshape(grad, (batch, out_planes, out_rows, out_columns, deep, high, wide, depth))
    spread = ops.transpose(spread, (1, 2, 3, 4, 5, 6, 0, 7))
    result = ops.sparse_tensor_dense_matmul(went_to, ops.reshape(spread, (-1, batch * depth)))
    result = ops.reshape(result, (planes, rows, columns, batch, depth))
    return ops.transpose(result, (3, 0, 1, 2, 4))


@public("extract_volume_patches")
def extract_volume_patches(input, ksizes, strides, padding, name=None):
    """The elements under a window at all its places in volumes, side by side.

    Args:
      input: [batch, planes, rows, columns, depth], any number type.
      ksizes: [1, planes, rows, columns, 1]: the size of the window.
      strides: [1, planes, rows, columns, 1]: how far apart places are.
      padding: "VALID" for places inside, "SAME" for as many as there are strides.

    Returns:
      [batch, places, places, places, elements of the window * depth]; zeros stand for what is outside.
    """
    return extract_volume_patches_op(input, ksizes=ksizes, strides=strides, padding=padding, name=name)
