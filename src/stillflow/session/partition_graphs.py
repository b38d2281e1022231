"""Partition graphs: the GraphDef messages of what a run executes, as TensorFlow writes them, one for each device.

They hold the operations that the fetches need. What is fed is an _Arg node, what is fetched goes to a _Retval node.
For a run with watched tensors there are also the nodes by which TensorFlow's debugger watches them: a copy of each
watched tensor, which its readers read, and nodes with the debug ops, which they wait for.
"""

from __future__ import annotations

from stillflow.formats import protobuf
from stillflow.graph import dtypes


def argument_name(tensor, index):
    """The name of the node for the feed number `index`."""
    return f"_arg_{tensor.op.name}_{tensor.value_index}_{index}"


class _Node:
    """A NodeDef message, the dtypes of the node's outputs, and the operation's type and device."""

    def __init__(self, node_def, device, output_dtypes):
        self.node_def = node_def
        self.device = node_def.device = device
        self.output_dtypes = output_dtypes


def partition_graphs(operations, feeds, fetches, devices, watches=None):
    """[(device, GraphDef)] of a run.

    Args:
      operations: what the fetches need, without what computes the feeds.
      feeds: the tensors that are fed.
      fetches: the tensors that are fetched.
      devices: the session's.
      watches: a function of (name of a node, output, dtype, device) that returns the Watched of a tensor, or None.
    """
    by_device: dict = {}
    for node in _nodes(operations, feeds, fetches, devices):
        by_device.setdefault(node.device, []).append(node)
    graphs = []
    for device, nodes in by_device.items():
        graph = protobuf.message("GraphDef")()
        graph.versions.producer = 134
        graph.node.extend(node.node_def for node in nodes)
        if watches is not None:
            _add_watches(graph, nodes, device, watches)
        graphs.append((device, graph))
    return graphs


def _nodes(operations, feeds, fetches, devices):
    fed = {tensor: argument_name(tensor, i) for i, tensor in enumerate(feeds)}
    new_node = protobuf.message("NodeDef")
    for tensor, name in fed.items():
        node_def = new_node(name=name, op="_Arg")
        node_def.attr["T"].type = tensor.dtype.base_dtype.as_datatype_enum
        node_def.attr["index"].i = feeds.index(tensor)
        yield _Node(node_def, devices.name_for(tensor.op._device), [tensor.dtype.base_dtype])
    produced = {tensor.op for tensor in feeds}
    for op in operations:
        if op in produced and not any(tensor not in fed for tensor in op._outputs):
            continue  # a placeholder: the feed stands for it
        node_def = new_node()
        node_def.CopyFrom(op.node_def)
        for i, tensor in enumerate(op._inputs):
            if tensor in fed:
                node_def.input[i] = fed[tensor]
        yield _Node(node_def, devices.name_for(op._device), [tensor.dtype for tensor in op._outputs])
    for i, tensor in enumerate(fetches):
        name = f"_retval_{tensor.op.name}_{tensor.value_index}_{i}"
        node_def = new_node(name=name, op="_Retval", input=[fed.get(tensor, tensor._label.removesuffix(":0"))])
        node_def.attr["T"].type = tensor.dtype.base_dtype.as_datatype_enum
        node_def.attr["index"].i = i
        yield _Node(node_def, devices.name_for(tensor.op._device), [])


def _add_watches(graph, nodes, device, watches):
    """Inserts the nodes of the watched tensors of one device."""
    readers: dict = {}  # "node:0" -> [(NodeDef, number of the input)]
    for node_def in graph.node:
        if node_def.op == "Enter" or node_def.op == "RefEnter":
            node_def.attr["parallel_iterations"].i = 1
        for i, name in enumerate(node_def.input):
            if not name.startswith("^"):
                label = name if ":" in name else f"{name}:0"
                readers.setdefault(label, []).append((node_def, i))
    waits: dict = {}  # name of a node -> the debug nodes that it waits for
    for node in nodes:
        name = node.node_def.name
        for slot, dtype in enumerate(node.output_dtypes):
            watched = watches(name, slot, dtype, device)
            if watched is None:
                continue
            label = f"{name}:{slot}"
            copy, added = _debug_nodes(graph, name, slot, dtype, device, watched)
            for reader, i in readers.get(label, ()):
                if not dtype._is_ref_dtype:
                    reader.input[i] = copy
                if node.node_def.op not in ("Enter", "RefEnter", "NextIteration", "RefNextIteration"):
                    waits.setdefault(reader.name, set()).update(added)
    for node_def in graph.node:
        if node_def.name in waits:
            data = [name for name in node_def.input if not name.startswith("^")]
            controls = {name[1:] for name in node_def.input if name.startswith("^")} | waits[node_def.name]
            node_def.input[:] = data + [f"^{name}" for name in sorted(controls)]


def _debug_nodes(graph, name, slot, dtype, device, watched):
    """Adds the copy and the debug nodes of a tensor. Returns the copy's name and those of the debug nodes."""
    kind = "CopyHost" if dtype.base_dtype in (dtypes.string, dtypes.resource, dtypes.variant) else "Copy"
    copy = graph.node.add(name=f"__copy_{name}_{slot}", op=kind, input=[f"{name}:{slot}" if slot else name])
    label = f"{name}:{slot}"
    enum = dtype.base_dtype.as_datatype_enum
    copy.attr["T"].type = enum
    copy.attr["tensor_name"].s = b""
    copy.attr["debug_ops_spec"].list.s.extend(
        f"{op.name};{url};{int(op.attrs['gated_grpc'])}".encode() for op in watched.ops for url in watched.urls
    )
    added = []
    for i, op in enumerate(watched.ops):
        if not op.is_made:
            continue
        node_def = graph.node.add(name=f"__dbg_{label}_{i}_{op.name}", op=op.name, input=[copy.name])
        added.append(node_def.name)
        node_def.attr["T"].type = enum
        node_def.attr["device_name"].s = device.encode()
        node_def.attr["tensor_name"].s = label.encode()
        node_def.attr["debug_urls"].list.s.extend(url.encode() for url in watched.urls)
        for key, value in op.attrs.items():
            setattr(node_def.attr[key], "b" if isinstance(value, bool) else "f", value)
    return copy.name, added
