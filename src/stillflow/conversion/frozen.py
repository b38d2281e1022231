"""A model as one graph without variables, of whatever it was saved as."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from google.protobuf.message import DecodeError

from stillflow import errors
from stillflow.formats import protobuf
from stillflow.graph.graph import Graph
from stillflow.importer.graph_util import convert_variables_to_constants
from stillflow.importer.import_graph_def import import_graph_def
from stillflow.inspection.sources import InputError
from stillflow.saver.meta_graph_import import import_meta_graph
from stillflow.saver.saved_model import loader, names
from stillflow.saver.saved_model.loader import maybe_saved_model_directory
from stillflow.session.session import Session


class Frozen(NamedTuple):
    """A graph whose variables are constants; {name: tensor} of what is fed and of what is wanted."""

    graph: Graph
    inputs: dict
    outputs: dict


def frozen(path, checkpoint=None, inputs=(), outputs=(), signature=None):
    """The Frozen model at a path.

    Args:
      path: a folder with a SavedModel, a file with a frozen GraphDef, or a MetaGraph (.meta).
      checkpoint: the values of a MetaGraph's variables; by default those of its own name.
      inputs: names of the tensors that are fed; by default the signature's, or all placeholders.
      outputs: names of the tensors that are wanted; by default the signature's, or what no node takes.
      signature: a signature's name, of a SavedModel; by default "serving_default", or the only one.

    Raises InputError if there is no such model, tensor or signature.
    """
    path = str(path)
    try:
        if maybe_saved_model_directory(path):
            return _of_saved_model(path, inputs, outputs, signature)
        if not Path(path).is_file():
            raise InputError(f"There is no model {path}.")
        if path.endswith(".meta"):
            return _of_meta_graph(path, checkpoint, inputs, outputs)
        graph_def = protobuf.message("GraphDef").FromString(Path(path).read_bytes())
        return _imported(graph_def, inputs, outputs)
    except DecodeError as error:
        raise InputError(f"{path} is no GraphDef: {error}.") from None
    except errors.OpError as error:
        raise InputError(error.message) from None
    except (RuntimeError, ValueError, KeyError, AssertionError, OSError) as error:
        raise InputError(f"{path}: {error}") from None


def _of_saved_model(path, inputs, outputs, signature):
    with Session(graph=Graph()) as session:
        meta_graph = loader.load(session, ["serve"], path)
        if not (inputs and outputs):
            chosen = _signature(meta_graph.signature_def, signature)
            inputs = inputs or {name: info.name for name, info in sorted(chosen.inputs.items())}
            outputs = outputs or {name: info.name for name, info in sorted(chosen.outputs.items())}
        return _imported(_without_variables(session, outputs), inputs, outputs)


def _signature(signatures, name):
    known = sorted(key for key in signatures if key != names.INIT_OP_SIGNATURE_KEY)
    if name is None:
        name = known[0] if len(known) == 1 else names.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if name not in known:
        raise InputError(f"There is no signature {name}; there are: {', '.join(known) or 'none'}.")
    return signatures[name]


def _of_meta_graph(path, checkpoint, inputs, outputs):
    if not outputs:
        raise InputError("Of a MetaGraph, say which tensors are wanted: --outputs.")
    with Graph().as_default() as graph, Session(graph=graph) as session:
        saver = import_meta_graph(path, clear_devices=True)
        if saver is not None:
            saver.restore(session, str(checkpoint or path.removesuffix(".meta")))
        return _imported(_without_variables(session, outputs), inputs, outputs)


def _tensor_names(given):
    """{name: name of the tensor} of names of tensors or operations."""
    if isinstance(given, dict):
        return given
    return {name.removesuffix(":0"): name if ":" in name else f"{name}:0" for name in given}


def _without_variables(session, outputs):
    operations = sorted({name.partition(":")[0] for name in _tensor_names(outputs).values()})
    return convert_variables_to_constants(session, session.graph.as_graph_def(), operations)


def _imported(graph_def, inputs, outputs):
    graph = Graph()
    with graph.as_default():
        import_graph_def(graph_def, name="")
    operations = graph.get_operations()
    if not inputs:
        inputs = [op.name for op in operations if op.type in ("Placeholder", "PlaceholderWithDefault")]
    if not outputs:
        taken = {tensor.op for op in operations for tensor in op.inputs}
        outputs = [op.name for op in operations if op.outputs and op not in taken and op.type != "Placeholder"]
    if not outputs:
        raise InputError("The graph has no output: say which tensors are wanted, --outputs.")

    def tensors(given):
        return {name: graph.get_tensor_by_name(tensor) for name, tensor in _tensor_names(given).items()}

    return Frozen(graph, tensors(inputs), tensors(outputs))
