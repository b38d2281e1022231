"""find_element: the Tensor or Operation that an object is or names, with errors that say what is wrong."""

from __future__ import annotations

from stillflow.graph.operation import Operation, Tensor


def find_element(graph, obj, allow_tensor, allow_operation):
    """See Graph.as_graph_element."""
    if allow_tensor and allow_operation:
        wanted = "Tensor or Operation"
    elif allow_tensor:
        wanted = "Tensor"
    elif allow_operation:
        wanted = "Operation"
    else:
        raise ValueError("allow_tensor and allow_operation can't both be False.")

    convert = getattr(obj, "_as_graph_element", None)
    if convert is not None:
        obj = convert()
    if isinstance(obj, bytes):
        obj = obj.decode()
    if isinstance(obj, str):
        if ":" in obj:
            if not allow_tensor:
                raise ValueError(f"Name {obj!r} appears to refer to a Tensor, not a {wanted}.")
            return _find_tensor(graph, obj)
        return _find_operation(graph, obj, wanted, allow_operation)
    for kind, is_allowed in ((Tensor, allow_tensor), (Operation, allow_operation)):
        if isinstance(obj, kind) and is_allowed:
            if obj.graph is not graph:
                raise ValueError(f"{kind.__name__} {obj!r} is not an element of this graph.")
            return obj
    raise TypeError(f"Can not convert a {type(obj).__name__} into a {wanted}.")


def _find_tensor(graph, name):
    op_name, _, port = name.rpartition(":")
    if not port.isascii() or not port.isdigit() or ":" in op_name:
        raise ValueError(
            f"The name {name!r} looks a like a Tensor name, but is not a valid one. Tensor names must be of the "
            'form "<op_name>:<output_index>".'
        )
    op = graph._by_name.get(op_name)
    if op is None:
        raise KeyError(
            f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, does not "
            "exist in the graph."
        )
    if int(port) >= len(op._outputs):
        raise KeyError(
            f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, exists but "
            f"only has {len(op._outputs)} outputs."
        )
    return op._outputs[int(port)]


def _find_operation(graph, name, wanted, allow_operation):
    op = graph._by_name.get(name)
    if allow_operation:
        if op is None:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
        return op
    what = "refers to an Operation" if op is not None else "looks like an (invalid) Operation name"
    raise ValueError(
        f'The name {name!r} {what}, not a {wanted}. Tensor names must be of the form "<op_name>:<output_index>".'
    )
