"""writing: the operations that stand for one that is written out in others."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.graph import Graph


class _Written:
    """What a formula sees of an operation: its attributes, and inputs of the graph that is being written."""

    def __init__(self, op, inputs):
        self._inputs = self.inputs = inputs
        self.type, self.get_attr = op.type, op.get_attr


def written_out(op, dims):
    """([tensors that stand for the inputs], [outputs]) in a graph of their own; `dims` are the inputs' plain shapes.

    That graph has the operations that the formula of the op adds.
    """
    with Graph().as_default():
        inputs = [
            ops.placeholder(tensor._dtype.base_dtype, shape) for tensor, shape in zip(op._inputs, dims, strict=True)
        ]
        outputs = op._op_def.lowering.formula(_Written(op, inputs))
    return inputs, list(outputs)
