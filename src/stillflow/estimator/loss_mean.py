"""The mean of a loss over batches, as tf.metrics.mean makes it."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.variables.assignments import assign_add
from stillflow.variables.scope import variable_scope
from stillflow.variables.variable import Variable


def mean(values):
    """(value, operation that updates it)."""
    with variable_scope(None, "mean", [values]):
        values = ops.cast(values, dtypes.float32)
        collections = [GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES]

        def local(name):
            return Variable(
                lambda: ops.zeros([], dtypes.float32), trainable=False, collections=collections, name=name
            )

        total, count = local("total"), local("count")
        number = ops.cast(ops.size(values), dtypes.float32)
        update_total = assign_add(total, ops.reduce_sum(values))
        with get_default_graph().control_dependencies([values]):
            update_count = assign_add(count, number)
        value = ops.div_no_nan(total, ops.maximum(count, 0), name="value")
        return value, ops.div_no_nan(update_total, ops.maximum(update_count, 0), name="update_op")
