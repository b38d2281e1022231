"""ExtractImagePatches: the patches under a sliding window (im2col)."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op
from stillflow.ops.sparse_tensor import SparseTensor

extract_image_patches_op = define_op(
    "ExtractImagePatches(images: T) -> (patches: T)",
    "ksizes: list(int) >= 4; strides: list(int) >= 4; rates: list(int) >= 4; T: {float32, float64, int32, uint8, "
    "int16, int8, int64, bfloat16, uint16, float16, uint32, uint64}; padding: {'SAME', 'VALID'}",
    kernel="extract_image_patches(images | ksizes, strides, rates, padding)",
)


def patch_count(size, window, stride, rate, is_same):
    """How many places a window has along an axis, if it is known. Raises ShapeError if that is negative."""
    if size is None or window < 1 or stride < 1 or rate < 1:
        return None
    effective = window + (window - 1) * (rate - 1)
    count = -(-size // stride) if is_same else (size - effective + stride) // stride
    if count < 0:
        raise ShapeError(
            f"Computed output size would be negative: {count} [input_size: {size}, effective_filter_size: "
            f"{effective}, stride: {stride}]"
        )
    return count


@extract_image_patches_op.shape_rule
def _(context):
    batch, rows, columns, depth = plain.with_rank(context.shapes[0], 4)
    attrs = context.attrs
    for name in ("ksizes", "strides", "rates"):
        if len(attrs[name]) != 4:
            raise ShapeError(
                f"ExtractImagePatches requires the {name} attribute to contain 4 values, but got: {len(attrs[name])}"
            )
    windows, is_same = attrs["ksizes"], attrs["padding"] == b"SAME"
    counts = [
        patch_count(size, windows[i], attrs["strides"][i], attrs["rates"][i], is_same)
        for i, size in ((1, rows), (2, columns))
    ]
    return (batch, *counts, plain.product((windows[1] * windows[2], depth)))


@extract_image_patches_op.gradient
def _(op, grad):
    """Patches of the pixels' own numbers say which elements each pixel went to: a sparse matrix of ones."""
    images, attrs = op._inputs[0], op._attrs
    shape = ops.shape(images, out_type=dtypes.int64)
    batch, rows, columns, depth = (shape[i] for i in range(4))
    pixel_count = 1 + rows * columns  # and 0 for what is outside
    numbers = ops.reshape(ops.range(1, pixel_count, dtype=dtypes.int64), (1, rows, columns, 1))
    patches = extract_image_patches_op(
        numbers,
        ksizes=attrs["ksizes"],
        strides=attrs["strides"],
        rates=attrs["rates"],
        padding=attrs["padding"],
    )
    out_shape = ops.shape(op._outputs[0], out_type=dtypes.int64)
    out_rows, out_columns = out_shape[1], out_shape[2]
    _, high, wide, _ = attrs["ksizes"]
    count = out_rows * out_columns * high * wide
    places = ops.reshape(ops.range(count, dtype=dtypes.int64), (1, out_rows, out_columns, high * wide))
    pairs = ops.concat([ops.expand_dims(patches, -1), ops.expand_dims(places, -1)], axis=-1)
    pairs = ops.reshape(pairs, (-1, 2))
    went_to = SparseTensor(pairs, ops.ones([count], grad.dtype), (pixel_count, count))
    went_to = ops.sparse_slice(went_to, (1, 0), (pixel_count - 1, count))
    spread = ops.reshape(grad, (batch, out_rows, out_columns, high, wide, depth))
    spread = ops.transpose(spread, (1, 2, 3, 4, 0, 5))
    flat = ops.reshape(spread, (-1, batch * depth))
    result = ops.sparse_tensor_dense_matmul(went_to, flat)
    result = ops.reshape(result, (rows, columns, batch, depth))
    return ops.transpose(result, (2, 0, 1, 3))


@public("extract_image_patches", "image.extract_image_patches")
def extract_image_patches(images, ksizes=None, strides=None, rates=None, padding=None, name=None, sizes=None):
    """The elements under a window at all its places, side by side.

    Args:
      images: [batch, rows, columns, depth], any number type.
      ksizes: [1, rows, columns, 1]: the size of the window; `sizes` is its newer name.
      strides: [1, rows, columns, 1]: how far apart places are.
      rates: [1, rows, columns, 1]: how far apart the elements in a window are.
      padding: "VALID" for places inside the images, "SAME" for as many as there are strides in them.

    Returns:
      [batch, places, places, rows * columns * depth of the window]; zeros stand for what is outside.
    """
    ksizes = renamed("sizes", sizes, "ksizes", ksizes)
    return extract_patches(images, ksizes, strides, rates, padding, name)


@public("image.extract_patches")
def extract_patches(images, sizes, strides, rates, padding, name=None):
    """`extract_image_patches` as it is called in tf.image."""
    return extract_image_patches_op(images, ksizes=sizes, strides=strides, rates=rates, padding=padding, name=name)
