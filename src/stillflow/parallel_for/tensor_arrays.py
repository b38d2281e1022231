"""How arrays and stacks of tensors in the body are vectorized.

An array that was made in the body stays one array. Its elements have a first dimension for the rounds if any written
value differs between them, and then its flow is stacked. In an array from outside each round has places of its own.
"""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.shape import TensorShape
from stillflow.parallel_for.rules import (
    flatten_two,
    repeat,
    same_in_all,
    stacked,
    swap_two,
    unflatten_first,
    vectorizes,
)
from stillflow.parallel_for.while_loops import source_of

_MAKERS = ("TensorArrayV3", "TensorArrayGradV3", "TensorArrayGradWithShape")


def _is_of_body(node):
    """Whether the array of a node was made in the body."""
    maker = source_of(node.op.inputs[0])
    if maker.type not in _MAKERS:
        raise ValueError(f"Unable to find source for handle {node.op.inputs[0]}")
    return maker in node.vectorizer


def _flow(node, index):
    """(a scalar flow, whether the elements have a first dimension for the rounds)."""
    flow, is_stacked = node.inputs[index]
    return (ops.gather(flow, 0) if is_stacked else flow), is_stacked


def _stacked_flow(node, flow):
    return stacked(repeat(flow, node.length))


@vectorizes("TensorArrayV3")
def _array(node):
    handle, flow = node.again([node.common(0)], element_shape=TensorShape(None))
    return [same_in_all(handle), same_in_all(flow)]


@vectorizes("TensorArraySizeV3")
def _size(node):
    return same_in_all(node.again([node.common(0), _flow(node, 1)[0]])[0])


@vectorizes("TensorArrayCloseV3")
def _close(node):
    return node.again_as_op([node.common(0)])


def _elements_at(node, handle, indices, flow):
    """The elements at some places."""
    array = ops.tensor_array_gather_v3
    return array(handle, indices, flow, dtype=node.op.outputs[0].dtype)


@vectorizes("TensorArrayReadV3")
def _read(node):
    handle, (index, index_stacked) = node.common(0), node.inputs[1]
    flow, flow_stacked = _flow(node, 2)
    is_of_body = _is_of_body(node)
    if index_stacked:
        if is_of_body and flow_stacked:
            raise ValueError(
                "It looks like TensorArrayReadV3 was called on a TensorArray whose values are not loop-invariant, "
                "and the read indices were also not loop invariant. This is currently unsupported."
            )
        return stacked(_elements_at(node, handle, index, flow))
    value = node.again([handle, index, flow])[0]
    flow_stacked = flow_stacked and is_of_body
    if flow_stacked and node.vectorizer.is_partial:
        value = ops.gather(value, node.vectorizer.rounds)
    return stacked(value) if flow_stacked else same_in_all(value)


def _check_written(node, is_of_body, index_stacked, value_stacked):
    if value_stacked and node.vectorizer.is_partial:
        raise ValueError(
            "Writing non loop invariant values to TensorArray from inside a while_loop/cond not supported."
        )
    if is_of_body and index_stacked:
        raise ValueError(f"Need indices for {node.value(0)} to be loop invariant")
    if not is_of_body and not index_stacked:
        raise ValueError(f"Need indices for {node.value(0)} to be not loop invariant")


@vectorizes("TensorArrayWriteV3")
def _write(node):
    handle, (index, index_stacked) = node.common(0), node.inputs[1]
    value, value_stacked = node.inputs[2]
    flow, flow_stacked = _flow(node, 3)
    is_of_body = _is_of_body(node)
    _check_written(node, is_of_body, index_stacked, value_stacked)
    if is_of_body:
        if not flow_stacked and not value_stacked:
            return same_in_all(node.again([handle, index, value, flow])[0])
        return _stacked_flow(node, node.again([handle, index, node.rows(2), flow])[0])
    return _stacked_flow(node, ops.tensor_array_scatter_v3(handle, index, node.rows(2), flow))


@vectorizes("TensorArrayGatherV3")
def _gather(node):
    handle, (indices, indices_stacked) = node.common(0), node.inputs[1]
    flow, flow_stacked = _flow(node, 2)
    is_of_body = _is_of_body(node)
    value = _elements_at(node, handle, ops.reshape(indices, [-1]), flow)
    flow_stacked = flow_stacked and is_of_body
    if indices_stacked:
        if flow_stacked:
            raise ValueError(
                "It looks like TensorArrayGatherV3 was called on a TensorArray whose values are not loop-invariant, "
                "and the indices were also not loop invariant. This is currently unsupported."
            )
        return stacked(unflatten_first(value, node.length))
    return stacked(swap_two(value)) if flow_stacked else same_in_all(value)


@vectorizes("TensorArrayScatterV3")
def _scatter(node):
    handle, (indices, indices_stacked) = node.common(0), node.inputs[1]
    value, value_stacked = node.inputs[2]
    flow, flow_stacked = _flow(node, 3)
    is_of_body = _is_of_body(node)
    _check_written(node, is_of_body, indices_stacked, value_stacked)
    indices = ops.reshape(indices, [-1])
    if is_of_body and not flow_stacked and not value_stacked:
        return same_in_all(node.again([handle, indices, value, flow])[0])
    rows = swap_two(node.rows(2)) if is_of_body else flatten_two(node.rows(2))
    return _stacked_flow(node, node.again([handle, indices, rows, flow])[0])


@vectorizes("TensorArrayGradV3")
def _gradient(node):
    handle, (flow, _) = node.common(0), _flow(node, 1)
    handle, flow = ops.tensor_array_grad_with_shape(handle, flow, node.length, source=node.attr("source"))
    return [same_in_all(handle), _stacked_flow(node, flow)]


@vectorizes("StackPushV2")
def _push(node):
    maker, stacks = source_of(node.op.inputs[0]), node.vectorizer.stacks
    if maker not in node.vectorizer:
        raise ValueError("StackPushV2 not allowed on stacks created outside pfor")
    is_stacked = stacks.setdefault(maker, node.is_stacked(1))
    if node.is_stacked(1) and not is_stacked:
        raise ValueError(
            "It looks like the stack was previously determined to be loop invariant, but we are now trying to push a "
            "loop dependent value to it. This is currently unsupported."
        )
    value = node.rows(1) if is_stacked else node.value(1)
    output = node.again([node.common(0), value])[0]
    return stacked(output) if is_stacked else same_in_all(output)


@vectorizes("StackPopV2")
def _pop(node):
    is_stacked = node.vectorizer.stacks.setdefault(source_of(node.op.inputs[0]), False)
    output = node.again([node.common(0)])[0]
    return stacked(output) if is_stacked else same_in_all(output)
