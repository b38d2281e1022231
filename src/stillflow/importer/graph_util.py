"""Graphs as messages: cut out, cleaned for inference, frozen, written to a file."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import numpy as np

from stillflow.formats import protobuf
from stillflow.formats.graph_text import graph_def_text
from stillflow.graph import dtypes, tensor_proto
from stillflow.graph.graph import Graph
from stillflow.graph.op_def import has_trait
from stillflow.graph.operation import Operation
from stillflow.graph.tensor_value import TensorValue
from stillflow.names import public


def _node_of(input_name):
    """The name of the node that an input comes from."""
    return input_name.removeprefix("^").partition(":")[0]


def _check_graph_def(graph_def):
    if getattr(getattr(graph_def, "DESCRIPTOR", None), "name", None) != "GraphDef":
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")


@public("graph_util.extract_sub_graph")
def extract_sub_graph(graph_def, dest_nodes):
    """The part of a GraphDef that the nodes `dest_nodes` need; what they are placed with counts too.

    Raises:
      TypeError: if `graph_def` is no GraphDef, or `dest_nodes` a string.
      AssertionError: if there is no node of one of the names.
    """
    _check_graph_def(graph_def)
    if isinstance(dest_nodes, (str, bytes)):
        raise TypeError("dest_nodes must be a list.")
    nodes = {node.name: node for node in graph_def.node}
    for name in dest_nodes:
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
    needed: set = set()
    stack = list(dest_nodes)
    while stack:
        name = stack.pop()
        if name not in needed:
            needed.add(name)
            stack.extend(other for other in _neighbours(nodes[name]) if other in nodes)
    found = type(graph_def)()
    found.node.extend(node for node in graph_def.node if node.name in needed)
    found.library.CopyFrom(graph_def.library)
    found.versions.CopyFrom(graph_def.versions)
    return found


def _neighbours(node):
    names = [_node_of(text) for text in node.input]
    if "_class" in node.attr:
        groups = node.attr["_class"].list.s
        names.extend(group[5:].decode() for group in groups if group.startswith(b"loc:@"))
    return names


@public("graph_util.remove_training_nodes")
def remove_training_nodes(input_graph, protected_nodes=None):
    """A GraphDef without CheckNumerics, and without Identity nodes that no control edge touches.

    Nodes of the names `protected_nodes` stay.
    """
    protected = set(protected_nodes or ())
    removed = {node.name for node in input_graph.node if node.op == "CheckNumerics" and node.name not in protected}
    kept = []
    for node in input_graph.node:
        if node.name not in removed:
            kept.append(_with_inputs(node, [text for text in node.input if _node_of(text) not in removed]))
    waited_for = {text[1:] for node in kept for text in node.input if text.startswith("^")}
    spliced = {}
    for node in kept:
        is_free = node.name not in protected and node.name not in waited_for
        if node.op == "Identity" and is_free and node.input and not any(text.startswith("^") for text in node.input):
            spliced[node.name] = node.input[0]
    found = type(input_graph)()
    for node in kept:
        if node.name not in spliced:
            found.node.append(_with_inputs(node, [_followed(text, spliced) for text in node.input]))
    return found


def _with_inputs(node, inputs):
    copy = type(node)()
    copy.CopyFrom(node)
    del copy.input[:]
    copy.input.extend(inputs)
    return copy


def _followed(text, spliced):
    while text.removeprefix("^") in spliced:
        text = spliced[text.removeprefix("^")]
    return text


@public("graph_util.convert_variables_to_constants")
def convert_variables_to_constants(
    sess, input_graph_def, output_node_names, variable_names_whitelist=None, variable_names_blacklist=None
):
    """A GraphDef of what `output_node_names` need, with the values of variables in `sess` as constants.

    Args:
      sess: a session in which the variables have their values.
      input_graph_def: a GraphDef of its graph.
      output_node_names: a list of names of nodes.
      variable_names_whitelist: only these variables are converted; by default all.
      variable_names_blacklist: these are not.

    Raises:
      TypeError, AssertionError: as extract_sub_graph.
      tf.errors.FailedPreconditionError: if a variable has no value.
    """
    graph_def = extract_sub_graph(input_graph_def, output_node_names)
    chosen = [
        node
        for node in graph_def.node
        if has_trait(node.op, "is_variable")
        and (variable_names_whitelist is None or node.name in variable_names_whitelist)
        and (variable_names_blacklist is None or node.name not in variable_names_blacklist)
    ]
    fetches = {node.name: f"{node.name}{'/Read/ReadVariableOp' * (node.op == 'VarHandleOp')}:0" for node in chosen}
    values = sess.run(fetches) if fetches else {}
    found = type(input_graph_def)()
    for node in graph_def.node:
        if node.name in values:
            found.node.append(_constant(node, values[node.name]))
        elif node.op in ("ReadVariableOp", "ResourceGather") and _source_variable(node, graph_def) in values:
            found.node.extend(_read_of_constant(node))
        else:
            found.node.append(node)
    found.library.CopyFrom(graph_def.library)
    return found


def _source_variable(node, graph_def):
    """The name of the variable that a node reads, past what hands its handle on."""
    nodes = {other.name: other for other in graph_def.node}
    name = _node_of(node.input[0])
    while has_trait(nodes[name].op, "keeps_value") or nodes[name].op == "Enter":
        name = _node_of(nodes[name].input[0])
    return name


def _constant(node, value):
    dtype = dtypes.as_dtype(node.attr["dtype"].type)
    value = np.asarray(value, object if dtype is dtypes.string else dtype.as_numpy_dtype)
    constant = type(node)(op="Const", name=node.name)
    constant.attr["dtype"].CopyFrom(node.attr["dtype"])
    message = tensor_proto.to_message(TensorValue(dtype, value.shape, value.ravel()))
    constant.attr["value"].tensor.ParseFromString(message.SerializeToString())
    return constant


def _read_of_constant(node):
    """What reads a constant in the place of a node that reads a resource variable."""
    read = type(node)(name=node.name)
    if "_class" in node.attr:
        read.attr["_class"].CopyFrom(node.attr["_class"])
    if node.op == "ReadVariableOp":
        read.op = "Identity"
        read.input.extend(node.input)
        read.attr["T"].CopyFrom(node.attr["dtype"])
        return [read]
    axis = type(node)(op="Const", name=f"{node.name}/axis")
    axis.attr["dtype"].type = dtypes.int32.as_datatype_enum
    axis.attr["value"].tensor.dtype = dtypes.int32.as_datatype_enum
    axis.attr["value"].tensor.tensor_shape.SetInParent()
    axis.attr["value"].tensor.int_val.append(0)
    controls = [text for text in node.input if text.startswith("^")]
    read.op = "GatherV2"
    read.input.extend([*node.input[:2], axis.name, *controls])
    read.attr["Tparams"].CopyFrom(node.attr["dtype"])
    read.attr["Tindices"].CopyFrom(node.attr["Tindices"])
    read.attr["Taxis"].type = dtypes.int32.as_datatype_enum
    return [axis, read]


@public("graph_util.must_run_on_cpu")
def must_run_on_cpu(node, pin_variables_on_cpu=False):
    """Whether a node (an Operation or a NodeDef) could not be placed on a GPU."""
    node_def = node.node_def if isinstance(node, Operation) else node
    host_types = (dtypes.string.as_datatype_enum, dtypes.int32.as_datatype_enum)
    if pin_variables_on_cpu and has_trait(node_def.op, "is_variable"):
        return True
    if node_def.op == "Const":
        return node_def.attr["dtype"].type in host_types
    if node_def.op in ("DynamicStitch", "ParallelDynamicStitch"):
        return node_def.attr["T"].type == host_types[1]
    return node_def.op == "Cast" and node_def.attr["SrcT"].type == host_types[1]


@public("graph_util.tensor_shape_from_node_def_name")
def tensor_shape_from_node_def_name(graph, input_name):
    """The shape of a tensor of `graph`, by its name or that of its operation."""
    name = input_name if ":" in input_name else f"{input_name}:0"
    return graph.get_tensor_by_name(name).shape


@public("io.write_graph", "train.write_graph")
def write_graph(graph_or_graph_def, logdir, name, as_text=True):
    """Writes a Graph or GraphDef to the file `logdir`/`name`, as text or as bytes. Returns the path.

    A reader sees the old file or the new one. Raises OSError if it cannot be written.
    """
    is_graph = isinstance(graph_or_graph_def, Graph)
    graph_def = graph_or_graph_def.as_graph_def() if is_graph else graph_or_graph_def
    if as_text:
        content = graph_def_text(graph_def).encode()
    else:
        content = protobuf.to_bytes(graph_def)
    path = Path(logdir, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with open(temporary, "xb") as file:
            file.write(content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return os.path.join(os.fspath(logdir), name)  # noqa: PTH118  as it was given
