"""The functions of a SavedModel's graph as ConcreteFunctions."""

from __future__ import annotations

import itertools
import re

from stillflow.importer.import_graph_def import import_body
from stillflow.names import public
from stillflow.traced_functions.body import FuncGraph
from stillflow.traced_functions.concrete import ConcreteFunction

_loads = itertools.count()


@public("python.saved_model.function_deserialization.load_function_def_library")
def load_function_def_library(library, load_shared_name_suffix=None):
    """{name in the library: ConcreteFunction, which has captured nothing yet}.

    The functions get names of their own. So do resources that they share by name: two loads share nothing.

    Args:
      library: a FunctionDefLibrary message.
      load_shared_name_suffix: what to put after names of resources; by default something new.

    Raises ValueError if functions call each other in a circle.
    """
    suffix = _new_suffix() if load_shared_name_suffix is None else load_shared_name_suffix
    definitions = {definition.signature.name: definition for definition in library.function}
    functions: dict = {}
    originals: dict = {}
    for definition in _in_order(definitions):
        called = _called_functions(definition, definitions)
        copied = type(definition).FromString(definition.SerializeToString())
        for node in copied.node_def:
            _rename(node, functions, suffix)
        copied.signature.name = _plain_name(definition.signature.name)
        body = FuncGraph(copied.signature.name)
        for name in called:
            functions[name].add_to_graph(body)
        import_body(copied, body, originals)
        made = functions[definition.signature.name] = ConcreteFunction(body)
        originals[made.name] = definition
    return functions


def _new_suffix():
    return f"_load_{next(_loads)}"


def renamed_graph_def(graph_def):
    """A GraphDef message whose functions have names of their own, and that shares no resources with another load."""
    suffix = _new_suffix()
    functions = load_function_def_library(graph_def.library, suffix)
    found = type(graph_def).FromString(graph_def.SerializeToString())
    del found.library.function[:]
    found.library.function.extend(function.function_def for function in functions.values())
    for node in found.node:
        _rename(node, functions, suffix)
    return found


def _called_functions(definition, definitions):
    """The names of the functions that a function's nodes call."""
    found: dict = {}
    for node in definition.node_def:
        if node.op in definitions:
            found[node.op] = None
            continue
        for attr in node.attr.values():
            calls = [attr.func] if attr.WhichOneof("value") == "func" else attr.list.func
            found.update((call.name, None) for call in calls)
    return list(found)


def _in_order(definitions):
    """The definitions, each after those that it calls."""
    ordered: dict = {}
    while True:
        ready = [
            definition for name, definition in definitions.items()
            if name not in ordered and all(each in ordered for each in _called_functions(definition, definitions))
        ]  # fmt: skip
        if not ready:
            break
        ordered.update((definition.signature.name, definition) for definition in ready)
    if len(ordered) < len(definitions):
        left = sorted(definitions.keys() - ordered)
        raise ValueError("There is a cyclic-dependency between functions. ", f"Could not resolve {left!r}.")
    return ordered.values()


def _rename(node, functions, suffix):
    """Makes a node call functions by the names that they have now, and share resources with its own load alone."""
    if node.op in ("PartitionedCall", "StatefulPartitionedCall"):
        node.attr.pop("_gradient_op_type", None)  # TensorFlow's name of what the function itself knows here
    if node.op in functions:
        node.op = functions[node.op].name
    for attr in node.attr.values():
        if attr.func.name:
            attr.func.name = functions[attr.func.name].name
    if node.op == "HashTableV2" and not node.attr["use_node_name_sharing"].b:
        # TensorFlow once wrote tables without it, which were not to be shared at all.
        node.attr["use_node_name_sharing"].b = True
        suffix = f"{suffix}_{next(_loads)}"
    if "shared_name" in node.attr:
        node.attr["shared_name"].s = (node.attr["shared_name"].s or node.name.encode()) + suffix.encode()


def _plain_name(name):
    """The name that a ConcreteFunction makes such a name of."""
    found = re.fullmatch(r"__inference_(.*)_\d+", name, re.DOTALL)
    return found.group(1) if found else name
