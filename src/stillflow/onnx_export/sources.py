"""What is converted: a frozen GraphDef, a MetaGraph with its checkpoint, or a SavedModel, as a graph and values of
variables."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from stillflow.files import filesystem
from stillflow.formats import protobuf
from stillflow.graph.graph import Graph
from stillflow.graph.operation import Operation, Tensor
from stillflow.importer import graph_util
from stillflow.importer.import_graph_def import import_graph_def
from stillflow.ops import raw_ops
from stillflow.ops.array import constant as constants
from stillflow.ops.array import placeholder as placeholders
from stillflow.saver import meta_graph_import
from stillflow.saver.saved_model import loader
from stillflow.session.session import Session

_VARIABLES = ("VarHandleOp", "Variable", "VariableV2")
_INPUT = re.compile(r"(?P<name>[^\[\]]+)(\[(?P<sizes>[^\]]*)\])?")


class ConversionError(Exception):
    """What cannot be converted, as a sentence."""


class Model(NamedTuple):
    """A graph, the tensors that are a model's inputs and outputs, by their ONNX names, and the values of its
    variables."""

    graph: Graph
    inputs: dict[str, Tensor]
    outputs: dict[str, Tensor]
    variables: dict[Operation, np.ndarray]


class Request(NamedTuple):
    """What to convert, as the command's options say it.

    `inputs` are texts "name" or "name[1,28,28,1]", `outputs` names, `fixed` texts "name=value". `tags` and
    `signature` choose from a SavedModel, `checkpoint` is that of a MetaGraph where its own name does not tell.
    """

    path: str
    inputs: tuple = ()
    outputs: tuple = ()
    fixed: tuple = ()
    tags: tuple = ("serve",)
    signature: str = "serving_default"
    checkpoint: str | None = None


def load(request: Request) -> Model:
    """Reads what a request names.

    Raises:
      ConversionError: if there is no such thing in it.
      tf.errors.OpError, OSError: if a file cannot be read.
    """
    path = filesystem.path_text(request.path)
    if loader.maybe_saved_model_directory(path):
        return _from_saved_model(path, request)
    for meta in (path, f"{path}.meta"):
        if meta.endswith(".meta") and os.path.exists(meta):
            return _from_meta_graph(meta, request)
    if os.path.isfile(path):
        return _finished(_read_graph_def(path), request, {}, {}, {})
    raise ConversionError(f"{path} is neither a SavedModel, nor a MetaGraph, nor a file with a GraphDef.")


def _read_graph_def(path):
    with open(path, "rb") as file:
        data = file.read()
    try:
        return protobuf.message("GraphDef").FromString(data)
    except DecodeError as error:
        raise ConversionError(f"{path} is no binary GraphDef: {error}.") from None


def _from_saved_model(path, request):
    with Graph().as_default(), Session() as session:
        try:
            meta_graph = loader.load(session, list(request.tags), path)
        except RuntimeError as error:
            raise ConversionError(str(error)) from None
        signature = meta_graph.signature_def.get(request.signature)
        if signature is None and not request.outputs:
            known = ", ".join(sorted(meta_graph.signature_def)) or "none"
            raise ConversionError(f"There is no signature {request.signature!r}; there are: {known}.")
        inputs = {key: info.name for key, info in signature.inputs.items()} if signature is not None else {}
        outputs = {key: info.name for key, info in signature.outputs.items()} if signature is not None else {}
        return _with_variables(session, request, inputs, outputs)


def _from_meta_graph(meta, request):
    with Graph().as_default(), Session() as session:
        saver = meta_graph_import.import_meta_graph(meta, clear_devices=True)
        if saver is not None:
            saver.restore(session, request.checkpoint or meta.removesuffix(".meta"))
        return _with_variables(session, request, {}, {})


def _with_variables(session, request, inputs, outputs):
    graph = session.graph
    names = [_tensor_name(name) for name in request.outputs] or list(outputs.values())
    if not names:
        raise ConversionError("Of a MetaGraph the outputs must be named: --outputs NAME.")
    nodes = [_found(graph, name).op.name for name in names]
    needed = graph_util.extract_sub_graph(graph.as_graph_def(), nodes)
    needed.versions.CopyFrom(graph.graph_def_versions)  # without one, a scalar placeholder is of any shape
    read = {node.name: _read(graph.get_operation_by_name(node.name)) for node in needed.node if node.op in _VARIABLES}
    return _finished(needed, request, inputs, outputs, session.run(read))


def _read(variable):
    (tensor,) = variable.outputs
    if variable.type != "VarHandleOp":
        return tensor
    with variable.graph.as_default():
        return raw_ops.ReadVariableOp(resource=tensor, dtype=variable.get_attr("dtype"))


def _found(graph, name):
    try:
        return graph.get_tensor_by_name(name)
    except (KeyError, ValueError) as error:
        raise ConversionError(error.args[0]) from None


def _tensor_name(name):
    return name if ":" in name else f"{name}:0"


def _finished(graph_def, request, inputs, outputs, variables):
    """The model, in a graph of its own in which the inputs are placeholders, and fixed inputs constants."""
    with Graph().as_default() as original:
        import_graph_def(graph_def, name="")
    wanted = dict(_parsed_inputs(request.inputs)) or dict.fromkeys(inputs.values()) or _placeholders(original)
    fixed = dict(_parsed_value(original, text) for text in request.fixed)
    keys = {name: key for key, name in inputs.items()}
    if request.outputs:
        outputs = {name.removesuffix(":0"): _tensor_name(name) for name in request.outputs}
    outputs = outputs or _last(original)
    for name in (*wanted, *outputs.values()):
        _found(original, name)
    with Graph().as_default() as graph:
        given, replaced = {}, {}
        for name, dims in wanted.items():
            if name in fixed:
                continue
            tensor = original.get_tensor_by_name(name)
            key = keys.get(name, name.removesuffix(":0"))
            shape = tensor.shape if dims is None else tensor.shape.merge_with(dims)
            given[key] = replaced[name] = placeholders.placeholder(tensor.dtype, shape, name="input")
        for name, value in fixed.items():
            replaced[name] = constants.constant(value, name="fixed")
        found = import_graph_def(graph_def, replaced, list(outputs.values()), name="model")
        values = {graph.get_operation_by_name(f"model/{name}"): value for name, value in variables.items()}
    return Model(graph, given, dict(zip(outputs, found, strict=True)), values)


def _parsed_inputs(texts):
    for text in texts:
        match = _INPUT.fullmatch(text)
        if match is None:
            raise ConversionError(f"{text!r} is no input: NAME or NAME[SIZE,SIZE,...] is.")
        sizes = match["sizes"]
        try:
            dims = (
                None if sizes is None else [int(size) if size.strip() != "?" else None for size in sizes.split(",")]
            )
        except ValueError:
            raise ConversionError(f"{sizes!r} are no sizes: whole numbers and ? are.") from None
        yield _tensor_name(match["name"]), dims


def _parsed_value(graph, text):
    name, separator, value = text.partition("=")
    if not separator:
        raise ConversionError(f"{text!r} fixes no input: NAME=VALUE does.")
    dtype = _found(graph, _tensor_name(name)).dtype
    words = {"true": True, "false": False}
    try:
        parsed = np.array(words.get(value.lower(), value)).astype(dtype.as_numpy_dtype)
    except ValueError:
        raise ConversionError(f"{value!r} is no value of type {dtype.name}, which {name} has.") from None
    return _tensor_name(name), parsed


def _placeholders(graph):
    return {op.outputs[0].name: None for op in graph.get_operations() if op.type == "Placeholder"}


def _last(graph):
    """The outputs of the nodes that no other node reads."""
    return {
        op.name: op.outputs[0].name
        for op in graph.get_operations()
        if op.outputs and not any(output.consumers() for output in op.outputs)
    }
