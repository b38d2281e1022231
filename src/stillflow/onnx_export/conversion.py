"""The ONNX model of a graph."""

from __future__ import annotations

from stillflow.onnx_export import ops as _converters  # noqa: F401
from stillflow.onnx_export.block import Block, Names
from stillflow.onnx_export.sources import ConversionError, Model
from stillflow.onnx_export.translation import Translation, element_type

OPSET = 18
IR_VERSION = 9  # as of opset 18


def to_onnx(model: Model):
    """The ModelProto that computes what the graph does.

    Raises:
      ConversionError: for ops, types and uses of ops that ONNX has nothing for, naming the node; and without `onnx`.
    """
    try:
        from onnx import helper
    except ImportError:
        raise ConversionError("ONNX models need the package onnx: pip install 'stillflow[onnx]'.") from None
    names = Names()
    block = Block(names)
    translation = Translation(block, variables=model.variables)
    for key, tensor in model.inputs.items():
        translation.values[tensor] = names.unique(key)
    keys = [names.unique(key) for key in model.outputs]
    results = translation.translate(list(model.outputs.values()))
    for key, result in zip(keys, results, strict=True):
        block.nodes.append(helper.make_node("Identity", [result], [key], name=key))
    _remove_unused(block.nodes, block.initializers, keys)
    used = _read_by(block.nodes)
    inputs = [(translation.values[tensor], tensor) for tensor in model.inputs.values()]
    infos = [_info(name, tensor) for name, tensor in inputs if name in used]
    graph = block.graph(
        "stillflow", infos, [_info(key, tensor) for key, tensor in zip(keys, model.outputs.values(), strict=True)]
    )
    opsets = [helper.make_opsetid("", OPSET)]
    proto = helper.make_model(graph, producer_name="stillflow", opset_imports=opsets, ir_version=IR_VERSION)
    if translation.random_nodes:
        proto.doc_string = f"Random numbers, drawn by what runs the model: {', '.join(translation.random_nodes)}"
    return proto


def _read_by(nodes):
    """The names that nodes read, those that bodies of loops and branches read from outside included."""
    bodies = [attribute.g for node in nodes for attribute in node.attribute if attribute.HasField("g")]
    return {name for node in nodes for name in node.input}.union(*(_read_by(body.node) for body in bodies))


def _remove_unused(nodes, initializers, outputs):
    """Removes the nodes and constants that the outputs do not depend on, those of bodies included."""
    needed, kept = set(outputs), []
    for node in reversed(nodes):
        if needed.isdisjoint(node.output):
            continue
        for attribute in node.attribute:
            if attribute.HasField("g"):
                body = attribute.g
                _remove_unused(body.node, body.initializer, [info.name for info in body.output])
        needed |= _read_by([node])
        kept.append(node)
    _replace(nodes, reversed(kept))
    _replace(initializers, [tensor for tensor in initializers if tensor.name in needed])


def _replace(elements, others):
    """Of a list, or a repeated field of a message."""
    others = list(others)
    del elements[:]
    elements.extend(others)


def _info(name, tensor):
    from onnx import helper

    dims = tensor.shape.as_list() if tensor.shape.ndims is not None else _unknown_sizes(tensor)
    if dims is not None:
        dims = [f"{name}_{axis}" if size is None else size for axis, size in enumerate(dims)]
    return helper.make_tensor_value_info(name, element_type(tensor.dtype), dims)


def _unknown_sizes(tensor):
    """As many unknown sizes as the tensor has dimensions, of a tensor of which shape inference cannot say it: what
    leaves a loop has the rank of what entered it. None where that is unknown, too."""
    while tensor.op.type in ("Exit", "Identity", "NextIteration", "Switch", "Merge", "Enter"):
        tensor = tensor.op.inputs[0]
    if tensor.op.type == "Transpose":
        return [None] * tensor.op.inputs[1].shape.num_elements()
    return None if tensor.shape.ndims is None else [None] * tensor.shape.ndims
