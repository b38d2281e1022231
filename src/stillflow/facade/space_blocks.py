"""tf.*: blocks of arrays as batches or as depth, elements repeated or of another type, edit distances."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import repeat as repeats_of
from stillflow.composites import space_blocks
from stillflow.facade.arguments import renamed

__all__ = [
    "batch_to_space",
    "batch_to_space_nd",
    "bitcast",
    "depth_to_space",
    "edit_distance",
    "repeat",
    "required_space_to_batch_paddings",
    "space_to_batch",
    "space_to_batch_nd",
    "space_to_depth",
]


def space_to_batch_nd(input, block_shape, paddings, name=None):
    """Blocks of the dimensions after the first cut up: each place in a block becomes a batch of its own.

    Args:
      input: [batch, sizes..., ...] of any numbers.
      block_shape: a vector of integers: the size of blocks along each dimension that is cut.
      paddings: [number of these, 2]: how many zeros come first and last; blocks must divide the padded sizes.

    Returns:
      [product of block_shape * batch, padded sizes / block_shape..., ...].
    """
    return ops.space_to_batch_nd(input, block_shape, paddings, name=name)


def batch_to_space_nd(input, block_shape, crops, name=None):
    """The other way round: batches put side by side as blocks, and `crops` taken away; see space_to_batch_nd."""
    return ops.batch_to_space_nd(input, block_shape, crops, name=name)


def space_to_batch(input, paddings, block_size=None, name=None, block_shape=None):
    """space_to_batch_nd for square blocks of [batch, height, width, depth]; `block_shape` is a newer name."""
    return ops.space_to_batch(input, paddings, renamed("block_shape", block_shape, "block_size", block_size), name)


def batch_to_space(input, crops, block_size, name=None, block_shape=None):
    """batch_to_space_nd for square blocks of [batch, height, width, depth]; `block_shape` is a newer name."""
    return ops.batch_to_space(input, crops, renamed("block_shape", block_shape, "block_size", block_size), name)


def space_to_depth(input, block_size, name=None, data_format="NHWC"):
    """Blocks of [batch, height, width, depth] as depth: [batch, height / size, width / size, size * size * depth]."""
    return ops.space_to_depth(input, block_size=block_size, data_format=data_format, name=name)


def depth_to_space(input, block_size, name=None, data_format="NHWC"):
    """Depth of [batch, height, width, depth] as blocks: [batch, height * size, width * size, depth / size / size]."""
    return ops.depth_to_space(input, block_size=block_size, data_format=data_format, name=name)


def required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None):
    """(paddings, crops) for space_to_batch_nd and batch_to_space_nd that make sizes multiples of blocks'.

    Args:
      input_shape, block_shape: vectors of int32.
      base_paddings: [number of dimensions, 2]: the least paddings.

    Raises:
      ValueError: for shapes that are not known, or do not fit.
    """
    return space_blocks.required_space_to_batch_paddings(input_shape, block_shape, base_paddings, name)


def bitcast(input, type, name=None):
    """The bytes of elements as elements of another type, larger or smaller ones with one dimension less or more."""
    return ops.bitcast(input, type=type, name=name)


def repeat(input, repeats, axis=None, name=None):
    """Elements several times each, along an axis or, without one, along all that is made flat.

    Args:
      input: any tensor.
      repeats: how often, an integer or one for each element along the axis.
      axis: an integer.

    Raises:
      TypeError: for an axis or counts that are no integers.
      ValueError: for an axis that there is not, or counts that do not fit.
    """
    return repeats_of.repeat(input, repeats, axis, name)


def edit_distance(hypothesis, truth, normalize=True, name="edit_distance"):
    """How many elements of sequences have to be put in, taken out or changed to make others of them.

    Args:
      hypothesis, truth: SparseTensors of any one type, whose last dimension is that of the sequences.
      normalize: whether to divide by the lengths of the true sequences.

    Returns:
      float32, of the shape without the last dimension.

    Raises:
      TypeError: for other tensors.
    """
    return ops.edit_distance(hypothesis, truth, normalize, name)
