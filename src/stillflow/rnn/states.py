"""States of cells: their shapes, zeros of these, and their types."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes, nest
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape, as_shape
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public


@public("python.ops.rnn_cell_impl._concat")
def joined_sizes(prefix, suffix, static=False):
    """The sizes `prefix`, followed by the sizes `suffix`.

    Args:
      prefix, suffix: what makes a shape, or an int32 scalar or vector.
      static: whether a list is returned, with None for sizes that are not known, or None; otherwise it is a tensor.

    Raises ValueError for a tensor of a higher rank, and for unknown sizes unless `static`.
    """
    before = _Sizes(prefix, "prefix")
    after = _Sizes(suffix, "suffix")
    if static:
        shape = as_shape(before.known).concatenate(after.known)
        return shape.as_list() if shape.rank is not None else None
    if before.tensor is None or after.tensor is None:
        raise ValueError(f"Provided a prefix or suffix of None: {prefix} and {suffix}")
    return ops.concat((before.tensor, after.tensor), 0)


class _Sizes:
    """Sizes as a tensor, None unless all are known, and as a list of what is known of them."""

    def __init__(self, sizes, argument):
        if isinstance(sizes, Tensor):
            self.known = constant_value(sizes)
            if sizes.shape.rank == 0:
                sizes = ops.expand_dims(sizes, 0)
            elif sizes.shape.rank != 1:
                raise ValueError(f"{argument} tensor must be either a scalar or vector, but saw tensor: {sizes}")
            self.tensor = sizes
        else:
            shape = as_shape(sizes)
            self.known = None if shape.rank is None else shape.as_list()
            is_known = shape.is_fully_defined()
            self.tensor = ops.constant(shape.as_list(), dtype=dtypes.int32) if is_known else None


@public("python.ops.rnn_cell_impl._zero_state_tensors")
def zero_states(state_size, batch_size, dtype):
    """Zeros of the shapes of states, for a batch: in the structure of `state_size`."""

    def zeros(size):
        state = ops.zeros(joined_sizes(batch_size, size), dtype=dtype)
        state.set_shape(TensorShape(joined_sizes(batch_size, size, static=True)))
        return state

    return nest.map_structure(zeros, state_size)


def dtype_of_state(dtype, state):
    """`dtype`, or else the type of all tensors of the state.

    Raises ValueError if they are of different types, and if there are none.
    """
    if dtype is not None:
        return dtype
    found = [tensor.dtype for tensor in nest.flatten(state)]
    if not found:
        raise ValueError("Unable to infer dtype from empty state.")
    if any(each != found[0] for each in found):
        raise ValueError(
            "State has tensors of different inferred_dtypes. Unable to infer a single representative dtype."
        )
    return found[0]


def _faults(cell):
    """What an object lacks to be a cell, as parts of a sentence."""
    has_zeros = hasattr(cell, "get_initial_state") or hasattr(cell, "zero_state")
    return [
        text
        for is_met, text in (
            (hasattr(cell, "output_size"), "'output_size' property is missing"),
            (hasattr(cell, "state_size"), "'state_size' property is missing"),
            (has_zeros, "either 'zero_state' or 'get_initial_state' method is required"),
            (callable(cell), "is not callable"),
        )
        if not is_met
    ]


@public("python.ops.rnn_cell_impl._like_rnncell")
def like_rnncell(cell):
    """Whether an object is like a cell, as TensorFlow 1.10 and before ask."""
    return not _faults(cell)


@public("python.ops.rnn_cell_impl.assert_like_rnncell")
def assert_like_rnncell(cell_name, cell):
    """Raises TypeError for a cell that cannot be called, or does not say what its states are."""
    faults = _faults(cell)
    if faults:
        raise TypeError(f"The argument {cell_name!r} ({cell}) is not an RNNCell: {', '.join(faults)}.")


def initial_state(cell, batch_size, dtype):
    """The state that a cell begins with where none is given."""
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)
