"""Tensors of beams: [batch * beam, ...] and [batch, beam, ...], and parts of them that are picked."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes, nest
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape, as_shape
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.convert import convert_to_tensor


@public("contrib.seq2seq.tile_batch")
def tile_batch(t, multiplier, name=None):
    """Each row of tensors so many times one after the other: for a beam search, what was made for the batch.

    Args:
      t: tensors [batch, ...], in a structure.
      multiplier: an int, the width of the beam.
      name: the scope of the new nodes.

    Returns tensors [batch * multiplier, ...], in the same structure.

    Raises ValueError for a tensor of unknown rank, and for a scalar.
    """
    with name_scope(name, "tile_batch", [*nest.flatten(t), multiplier]):
        return nest.map_structure(lambda tensor: _tiled(tensor, multiplier), t)


def _tiled(tensor, multiplier):
    tensor = convert_to_tensor(tensor, name="t")
    found, known = ops.shape(tensor), tensor.shape
    if known.ndims is None or known.ndims < 1:
        raise ValueError("t must have statically known rank")
    multiples = [1, multiplier, *[1] * (known.ndims - 1)]
    batch = known.dims[0].value
    tiled = ops.tile(ops.expand_dims(tensor, 1), multiples)
    tiled = ops.reshape(tiled, ops.concat(([found[0] * multiplier], found[1:]), 0))
    tiled.set_shape(TensorShape([None if batch is None else batch * multiplier]).concatenate(known[1:]))
    return tiled


def check_rank(tensor):
    """Raises ValueError for a tensor of unknown rank."""
    if tensor.shape.ndims is None:
        raise ValueError(f"Expected tensor ({tensor}) to have known rank, but ndims == None.")


def _sizes(size):
    """A size of a cell's as a shape."""
    return as_shape(constant_value(size)) if isinstance(size, Tensor) else TensorShape(size)


class Beams:
    """A number of sequences, an int32 scalar, and of beams for each, an int."""

    def __init__(self, batch_size, width):
        self.batch_size = batch_size
        self.width = width

    @property
    def known_batch_size(self):
        return constant_value(self.batch_size)

    def merge(self, tensor, size):
        """[batch, beam, ...] as [batch * beam, ...]; `size` is what is known of the other sizes."""
        sizes = _sizes(size)
        found = ops.shape(tensor)
        known = self.known_batch_size
        result = ops.reshape(tensor, ops.concat(([self.batch_size * self.width], found[2:]), 0))
        result.set_shape(TensorShape([None if known is None else known * self.width]).concatenate(sizes))
        return result

    def split(self, tensor, size):
        """[batch * beam, ...] as [batch, beam, ...]. Raises ValueError for another number of rows."""
        sizes = _sizes(size)
        found = ops.shape(tensor)
        result = ops.reshape(tensor, ops.concat(([self.batch_size, self.width], found[1:]), 0))
        expected = TensorShape([self.known_batch_size, self.width]).concatenate(sizes)
        if not result.shape.is_compatible_with(expected):
            raise ValueError(
                "Unexpected behavior when reshaping between beam width and batch size.  The reshaped tensor has "
                f"shape: {result.shape}.  We expected it to have shape (batch_size, beam_width, depth) == "
                f"{expected}.  Perhaps you forgot to create a zero_state with batch_size=encoder_batch_size * "
                "beam_width?"
            )
        result.set_shape(expected)
        return result

    def split_state(self, tensor, size):
        """`split` of a part of a state; TensorArrays and scalars stay as they are."""
        if isinstance(tensor, TensorArray):
            return tensor
        check_rank(tensor)
        return self.split(tensor, size) if tensor.shape.ndims >= 1 else tensor

    def merge_state(self, tensor, size):
        """`merge` of a part of a state; TensorArrays, scalars and vectors stay as they are."""
        if isinstance(tensor, TensorArray):
            return tensor
        check_rank(tensor)
        return self.merge(tensor, size) if tensor.shape.ndims >= 2 else tensor

    def gather(self, indices, tensor, range_size, shape, name=None):
        """Picks, for each sequence, parts of a tensor [batch, range_size, ...] by indices [batch, beam].

        `shape` is what the tensor is reshaped to before: [-1], or [batch * beam, -1] to pick rows.
        """
        with name_scope(name, "tensor_gather_helper"):
            offsets = ops.expand_dims(ops.range(self.batch_size) * range_size, 1)
            indices = ops.reshape(indices + offsets, [-1])
            picked = ops.gather(ops.reshape(tensor, shape), indices)
            sizes = ops.shape(tensor)[: 1 + len(shape)]
            known = TensorShape([self.known_batch_size]).concatenate(tensor.shape[1 : 1 + len(shape)])
            picked = ops.reshape(picked, sizes, name="output")
            picked.set_shape(known)
            return picked

    def gather_state(self, indices, tensor):
        """Picks rows of a part of a state, [batch, beam, ...]; TensorArrays, scalars and vectors stay as they are."""
        rows = [self.batch_size * self.width, -1]  # a node even where nothing is picked, as in TensorFlow's graphs
        if isinstance(tensor, TensorArray):
            return tensor
        check_rank(tensor)
        return self.gather(indices, tensor, self.width, rows) if tensor.shape.ndims >= 2 else tensor


@public("contrib.seq2seq.python.ops.beam_search_decoder.gather_tree_from_array")
def gather_tree_from_array(t, parent_ids, sequence_length):
    """What was written in each step of a beam search, in the order of the beams at its end.

    Args:
      t: [time, batch, beam, ...] or [time, batch * beam, ...].
      parent_ids: int32 [time, batch, beam].
      sequence_length: int [batch, beam].

    Returns a tensor of the shape of `t`.
    """
    steps, batch_size, width = (parent_ids.shape.dims[axis].value or ops.shape(parent_ids)[axis] for axis in range(3))
    ids = ops.expand_dims(ops.expand_dims(ops.range(width), 0), 0)
    ids = ops.tile(ids, [steps, batch_size, 1])
    longest = ops.cast(ops.reduce_max(sequence_length, axis=1), dtypes.int32)
    sorted_ids = ops.gather_tree(
        step_ids=ids, parent_ids=parent_ids, max_sequence_lengths=longest, end_token=width + 1
    )
    is_within = ops.transpose(ops.sequence_mask(sequence_length, maxlen=steps), perm=[2, 0, 1])
    sorted_ids = ops.where(is_within, x=sorted_ids, y=ids)
    times = ops.tile(ops.reshape(ops.range(steps), [-1, 1, 1]), [1, batch_size, width])
    rows = ops.tile(ops.reshape(ops.range(batch_size), [-1, 1, 1]), [1, steps, width])
    rows = ops.transpose(rows, perm=[1, 0, 2])
    places = ops.stack([times, rows, sorted_ids], -1)
    shape = ops.shape(t)
    picked = ops.gather_nd(ops.reshape(t, [steps, batch_size, width, -1]), places)
    return ops.reshape(picked, shape)
