"""group, tuple and with_dependencies: nodes that wait for others."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import device as devices
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.mode import by_mode
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Operation, Tensor
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor, convert_to_tensor_or_indexed_slices
from stillflow.ops.sparse_tensor import SparseTensor, parts


def _flatten(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _flatten(value)
        elif isinstance(value, IndexedSlices):
            yield from (value.values, value.indices)
            if value.dense_shape is not None:
                yield value.dense_shape
        elif isinstance(value, SparseTensor):
            yield from parts(value)
        else:
            yield value


@public("group")
@by_mode
def group(*inputs, name=None):
    """An operation that finishes when all of `inputs` (operations, tensors, nested lists of them) have.

    Raises TypeError for anything else. Executed eagerly, everything has run, and None is returned.
    """
    with name_scope(name, "group_deps", inputs) as scope:
        if not inputs:
            return ops.no_op(name=scope)
        by_device: dict = {}
        for item in _flatten(inputs):
            if not hasattr(item, "device"):
                raise TypeError(
                    f"Expected tf.group() expected Tensor arguments not '{item}' with type '{type(item)}'"
                )
            by_device.setdefault(item.device, []).append(item)
        if len(by_device) == 1:
            ((device, items),) = by_device.items()
            return _wait_on_device(device, items, scope)
        waits = [_wait_on_device(device, by_device[device]) for device in sorted(by_device)]
        with get_default_graph().control_dependencies(waits):
            return ops.no_op(name=scope)


def _wait_on_device(device, items, name=None):
    graph = get_default_graph()
    with graph.control_dependencies(items):
        if not device:
            return ops.no_op(name=name)
        with graph.device(devices.DeviceSpec.from_string(device)):
            return ops.no_op(name=name)


@public("with_dependencies", "python.ops.control_flow_ops.with_dependencies")
@by_mode
def with_dependencies(dependencies, output_tensor, name=None):
    """A tensor (or IndexedSlices) equal to `output_tensor` that is there after all of `dependencies` have run."""
    graph = get_default_graph()
    with name_scope(name, "control_dependency", [*dependencies, output_tensor]) as scope:
        if not hasattr(output_tensor, "op"):
            output_tensor = convert_to_tensor_or_indexed_slices(output_tensor)
        with graph.colocate_with(output_tensor.op), graph.control_dependencies(dependencies):
            output_tensor = convert_to_tensor_or_indexed_slices(output_tensor)
            if isinstance(output_tensor, Tensor):
                return ops.identity(output_tensor, name=scope)
            return IndexedSlices(
                ops.identity(output_tensor.values, name=scope),
                output_tensor.indices,
                output_tensor.dense_shape,
            )


@public("tuple")
@by_mode
def tuple_of(tensors, name=None, control_inputs=None):
    """The tensors, each of them available only when all have been computed.

    Args:
      tensors: Tensors, IndexedSlices, Operations, and None, which stays None.
      control_inputs: operations and tensors to wait for besides.

    Raises:
      ValueError: if there is no tensor at all.
      TypeError: if a control input is no operation or tensor.
    """
    graph = get_default_graph()
    with name_scope(name, "tuple", [t for t in tensors if t is not None]):
        # A variable is read when the others have been computed.
        tensors = [
            t if t is None or hasattr(t, "op") or isinstance(t, Operation) else convert_to_tensor(t) for t in tensors
        ]
        gating = {t if isinstance(t, Operation) else t.op for t in tensors if t is not None}
        for item in control_inputs or ():
            if not isinstance(item, (Tensor, Operation)):
                raise TypeError(f"Control input must be Operation or Tensor: {item}")
            gating.add(getattr(item, "op", item))
        if not gating:
            raise ValueError(f"Must have at least one Tensor: {tensors}")
        gate = group(*sorted(gating, key=lambda op: op._id))
        results: list = []
        for t in tensors:
            if isinstance(t, Operation):
                with graph.control_dependencies([gate]):
                    results.append(group(t))
            else:
                results.append(None if t is None else with_dependencies([gate], t))
        return results
