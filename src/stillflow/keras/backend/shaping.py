"""Other shapes, other orders, other parts."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.image_resize import resize_images_v2
from stillflow.keras.backend.arithmetic import prod
from stillflow.keras.backend.values import int_shape, is_sparse, ndim, to_dense
from stillflow.layers.core.settings import image_data_format
from stillflow.names import public


@public("keras.backend.transpose")
def transpose(x):
    """x with its axes in the opposite order."""
    return ops.transpose(x)


@public("keras.backend.gather")
def gather(reference, indices):
    """The rows at some indices."""
    return ops.gather(reference, indices)


@public("keras.backend.concatenate")
def concatenate(tensors, axis=-1):
    """Tensors joined along an axis; a SparseTensor, if all are such."""
    if axis < 0:
        rank = ndim(tensors[0])
        axis = axis % rank if rank else 0
    if all(is_sparse(each) for each in tensors):
        return ops.sparse_concat(axis, tensors)
    return ops.concat([to_dense(each) for each in tensors], axis)


@public("keras.backend.reshape")
def reshape(x, shape):
    """x in another shape; one size may be -1."""
    return ops.reshape(x, shape)


@public("keras.backend.permute_dimensions")
def permute_dimensions(x, pattern):
    """x with its axes in another order."""
    return ops.transpose(x, perm=pattern)


@public("keras.backend.repeat_elements")
def repeat_elements(x, rep, axis):
    """Each element along an axis `rep` times."""
    sizes = x.shape.as_list()
    if sizes[axis] is not None:
        parts = ops.split(value=x, num_or_size_splits=sizes[axis], axis=axis)
        return concatenate([part for part in parts for _ in range(rep)], axis)
    shape = ops.shape(x)
    counts = np.ones(len(sizes) + 1)
    counts[axis + 1] = rep
    repeated = ops.tile(ops.expand_dims(x, axis=axis + 1), counts)
    counts = np.delete(counts, axis + 1)
    counts[axis] = rep
    repeated = ops.reshape(repeated, shape * ops.constant(counts, dtype="int32"))
    repeated.set_shape(sizes)
    return repeated


@public("keras.backend.repeat")
def repeat(x, n):
    """Each row of a matrix n times: a tensor of three dimensions."""
    if ndim(x) != 2:
        raise AssertionError(f"repeat takes a matrix, not a tensor of shape {x.shape}")
    return ops.tile(ops.expand_dims(x, 1), ops.stack([1, n, 1]))


@public("keras.backend.arange")
def arange(start, stop=None, step=1, dtype="int32"):
    """Numbers from `start` to before `stop`; from 0 to before `start`, if there is no `stop`."""
    if stop is None and start < 0:
        start = 0
    numbers = ops.range(start, limit=stop, delta=step, name="arange")
    return numbers if dtype == "int32" else ops.cast(numbers, dtype)


@public("keras.backend.tile")
def tile(x, n):
    """x several times along each axis."""
    return ops.tile(x, [n] if isinstance(n, int) else n)


@public("keras.backend.flatten")
def flatten(x):
    """All elements in one row."""
    return ops.reshape(x, [-1])


@public("keras.backend.batch_flatten")
def batch_flatten(x):
    """All dimensions but the first as one."""
    return ops.reshape(x, ops.stack([-1, prod(ops.shape(x)[1:])]))


@public("keras.backend.expand_dims")
def expand_dims(x, axis=-1):
    """x with another axis of size 1."""
    return ops.expand_dims(x, axis)


@public("keras.backend.squeeze")
def squeeze(x, axis):
    """x without an axis of size 1."""
    return ops.squeeze(x, [axis])


@public("keras.backend.stack")
def stack(x, axis=0):
    """Tensors of one shape along a new axis."""
    return ops.stack(x, axis=axis)


@public("keras.backend.one_hot")
def one_hot(indices, num_classes):
    """For each index a row that is 1 there, and 0 elsewhere."""
    return ops.one_hot(indices, depth=num_classes, axis=-1)


@public("keras.backend.reverse")
def reverse(x, axes):
    """x in the opposite order along axes."""
    return ops.reverse_v2(x, [axes] if isinstance(axes, int) else axes)


# ---- Images -------------------------------------------------------------------------------------------------


def _with_spatial(pattern, data_format):
    """Paddings of all axes, of those of the spatial axes. Raises ValueError for an unknown order of axes."""
    data_format = data_format or image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {data_format}")
    pattern = [list(pair) for pair in pattern]
    return [[0, 0], [0, 0], *pattern] if data_format == "channels_first" else [[0, 0], *pattern, [0, 0]]


@public("keras.backend.temporal_padding")
def temporal_padding(x, padding=(1, 1)):
    """Zeros before and behind the middle one of three axes."""
    before, behind = padding
    return ops.pad(x, [[0, 0], [before, behind], [0, 0]])


@public("keras.backend.spatial_2d_padding")
def spatial_2d_padding(x, padding=((1, 1), (1, 1)), data_format=None):
    """Zeros around images. Raises ValueError for an unknown order of axes."""
    return ops.pad(x, _with_spatial(padding, data_format))


@public("keras.backend.spatial_3d_padding")
def spatial_3d_padding(x, padding=((1, 1), (1, 1), (1, 1)), data_format=None):
    """Zeros around volumes. Raises ValueError for an unknown order of axes."""
    return ops.pad(x, _with_spatial(padding, data_format))


@public("keras.backend.resize_images")
def resize_images(x, height_factor, width_factor, data_format, interpolation="nearest"):
    """Images enlarged by whole numbers; `interpolation` is "nearest" or "bilinear". Raises ValueError for others."""
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid `data_format` argument: {data_format}")
    channels_first = data_format == "channels_first"
    row = 2 if channels_first else 1
    sizes = int_shape(x)
    size = ops.shape(x)[row : row + 2]
    size *= ops.constant(np.array([height_factor, width_factor], dtype="int32"))
    if channels_first:
        x = permute_dimensions(x, [0, 2, 3, 1])
    if interpolation not in ("nearest", "bilinear"):
        raise ValueError('interpolation should be one of "nearest" or "bilinear".')
    x = resize_images_v2(x, size, method=interpolation)
    if channels_first:
        x = permute_dimensions(x, [0, 3, 1, 2])
    height, width = (
        None if sizes[row + i] is None else sizes[row + i] * factor
        for i, factor in enumerate((height_factor, width_factor))
    )
    x.set_shape((None, None, height, width) if channels_first else (None, height, width, None))
    return x


@public("keras.backend.resize_volumes")
def resize_volumes(x, depth_factor, height_factor, width_factor, data_format):
    """Volumes enlarged by whole numbers. Raises ValueError for an unknown order of axes."""
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid data_format: {data_format}")
    first = 2 if data_format == "channels_first" else 1
    for axis, factor in enumerate((depth_factor, height_factor, width_factor), first):
        x = repeat_elements(x, factor, axis=axis)
    return x
