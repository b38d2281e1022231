"""tf.import_graph_def: the nodes of a GraphDef, added to the default graph."""

from __future__ import annotations

import heapq
import re

from stillflow.formats import protobuf
from stillflow.functions.call import call_op_def
from stillflow.functions.function import Function
from stillflow.functions.function_graph import FunctionGraph
from stillflow.graph import graph_def as graph_defs
from stillflow.graph import op_def as op_defs
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.function_def import graph_def_of_function
from stillflow.graph.imported import (
    ImportNames,
    Snapshot,
    add_imported_node,
    add_to_context,
    place_imported_nodes,
)
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.importer.nodes import parse_input_name, parse_nodes, parse_tensor_name
from stillflow.names import public
from stillflow.ops import convert
from stillflow.platform import tf2


@public("import_graph_def", "graph_util.import_graph_def")
def import_graph_def(graph_def, input_map=None, return_elements=None, name=None, op_dict=None, producer_op_list=None):
    """Adds the nodes of a GraphDef to the default graph; either all of them or, after an error, none.

    Args:
      graph_def: a GraphDef message.
      input_map: {name of a tensor in `graph_def`: what to read in its place}.
      return_elements: names of operations, or tensors ("name:0"), to return.
      name: the scope of the new nodes, "import" by default; "" for none.
      op_dict: not used.
      producer_op_list: an OpList message of whoever wrote the graph: attributes that only they know may have the
        values they have there when left out.

    Returns:
      A list of the operations and tensors that `return_elements` names, or None without it.

    Raises:
      TypeError: if an argument is of another kind.
      ValueError: if the graph contradicts itself, or names are not found in it.
      tf.errors.NotFoundError: for an unknown op type.
      RuntimeError: if the default graph is finalized.
    """
    graph_def = _checked_message(graph_def)
    input_map = _checked_map(input_map)
    names = _checked_names(return_elements)
    producer_ops = {op.name: op for op in producer_op_list.op} if producer_op_list is not None else {}
    graph = get_default_graph()
    if graph.finalized:
        raise RuntimeError("Graph is finalized and cannot be modified.")
    with graph._lock:
        snapshot = Snapshot(graph)
        try:
            with name_scope(name, "import", list(input_map.values())) as scope:
                mapped = _mapped_tensors(input_map, scope)
                graph._note_versions(graph_def.versions)  # which shapes depend on
                importing = _Import(graph, scope, mapped)
                importing.add(graph_def, producer_ops)
                elements = [importing.element(text) for text in names]
            add_to_context(graph, importing.added)
        except BaseException:
            snapshot.restore()
            raise
        _add_library(graph, graph_def.library)
    return None if return_elements is None else elements


def _checked_message(graph_def):
    kind = protobuf.message("GraphDef")
    if isinstance(graph_def, kind):
        found = graph_def
    elif getattr(getattr(graph_def, "DESCRIPTOR", None), "name", None) == "GraphDef":
        found = kind.FromString(graph_def.SerializeToString())
    else:
        raise TypeError("graph_def must be a GraphDef proto.")
    version = graph_defs.PRODUCER_VERSION
    if found.versions.producer < 0:
        raise ValueError(
            f"GraphDef producer version {found.versions.producer} below min producer 0 supported by TensorFlow "
            "1.15.5.  Please regenerate your graph."
        )
    if found.versions.min_consumer > version:
        raise ValueError(
            f"GraphDef min consumer version {found.versions.min_consumer} above current version {version} for "
            "TensorFlow 1.15.5.  Please upgrade TensorFlow."
        )
    if version in found.versions.bad_consumers:
        raise ValueError(
            f"GraphDef disallows consumer version {version}.  Please upgrade TensorFlow: this version is likely "
            "buggy."
        )
    return found


def _checked_map(input_map):
    if input_map is None:
        return {}
    if not isinstance(input_map, dict) or not all(isinstance(key, (str, bytes)) for key in input_map):
        raise TypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    return {key.decode() if isinstance(key, bytes) else key: value for key, value in input_map.items()}


def _checked_names(return_elements):
    if return_elements is None:
        return []
    if isinstance(return_elements, (str, bytes)) or not hasattr(return_elements, "__iter__"):
        raise TypeError("return_elements must be a list of strings.")
    names = list(return_elements)
    if not all(isinstance(text, (str, bytes)) for text in names):
        raise TypeError("return_elements must be a list of strings.")
    texts = [text.decode() if isinstance(text, bytes) else text for text in names]
    for text in texts:
        if ":" in text and not re.fullmatch(r"[^:]*:\d+", text):
            raise ValueError(f"Cannot convert {text!r} to a tensor name.")
    return texts


