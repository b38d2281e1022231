"""tensorflow.python.data.util.traverse: the operations that a data set is made of."""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.names import public


@public("python.data.util.traverse.obtain_all_variant_tensor_ops")
def obtain_all_variant_tensor_ops(dataset):
    """The operations that give variants, of those that the node of a data set depends on."""
    pending = [dataset._variant_tensor.op]
    found: dict = {}
    while pending:
        op = pending.pop(0)
        if op not in found:
            found[op] = None
            pending.extend(tensor.op for tensor in op.inputs)
    return [op for op in found if op.outputs and op.outputs[0].dtype == dtypes.variant]
