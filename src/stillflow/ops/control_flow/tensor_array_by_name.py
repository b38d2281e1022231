"""TensorArrays whose handles are strings, as graphs from before TensorFlow 1.0 have them, in two versions.

A handle says in two strings what it is to whoever reads them; a copy of the text is no handle.
"""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_MAKE = (
    "tensor_array_by_name(size | dtype, element_shape, dynamic_size, clear_after_read, false, tensor_array_name, "
    "node_name)"
)


def _define(signature, attrs="", *, kernel, stateful=False):
    """define_op for ops that have no gradients: those of TensorFlow ask for handles that these do not have."""
    return define_op(signature, attrs, kernel=kernel, stateful=stateful, differentiable=None, traits="changes_object")


def _both(define):
    """What `define(suffix of the op, type of its handle)` makes of both versions, the first one first."""
    return define("", "Ref(string)"), define("V2", "string")


tensor_array = _define(
    "TensorArray(size: int32) -> (handle: Ref(string))",
    "dtype: type; dynamic_size: bool = false; clear_after_read: bool = true; tensor_array_name: string = ''; "
    "element_shape: shape = unknown",
    kernel=_MAKE,
    stateful=True,
)
tensor_array_v2 = _define(
    "TensorArrayV2(size: int32) -> (handle: string)",
    "dtype: type; element_shape: shape = unknown; dynamic_size: bool = false; clear_after_read: bool = true; "
    "tensor_array_name: string = ''",
    kernel=_MAKE,
    stateful=True,
)
tensor_array_grad = _define(
    "TensorArrayGrad(handle: string, flow_in: float32) -> (grad_handle: Ref(string))",
    "source: string",
    kernel="tensor_array_grad(handle, flow_in | source)",
    stateful=True,
)
tensor_array_grad_v2 = _define(
    "TensorArrayGradV2(handle: string, flow_in: float32) -> (grad_handle: string)",
    "source: string",
    kernel="tensor_array_grad(handle, flow_in | source)",
    stateful=True,
)
tensor_array_writes = _both(
    lambda version, handle: _define(
        f"TensorArrayWrite{version}(handle: {handle}, index: int32, value: T, flow_in: float32) -> "
        "(flow_out: float32)",
        "T: type",
        kernel="tensor_array_write(handle, index, value, flow_in)",
    )
)
tensor_array_reads = _both(
    lambda version, handle: _define(
        f"TensorArrayRead{version}(handle: {handle}, index: int32, flow_in: float32) -> (value: dtype)",
        "dtype: type",
        kernel="tensor_array_read(handle, index | dtype)",
    )
)
tensor_array_pack = _define(
    "TensorArrayPack(handle: Ref(string), flow_in: float32) -> (value: dtype)",
    "dtype: type; element_shape: shape = unknown",
    kernel="tensor_array_pack(handle | dtype, element_shape)",
)
tensor_array_unpack = _define(
    "TensorArrayUnpack(handle: Ref(string), value: T, flow_in: float32) -> (flow_out: float32)",
    "T: type",
    kernel="tensor_array_unpack(handle, value, flow_in)",
)
tensor_array_gathers = _both(
    lambda version, handle: _define(
        f"TensorArrayGather{version}(handle: {handle}, indices: int32, flow_in: float32) -> (value: dtype)",
        "dtype: type; element_shape: shape = unknown",
        kernel="tensor_array_gather(handle, indices | dtype, element_shape)",
    )
)
tensor_array_scatters = _both(
    lambda version, handle: _define(
        f"TensorArrayScatter{version}(handle: {handle}, indices: int32, value: T, flow_in: float32) -> "
        "(flow_out: float32)",
        "T: type",
        kernel="tensor_array_scatter(handle, indices, value, flow_in)",
    )
)
tensor_array_concats = _both(
    lambda version, handle: _define(
        f"TensorArrayConcat{version}(handle: {handle}, flow_in: float32) -> (value: dtype, lengths: int64)",
        "dtype: type; element_shape_except0: shape = unknown",
        kernel="tensor_array_concat(handle | dtype, element_shape_except0)",
    )
)
tensor_array_splits = _both(
    lambda version, handle: _define(
        f"TensorArraySplit{version}(handle: {handle}, value: T, lengths: int64, flow_in: float32) -> "
        "(flow_out: float32)",
        "T: type",
        kernel="tensor_array_split(handle, value, lengths, flow_in)",
    )
)
tensor_array_sizes = _both(
    lambda version, handle: _define(
        f"TensorArraySize{version}(handle: {handle}, flow_in: float32) -> (size: int32)",
        kernel="tensor_array_size(handle)",
    )
)
tensor_array_closes = _both(
    lambda version, handle: _define(
        f"TensorArrayClose{version}(handle: {handle}) -> ()",
        kernel="tensor_array_close(handle)",
    )
)


@tensor_array.shape_rule
@tensor_array_grad.shape_rule
@tensor_array_pack.shape_rule
def _(context):
    return None


@tensor_array_v2.shape_rule
@tensor_array_grad_v2.shape_rule
def _(context):
    return (2,)


@tensor_array_unpack.shape_rule
def _(context):
    return ()


def _scalar(context):
    return ()


def _element(context):
    plain.with_rank(context.shapes[1], 0)


def _elements(context):
    plain.with_rank(context.shapes[1], 1)


def _rows(context):
    return [None, (None,)]


for _ops, _rule in (
    (tensor_array_writes, _scalar),
    (tensor_array_reads, _element),
    (tensor_array_gathers, _elements),
    (tensor_array_scatters, _scalar),
    (tensor_array_concats, _rows),
    (tensor_array_splits, _scalar),
    (tensor_array_sizes, _scalar),
):
    for _op in _ops:
        _op.shape_rule(_rule)