def _mapped_tensors(input_map, scope):
    if all(isinstance(value, Tensor) for value in input_map.values()):
        return input_map
    if not scope:
        raise ValueError(
            "tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor values. Try "
            "calling tf.convert_to_tensor() on `input_map` values before calling tf.import_graph_def()."
        )
    with name_scope("_inputs"):
        return {key: convert.convert_to_tensor(value) for key, value in input_map.items()}


def _add_library(graph, library):
    """Adds the functions that come with a graph. Those whose names it has stay as they are."""
    gradients = {gradient.function_name: gradient.gradient_func for gradient in library.gradient}
    for definition in library.function:
        name = definition.signature.name
        if name not in graph._functions:
            graph._functions[name] = imported_function(definition, graph, gradients.get(name))


def imported_function(definition, graph, gradient_name=None):
    """The function of a FunctionDef message, which may call the functions of `graph`."""
    kept = type(definition).FromString(definition.SerializeToString())
    name = definition.signature.name
    return Function(name, graph, kept, gradient_name=gradient_name, load_body=_imported_body)


def _imported_body(definition, outer_graph):
    """The FunctionGraph of a FunctionDef message, which may call the functions of `outer_graph`."""
    body = FunctionGraph(definition.signature.name, outer_graph)
    body._functions = outer_graph._functions
    import_body(definition, body)
    return body


def import_body(definition, body, originals=None):
    """Adds the nodes of a FunctionDef message to a FunctionGraph, which has the functions that these call.

    What it captures are inputs like all others. Raises what import_graph_def raises.

    Args:
      definition: the message.
      body: the FunctionGraph.
      originals: {name of a function that nodes call: the FunctionDef message whose names of results they use}, where
        these are not the names in the function that `body` has.
    """
    originals = originals or {}

    def find_op(name):
        found = op_defs.find(name)
        if found is None and name in body._functions:
            found = call_op_def(originals.get(name) or body._functions[name].definition)
        return found

    graph_def, inputs, outputs, controls = graph_def_of_function(definition, find_op)
    with body.as_default():
        elements = import_graph_def(graph_def, return_elements=[*inputs, *outputs, *controls], name="")
    body.inputs = elements[: len(inputs)]
    body.outputs = elements[len(inputs) : len(inputs) + len(outputs)]
    body.control_outputs = elements[len(inputs) + len(outputs) :]


def _is_back_edge(node, source):
    return node.op_def.special == "merge" and source.op_def.special == "next_iteration"


