"""The definitions of all ops, as messages."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import op_def
from stillflow.graph.graph_def import op_def_message
from stillflow.names import public


@public("python.framework.op_def_registry.get_registered_ops")
def get_registered_ops():
    """{op type: its OpDef message}, of all ops that there are."""
    return {op_type: op_def_message(op_def.find(op_type)) for op_type in ops.all_op_types()}
