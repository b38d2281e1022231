"""What a rewritten graph is put together with: consumers of nodes, other inputs, and the step counter."""

from __future__ import annotations

import collections

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.variables.assignments import assign_add
from stillflow.variables.copies import VariableAggregation
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros

SKIPPED_PREFIXES = ("gradients/", "RMSProp/", "Adagrad/", "Const_", "HistogramSummary", "ScalarSummary")
_STEP = "fake_quantization_step"


@public("contrib.quantize.python.input_to_ops.InputToOps")
class InputToOps:
    """Which nodes of a graph, as it is now, have which inputs. Those of training do not count."""

    def __init__(self, graph):
        self.mapping = collections.defaultdict(set)
        for op in graph.get_operations():
            if not op.name.startswith(SKIPPED_PREFIXES):
                for tensor in op.inputs:
                    self.mapping[tensor].add(op)

    def ConsumerOperations(self, producer_op):  # noqa: N802
        """The set of nodes that have an output of the node as an input."""
        found = set()
        for tensor in producer_op.outputs:
            found.update(self.mapping[tensor])
        return found


@public("contrib.quantize.python.common.RerouteTensor")
def reroute(t0, t1, can_modify=None):
    """Gives the consumers of t1, or those of `can_modify`, t0 instead. Returns how many inputs that was."""
    count = 0
    consumers = [op for op in t1.consumers() if can_modify is None or op in can_modify]
    places = {op: [i for i, tensor in enumerate(op.inputs) if tensor is t1] for op in consumers}
    for op in consumers:
        for i in places[op]:
            op._update_input(i, t0)
            count += 1
    return count


@public("contrib.quantize.python.common.CreateOrGetQuantizationStep")
def get_or_create_step():
    """The number of steps so far, an int64 scalar, which each run counts."""
    graph = get_default_graph()
    try:
        return graph.get_tensor_by_name(f"{_STEP}/Identity:0")
    except KeyError:
        pass
    with graph.name_scope(None):
        step = get_variable(
            _STEP,
            shape=[],
            dtype=dtypes.int64,
            initializer=Zeros(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES],
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
        )
        with graph.name_scope(step.op.name + "/"):
            return ops.identity(assign_add(step, 1))
