"""GetSessionHandle, GetSessionTensor, DeleteSessionTensor: tensors that a session keeps from run to run."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

get_session_handle = define_op(
    "GetSessionHandle(value: T) -> (handle: string)",
    "T: type",
    kernel="get_session_handle(value | node_name)",
    stateful=True,
    differentiable=False,
)
get_session_tensor = define_op(
    "GetSessionTensor(handle: string) -> (value: dtype)",
    "dtype: type",
    kernel="get_session_tensor(handle | dtype)",
    stateful=True,
    differentiable=False,
)
delete_session_tensor = define_op(
    "DeleteSessionTensor(handle: string) -> ()",
    kernel="delete_session_tensor(handle)",
    stateful=True,
    differentiable=False,
)


@get_session_handle.shape_rule
def _(context):
    return ()


@get_session_tensor.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 0)
    return


@delete_session_tensor.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 0)
    return []