class _Import:
    """One call: the nodes that are read, and what they have become."""

    def __init__(self, graph, scope, mapped):
        self._graph = graph
        self._scope = scope
        self._mapped = {}  # (name, output) or ("^", name) -> Tensor
        for key, tensor in mapped.items():
            self._mapped[parse_input_name(key)] = tensor
        self._used: set = set()
        self._nodes: dict = {}
        self._names: dict = {}  # name in the GraphDef -> name in the graph
        self._operations: dict = {}
        self.added: list = []  # the new nodes

    def add(self, graph_def, producer_ops):
        functions = {name: function.definition for name, function in self._graph._functions.items()}
        functions.update((function.signature.name, function) for function in graph_def.library.function)
        self._nodes = parse_nodes(graph_def, self._scope, producer_ops, functions, self._mapped)
        for node in self._nodes.values():
            self._connect(node)
            self._check_colocation(node)
        ordered = self._in_order()
        self._check_map()
        full_names = {node.name: f"{self._scope}{node.name}" for node in ordered}
        names = ImportNames(self._graph, list(full_names.values()))
        self._names = {name: names.unique(full_name) for name, full_name in full_names.items()}
        self.added = [self._add_node(node) for node in ordered]
        for node in ordered:
            self._close_rounds(node)
        place_imported_nodes(self._graph, self.added)

    # ---- Checks before anything is added ----------------------------------------------------------------------

    def _connect(self, node):
        sources = set()
        for index, (name, port) in enumerate(node.inputs):
            tensor = self._mapped.get((name, port))
            if tensor is not None:
                self._used.add((name, port))
                if tensor.graph is not self._graph:
                    raise ValueError(f"{tensor!r} is not an element of this graph.")
                self._check_type(node, index, tensor.dtype, tensor.name)
                continue
            source = self._nodes[name]
            if port >= len(source.output_dtypes):
                raise ValueError(
                    f"Node '{node.name}': Connecting to invalid output {port} of source node {name} which has "
                    f"{len(source.output_dtypes)} outputs"
                )
            self._check_type(node, index, source.output_dtypes[port], f"{self._scope}{name}:{port}")
            if not _is_back_edge(node, source):
                sources.add(name)
        for name in node.control_inputs:
            if ("^", name) in self._mapped:
                self._used.add(("^", name))
            else:
                sources.add(name)
        node.waiting = len(sources)
        for name in sources:
            self._nodes[name].readers.append(node)

    def _check_type(self, node, index, found, source):
        arg, wanted = node.input_args[index]
        if found.base_dtype is not wanted.base_dtype or (arg.is_ref and not found._is_ref_dtype):
            expected = wanted.base_dtype._as_ref if arg.is_ref else wanted.base_dtype
            raise ValueError(
                f"Input {index} of node {self._scope}{node.name} was passed {found._c_name} from {source} "
                f"incompatible with expected {expected._c_name}."
            )

    def _check_colocation(self, node):
        for group in node.attrs.get("_class", ()):
            if not isinstance(group, bytes):
                raise TypeError(f"Expected binary or unicode string, got {group!r}")
            if group.startswith(b"loc:@"):
                target = group[5:].decode("utf-8", "replace")
                if target not in self._nodes and not tf2.enabled():
                    raise ValueError(f"Node '{node.name}' expects to be colocated with unknown node '{target}'")

    def _in_order(self):
        """The nodes, each after what it waits for, and otherwise as they stand in the GraphDef."""
        ready = [(node.position, node.name) for node in self._nodes.values() if node.waiting == 0]
        heapq.heapify(ready)
        ordered = []
        while ready:
            node = self._nodes[heapq.heappop(ready)[1]]
            ordered.append(node)
            for reader in node.readers:
                reader.waiting -= 1
                if reader.waiting == 0:
                    heapq.heappush(ready, (reader.position, reader.name))
        if len(ordered) < len(self._nodes):
            raise ValueError(f"{len(self._nodes) - len(ordered)} nodes in a cycle")
        return ordered

    def _check_map(self):
        unused = []
        for (name, port), _ in self._mapped.items():
            node = self._nodes.get(port if name == "^" else name)
            exists = node is not None and (name == "^" or port < len(node.output_dtypes))
            if (name, port) not in self._used and not exists:
                unused.append(f"^{port}" if name == "^" else f"{name}:{port}")
        if unused:
            raise ValueError(f"Attempted to map inputs that were not found in graph_def: [{', '.join(unused)}]")

    # ---- Adding -----------------------------------------------------------------------------------------------

    def _add_node(self, node):
        inputs = self._inputs(node)
        controls = [
            self._mapped[("^", name)].op if ("^", name) in self._mapped else self._operations[name]
            for name in node.control_inputs
        ]
        if "_class" in node.attrs:
            node.attrs["_class"] = tuple(
                b"loc:@" + self._names[group[5:].decode()].encode() if group.startswith(b"loc:@") else group
                for group in node.attrs["_class"]
            )
        op = add_imported_node(
            self._graph, node.op_def, self._names[node.name], inputs, controls, node.attrs, node.output_dims
        )
        op._device = node.device
        self._operations[node.name] = op
        return op

    def _inputs(self, node):
        """The inputs of a node; for what comes from the round before of a loop another stands, at first."""
        inputs = [
            None if (name, port) not in self._mapped and name not in self._operations else self._tensor(name, port)
            for name, port in node.inputs
        ]
        first = next((tensor for tensor in inputs if tensor is not None), None)
        if first is None and inputs:
            raise ValueError(f"Node '{node.name}': all inputs come from the round before")
        return [first if tensor is None else tensor for tensor in inputs]

    def _close_rounds(self, node):
        """Gives the Merges of loops the inputs that were not there."""
        op = self._operations[node.name]
        if op._op_def.special == "merge":
            for index, (name, port) in enumerate(node.inputs):
                tensor = self._tensor(name, port)
                if op._inputs[index] is not tensor:
                    op._reconnect(index, tensor)

    def _tensor(self, name, port):
        mapped = self._mapped.get((name, port))
        return self._operations[name]._outputs[port] if mapped is None else mapped

    def element(self, text):
        """The operation or tensor that one of return_elements names."""
        name, port = parse_tensor_name(text)
        node = self._nodes.get(name)
        if ":" not in text:
            if node is None:
                raise ValueError(f"Requested return node '{text}' not found in graph def")
            return self._operations[name]
        if (name, port) in self._mapped:
            return self._mapped[(name, port)]
        if node is None or name == text:
            raise ValueError(f"Requested return tensor '{text}' not found in graph def")
        if port >= len(node.output_dtypes):
            raise ValueError(
                f"Invalid return output {port} of node '{name}', which has {len(node.output_dtypes)} output(s)"
            )
        return self._operations[name]._outputs[port]
