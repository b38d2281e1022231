"""How nodes are vectorized: the rules by op type, and what a rule works with."""

from __future__ import annotations

from typing import NamedTuple

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.operation import Tensor

# {op type: function of a VectorizedNode that returns its outputs, or for a node without outputs its Operation}
RULES: dict = {}

# Nodes with state that give the same in each round, if their inputs are the same.
_CALLED_ONCE = frozenset((
    "VariableV2", "VarHandleOp", "ReadVariableOp", "StackV2", "TensorArrayWriteV3", "TensorArrayReadV3",
    "TensorArraySizeV3",
))  # fmt: skip


def has_effects(op):
    """Whether a node must be vectorized by a rule even if its inputs are the same in all rounds."""
    return op._op_def.is_stateful and op.type not in _CALLED_ONCE


class Vectorized(NamedTuple):
    """What a tensor of the loop's body is for all rounds.

    Args:
      tensor: its values, stacked along a new first dimension; or the value that it has in every round.
      is_stacked: which of the two.
    """

    tensor: Tensor
    is_stacked: bool


def vectorizes(*op_types):
    """Decorates the rule of some op types."""

    def mark(rule):
        for op_type in op_types:
            RULES[op_type] = rule
        return rule

    return mark


def stacked(tensor):
    return Vectorized(tensor, True)


def same_in_all(tensor):
    return Vectorized(tensor, False)


def repeat(tensor, length):
    """`tensor` as often as the vector `length` of one element says, along a new first dimension."""
    ones = ops.ones_like(ops.shape(tensor))
    return ops.tile(ops.expand_dims(tensor, 0), ops.concat([length, ones], 0))


def flatten_two(tensor):
    """`tensor` with its first two dimensions as one."""
    shape = ops.shape(tensor)
    flat = ops.reshape(tensor, ops.concat([[-1], shape[2:]], 0))
    dims = tensor.shape.dims
    if dims is not None:
        known = None if dims[0].value is None or dims[1].value is None else dims[0].value * dims[1].value
        flat.set_shape([known] + [dim.value for dim in dims[2:]])
    return flat


def unflatten_first(tensor, length):
    """`tensor` with its first dimension as two, of which the first is the one element of the vector `length`."""
    return ops.reshape(tensor, ops.concat([length, [-1], ops.shape(tensor)[1:]], 0))


def swap_two(tensor):
    """`tensor` with its first two dimensions swapped."""
    order = ops.concat([[1, 0], ops.range(2, ops.rank(tensor))], 0)
    return ops.transpose(tensor, order)


class VectorizedNode:
    """A node of the body whose inputs have been vectorized.

    Args:
      vectorizer: the Vectorizer that asks.
      op: the node as it stands in the body.
      inputs: a Vectorized for each input.
    """

    def __init__(self, vectorizer, op, inputs):
        self.vectorizer = vectorizer
        self.op = op
        self.inputs = list(inputs)

    def __len__(self):
        return len(self.inputs)

    @property
    def length(self):
        """A vector with one element: the number of rounds."""
        return self.vectorizer.length

    def attr(self, name):
        return self.op.get_attr(name)

    def is_stacked(self, index):
        return self.inputs[index].is_stacked

    def value(self, index):
        """An input as it is, stacked or not."""
        return self.inputs[index].tensor

    def common(self, index):
        """An input that must be the same in all rounds. Raises ValueError if it is not."""
        tensor, is_stacked = self.inputs[index]
        if is_stacked:
            raise ValueError(
                f"Input {index} of {self.op.name} ({self.op.type}) is expected to be loop invariant, but depends on "
                f"the iteration: {self.op.inputs[index].name}"
            )
        return tensor

    def rows(self, index):
        """An input with a first dimension for the rounds."""
        tensor, is_stacked = self.inputs[index]
        return tensor if is_stacked else repeat(tensor, self.length)

    def stack_all(self, indices=None):
        """Gives each of some inputs (by default, all) the first dimension; returns the tensors."""
        indices = range(len(self.inputs)) if indices is None else indices
        for index in indices:
            self.inputs[index] = stacked(self.rows(index))
        return [self.inputs[index].tensor for index in indices]

    def aligned(self):
        """The inputs with dimensions of size 1 after the first, so that they broadcast as they do in one round."""
        if len(self.inputs) < 2:
            return [tensor for tensor, _ in self.inputs]
        ranks = [_rank_in_a_round(tensor, is_stacked) for tensor, is_stacked in self.inputs]
        if all(isinstance(rank, int) for rank in ranks):
            most = max(ranks)
        else:
            most = ops.reduce_max(ops.stack(ranks))
        return [
            _with_ones(tensor, rank, most) if is_stacked else tensor
            for (tensor, is_stacked), rank in zip(self.inputs, ranks, strict=True)
        ]

    def again(self, inputs, **attrs):
        """The outputs of a node like this one with other inputs, and other values of some attributes."""
        return again(self.op, inputs, **attrs).outputs

    def again_as_op(self, inputs):
        """The same for a node without outputs: the operation."""
        return again(self.op, inputs)


def again(op, inputs, **attrs):
    """A new node like `op`, with other inputs and other values of some attributes."""
    return get_default_graph().create_op(op.type, inputs, name=op.type, attrs={**op._attrs, **attrs})


def _rank_in_a_round(tensor, is_stacked):
    rank = tensor.shape.rank
    return (ops.rank(tensor) if rank is None else rank) - int(is_stacked)


def _with_ones(tensor, rank, most):
    if isinstance(rank, int) and rank == most:
        return tensor
    shape = ops.shape(tensor)
    ones = [1] * (most - rank) if isinstance(most, int) else ops.ones([most - rank], shape.dtype)
    return ops.reshape(tensor, ops.concat([shape[:1], ones, shape[1:]], 0))
