"""The model that is served: signatures of a SavedModel or of a frozen graph, and running them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from stillflow.formats import protobuf
from stillflow.graph import dtypes
from stillflow.graph.graph import Graph
from stillflow.importer.import_graph_def import import_graph_def
from stillflow.saver.saved_model import loader, names
from stillflow.serving.status import invalid, not_found
from stillflow.session.session import Session

PREDICT_METHOD = "tensorflow/serving/predict"
CLASSIFY_METHOD = "tensorflow/serving/classify"
REGRESS_METHOD = "tensorflow/serving/regress"


class ModelError(Exception):
    """What is to be served cannot be loaded."""


class TensorInfo(NamedTuple):
    """A tensor of a signature."""

    name: str
    dtype: Any  # a DType
    dims: Any  # a list of sizes, -1 for any; None for an unknown rank

    def as_json(self):
        """As TensorFlow Serving shows it."""
        return {
            "dtype": f"DT_{self.dtype.name.upper().replace('FLOAT32', 'FLOAT').replace('FLOAT64', 'DOUBLE')}",
            "tensor_shape": {
                "dim": [{"size": str(size), "name": ""} for size in self.dims or []],
                "unknown_rank": self.dims is None,
            },
            "name": self.name,
        }


class Signature(NamedTuple):
    """What a model can be asked."""

    inputs: dict  # {name: TensorInfo}
    outputs: dict
    method_name: str

    def as_json(self):
        """As TensorFlow Serving shows it."""
        return {
            "inputs": {name: info.as_json() for name, info in self.inputs.items()},
            "outputs": {name: info.as_json() for name, info in self.outputs.items()},
            "method_name": self.method_name,
        }


class Model:
    """A graph with values of variables, and its signatures.

    Args:
      name: what requests call it.
      version: its number.
      session: a session with the graph.
      signatures: {name: Signature}.
    """

    def __init__(self, name, version, session, signatures):
        self.name = name
        self.version = version
        self.signatures = signatures
        self._session = session

    def signature(self, name, method=None):
        """The signature with this name, the default one for "".

        Args:
          name: the name.
          method: (kind, method name) that it must have.

        Raises InvalidArgumentError if there is none, or it is of another method.
        """
        name = name or names.DEFAULT_SERVING_SIGNATURE_DEF_KEY
        signature = self.signatures.get(name)
        if method is None:
            if signature is None:
                raise invalid(f'Serving signature name: "{name}" not found in signature def')
            return signature
        if signature is None:
            raise invalid(f"No signature was found with the name: {name}")
        kind, method_name = method
        if signature.method_name != method_name:
            raise invalid(f"Expected {kind} signature method_name to be {method_name}. Was: {signature.method_name}")
        return signature

    def run(self, signature, feeds):
        """{name of an output: array} for {name of an input: array}.

        Raises tf.errors.OpError, InvalidArgumentError also for shapes that the graph does not take.
        """
        fetches = {name: info.name for name, info in signature.outputs.items()}
        fed = {signature.inputs[name].name: value for name, value in feeds.items()}
        try:
            return self._session.run(fetches, fed)
        except (ValueError, TypeError) as error:
            raise invalid(str(error)) from None

    def close(self):
        """Lets the session go."""
        self._session.close()


class Models:
    """The models that requests can name: one, in one version."""

    def __init__(self, model):
        self.model = model

    def find(self, name, version=None, label=None):
        """The model. Raises NotFoundError, or InvalidArgumentError for a label, for one that is not served."""
        if label is not None:
            raise invalid(f"Unrecognized servable version label: {label}")
        if name != self.model.name or version not in (None, self.model.version):
            asked = f"Latest({name})" if version is None else f"Specific({name}, {version})"
            raise not_found(f"Servable not found for request: {asked}")
        return self.model


# ---- Loading ------------------------------------------------------------------------------------------------------


def load(path, name=None):
    """The Model of a folder with a SavedModel, a folder of numbered ones, or a file with a frozen GraphDef.

    Args:
      path: the folder, of which the newest version is taken, or the file.
      name: what requests call it; by default what the folder or file is called.

    Raises ModelError if there is none, or it is damaged.
    """
    path = Path(path).resolve()
    name = name or path.stem
    try:
        if path.is_file():
            return _frozen(path, name)
        version, folder = _newest(path)
        session = Session(graph=Graph())
        meta_graph = loader.load(session, ["serve"], str(folder))
        signatures = {
            key: _signature(message)
            for key, message in sorted(meta_graph.signature_def.items())
            if key != names.INIT_OP_SIGNATURE_KEY
        }
        return Model(name, version, session, signatures)
    except (OSError, RuntimeError, ValueError, TypeError) as error:
        raise ModelError(f"{path}: {error}") from None


def _newest(path):
    """(number, folder) of the newest version in a folder, or of the SavedModel that it is itself."""
    if not path.is_dir():
        raise OSError("There is no such file or folder.")
    if any((path / file).exists() for file in ("saved_model.pb", "saved_model.pbtxt")):
        return (int(path.name) if path.name.isdigit() else 1), path
    versions = [entry for entry in path.iterdir() if entry.name.isdigit()]
    if not versions:
        raise OSError("There is no SavedModel, nor a folder of a version, which is called by a number.")
    newest = max(versions, key=lambda entry: int(entry.name))
    return int(newest.name), newest


def _signature(message):
    def infos(found):
        return {name: _tensor_info(info) for name, info in sorted(found.items()) if info.name}

    return Signature(infos(message.inputs), infos(message.outputs), message.method_name)


def _tensor_info(info):
    shape = info.tensor_shape
    dims = None if shape.unknown_rank else [dim.size for dim in shape.dim]
    return TensorInfo(info.name, dtypes.as_dtype(info.dtype), dims)


def _frozen(path, name):
    """The Model of a frozen graph: its inputs are the placeholders, its outputs what no node takes."""
    try:
        graph_def = protobuf.message("GraphDef").FromString(path.read_bytes())
    except DecodeError as error:
        raise OSError(f"Cannot parse the file: {error}.") from None
    graph = Graph()
    with graph.as_default():
        import_graph_def(graph_def, name="")
    operations = graph.get_operations()
    taken = {tensor.op.name for operation in operations for tensor in operation.inputs}
    inputs = [op.outputs[0] for op in operations if op.type in ("Placeholder", "PlaceholderWithDefault")]
    outputs = [
        op.outputs[0]
        for op in operations
        if op.name not in taken and len(op.outputs) == 1 and op.type not in ("Const", "Placeholder")
    ]
    if not inputs or not outputs:
        raise OSError("The graph has no placeholders, or no node whose output no other node takes.")
    signature = Signature(
        {tensor.op.name: _info_of(tensor) for tensor in inputs},
        {tensor.op.name: _info_of(tensor) for tensor in outputs},
        PREDICT_METHOD,
    )
    return Model(name, 1, Session(graph=graph), {names.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature})


def _info_of(tensor):
    dims = None if tensor.shape.ndims is None else [-1 if size is None else size for size in tensor.shape.as_list()]
    return TensorInfo(tensor.name, tensor.dtype.base_dtype, dims)
