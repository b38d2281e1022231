"""What can be looked into: each kind of file as named tensors, whose values are read one by one."""

from __future__ import annotations

import contextlib
import json
import os
import zipfile
from typing import Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from stillflow import _engine, errors
from stillflow.files import filesystem
from stillflow.formats import protobuf
from stillflow.graph import dtypes, tensor_proto
from stillflow.graph.collections import GraphKeys
from stillflow.graph.op_def import has_trait
from stillflow.graph.shape import TensorShape
from stillflow.saver import checkpoint_state
from stillflow.saver.meta_graph import read_meta_graph_file
from stillflow.saver.saved_model import names as saved_model_names
from stillflow.saver.saved_model.loader import maybe_saved_model_directory, read_saved_model

# The entry of an .npz that says which entries are of types that numpy does not have.
NPZ_DTYPES = "__stillflow_dtypes__"
DOTTED = "string, each followed by a dot"


class InputError(Exception):
    """What cannot be done with what was given, as a sentence."""


class DamageError(Exception):
    """What is broken, as a sentence."""


class Entry(NamedTuple):
    """What is known of a tensor without reading it; unknown sizes are None, as is the shape of unknown rank."""

    dtype: dtypes.DType
    dims: tuple | None

    @property
    def count(self):
        if self.dims is None or None in self.dims:
            return None
        return int(np.prod(self.dims, dtype=np.int64))

    @property
    def bytes(self):
        if self.count is None or self.dtype is dtypes.string:
            return None
        return self.count * self.dtype.size


class Source:
    """Named tensors. `kind` says what they are in, `facts` what else there is to know, line by line."""

    kind = ""

    def __init__(self):
        self.entries: dict[str, Entry] = {}
        self.facts: list[str] = []

    def read(self, name) -> np.ndarray:
        """The value: strings as objects of bytes. Raises DamageError, or InputError if there is none."""
        raise NotImplementedError

    def verify(self):
        """Yields a sentence for everything that is damaged."""
        for name in self.entries:
            try:
                self.read(name)
            except DamageError as error:
                yield str(error)


class CheckpointSource(Source):
    def __init__(self, prefix):
        super().__init__()
        try:
            self._reader = _engine.CheckpointReader(os.fsencode(prefix))
        except _engine.EngineError as error:
            if error.code == errors.NOT_FOUND:
                raise InputError(f"There is no checkpoint {prefix}.") from None
            raise DamageError(f"{prefix} is no checkpoint, or its index is damaged: {error.message}") from None
        self.kind = f"checkpoint, format {'V2' if self._reader.is_v2 else 'V1'}"
        for name, (number, dims, slices) in sorted(self._reader.tensors.items()):
            text = name.decode("utf-8", "surrogateescape")
            self.entries[text] = Entry(dtypes.as_dtype(number), tuple(dims))
            if len(slices) > 1:
                self.facts.append(f"{text} is stored in {len(slices)} parts")

    def read(self, name):
        try:
            value = self._reader.read(name.encode("utf-8", "surrogateescape"))
        except _engine.EngineError as error:
            raise DamageError(f"{name}: {error.message}") from None
        if isinstance(value, bytes):
            return np.array(value, object)
        return np.asarray(value)


def _variables_of(meta_graph):
    """The VariableDef messages of a graph's collections, which may hold other things under these names."""
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES):
        collection = meta_graph.collection_def.get(key)
        for serialized in collection.bytes_list.value if collection is not None else ():
            with contextlib.suppress(DecodeError):
                yield protobuf.message("VariableDef").FromString(serialized)


class MetaGraphSource(Source):
    """The variables of a graph, which have no values, and its constants, which have."""

    def __init__(self, meta_graph, kind="MetaGraph"):
        super().__init__()
        self.kind = kind
        self.nodes = {node.name: node for node in meta_graph.graph_def.node}
        for name, node in self.nodes.items():
            if "shape" in node.attr and has_trait(node.op, "is_variable"):  # most ops need not be loaded for this
                shape = TensorShape(node.attr["shape"].shape)
                dims = None if shape.rank is None else tuple(shape.as_list())
                self.entries[name] = Entry(dtypes.as_dtype(node.attr["dtype"].type), dims)
        self._put_parts_together(meta_graph)
        self._describe(meta_graph)

    def _put_parts_together(self, meta_graph):
        """The parts of a partitioned variable are one, as in a checkpoint."""
        for variable in _variables_of(meta_graph):
            name, whole = variable.variable_name.partition(":")[0], variable.save_slice_info_def
            if whole.full_name and name in self.entries:
                self.entries[whole.full_name] = Entry(self.entries.pop(name).dtype, tuple(whole.full_shape))

    def _describe(self, meta_graph):
        info = meta_graph.meta_info_def
        self.facts.append(f"{len(self.nodes)} nodes, TensorFlow {info.tensorflow_version or 'of an unknown version'}")
        if info.tags:
            self.facts.append(f"tags: {', '.join(info.tags)}")
        for name, collection in sorted(meta_graph.collection_def.items()):
            kind = collection.WhichOneof("kind")
            count = len(getattr(collection, kind).value) if kind else 0
            self.facts.append(f"collection {name}: {count}")
        for name, signature in sorted(meta_graph.signature_def.items()):
            self.facts.append(f"signature {name}: {signature.method_name}")
            for what, infos in (("input", signature.inputs), ("output", signature.outputs)):
                for key, tensor in sorted(infos.items()):
                    shape = text_of_dims(_dims_of(tensor.tensor_shape))
                    dtype = dtypes.as_dtype(tensor.dtype).name if tensor.dtype else "of no type"
                    self.facts.append(f"  {what} {key}: {tensor.name or 'sparse'} {dtype} {shape}")

    def read(self, name):
        node = self.nodes.get(name)
        if node is None or node.op != "Const":
            raise InputError(f"{name} has no value: a graph has the values of constants only.")
        try:
            return np.asarray(tensor_proto.from_message(node.attr["value"].tensor).array())
        except (ValueError, TypeError) as error:
            raise DamageError(f"{name}: {error}") from None

    def verify(self):
        for name, node in self.nodes.items():
            if node.op == "Const":
                try:
                    self.read(name)
                except DamageError as error:
                    yield str(error)


class SavedModelSource(Source):
    """The variables of a SavedModel; what its graphs have are facts."""

    kind = "SavedModel"

    def __init__(self, folder):
        super().__init__()
        try:
            model = read_saved_model(folder)
        except OSError as error:
            raise DamageError(str(error)) from None
        self.graphs = [MetaGraphSource(meta_graph) for meta_graph in model.meta_graphs]
        for number, graph in enumerate(self.graphs):
            self.facts += [f"graph {number}:", *(f"  {fact}" for fact in graph.facts)]
        self._variables: CheckpointSource | None = None
        prefix = saved_model_names.variables_path(folder)
        if os.path.exists(f"{prefix}.index") or any(graph.entries for graph in self.graphs):
            try:
                self._variables = CheckpointSource(prefix)
            except InputError:
                raise DamageError(f"{folder}: its graphs have variables, but {prefix}.index is not there.") from None
            self.entries = self._variables.entries

    def read(self, name):
        if self._variables is None:
            raise InputError(f"{name} has no value.")
        return self._variables.read(name)

    def verify(self):
        yield from super().verify()
        for graph in self.graphs:
            yield from graph.verify()


class NpzSource(Source):
    kind = "npz"

    def __init__(self, path):
        super().__init__()
        try:
            self._file = zipfile.ZipFile(path)
            self._dtypes = json.loads(str(self._array(NPZ_DTYPES))) if self._has(NPZ_DTYPES) else {}
            for name in self._file.namelist():
                key = name.removesuffix(".npy")
                if key != NPZ_DTYPES:
                    self.entries[key] = self._entry(key)
        except (zipfile.BadZipFile, ValueError, OSError, EOFError, AttributeError) as error:
            raise DamageError(f"{path} cannot be read: {error}") from None

    def _has(self, key):
        return f"{key}.npy" in self._file.namelist()

    def _entry(self, key):
        with self._file.open(f"{key}.npy") as file:
            version = np.lib.format.read_magic(file)
            reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            dims, _, kind = reader(file)
        if kind.kind in "SU":
            return Entry(dtypes.string, dims)
        try:
            dtype = dtypes.as_dtype(None if kind.hasobject else self._dtypes.get(key, kind.newbyteorder("=")))
        except TypeError:
            raise ValueError(f"{key} is of the type {kind}, which tensors cannot have") from None
        return Entry(dtype, dims)

    def _array(self, key):
        with self._file.open(f"{key}.npy") as file:
            return np.lib.format.read_array(file, allow_pickle=False)

    def read(self, name):
        try:
            value = self._array(name)
        except (zipfile.BadZipFile, ValueError, OSError, EOFError) as error:
            raise DamageError(f"{name}: {error}") from None
        if self.entries[name].dtype is dtypes.string:
            value = (np.char.encode(value, "utf-8") if value.dtype.kind == "U" else value).astype(object)
            if self._dtypes.get(name) == DOTTED:
                value = np.array([item[:-1] for item in value.ravel()], object).reshape(value.shape)
            return value
        kind = np.dtype(self.entries[name].dtype.as_numpy_dtype)
        return value.view(kind) if name in self._dtypes else value.astype(kind, copy=False)


def safetensors():
    """The library. Raises InputError if it is not installed."""
    try:
        import safetensors.numpy
    except ImportError:
        raise InputError(
            "Files .safetensors need the extra 'safetensors': pip install stillflow[safetensors]"
        ) from None
    return safetensors


class SafetensorsSource(Source):
    kind = "safetensors"

    def __init__(self, path):
        super().__init__()
        library = safetensors()
        try:
            self._file: Any = library.safe_open(path, "np")
            for name in sorted(self._file.keys()):
                part = self._file.get_slice(name)
                self.entries[name] = Entry(_safetensors_dtype(name, part.get_dtype()), tuple(part.get_shape()))
        except (library.SafetensorError, OSError) as error:
            raise DamageError(f"{path} cannot be read: {error}") from None

    def read(self, name):
        return np.asarray(self._file.get_tensor(name))


_SAFETENSORS_DTYPES = {
    "F64": dtypes.float64, "F32": dtypes.float32, "F16": dtypes.float16, "BF16": dtypes.bfloat16,
    "I64": dtypes.int64, "I32": dtypes.int32, "I16": dtypes.int16, "I8": dtypes.int8, "U64": dtypes.uint64,
    "U32": dtypes.uint32, "U16": dtypes.uint16, "U8": dtypes.uint8, "BOOL": dtypes.bool_, "C64": dtypes.complex64,
}  # fmt: skip


def _safetensors_dtype(name, text):
    if text not in _SAFETENSORS_DTYPES:
        raise InputError(f"{name} is of the type {text}, which tensors cannot have.")
    return _SAFETENSORS_DTYPES[text]


# ---- Finding what a path means ------------------------------------------------------------------------------------


def text_of_dims(dims):
    return "unknown" if dims is None else f"[{', '.join('?' if size is None else str(size) for size in dims)}]"


def _dims_of(proto):
    shape = TensorShape(proto)
    return None if shape.rank is None else tuple(shape.as_list())


def open_source(path) -> Source:
    """What is at a path.

    Raises:
      InputError: if there is nothing, or nothing of the known kinds.
      DamageError: if it cannot be read.
    """
    path = filesystem.path_text(path)
    if os.path.isdir(path):
        return _open_folder(path)
    folder, name = os.path.split(path)
    if os.path.isfile(path):
        if name in (saved_model_names.SAVED_MODEL_FILENAME_PB, saved_model_names.SAVED_MODEL_FILENAME_PBTXT):
            return SavedModelSource(folder or ".")
        if name.endswith((".meta", ".pb", ".pbtxt")):
            return _open_meta_graph(path)
        if name.endswith(".npz"):
            return NpzSource(path)
        if name.endswith(".safetensors"):
            return SafetensorsSource(path)
        if name.endswith(".index"):
            return CheckpointSource(path.removesuffix(".index"))
        prefix, is_data, _ = path.rpartition(".data-")
        if is_data:
            return CheckpointSource(prefix)
    return CheckpointSource(path)


def _open_folder(path):
    if maybe_saved_model_directory(path):
        return SavedModelSource(path)
    try:
        state = checkpoint_state.get_checkpoint_state(path)
    except (ValueError, errors.OpError):
        state = None
    if state is None:
        raise InputError(f"The folder {path} has neither a SavedModel nor a file that names its newest checkpoint.")
    return CheckpointSource(state.model_checkpoint_path)


def _open_meta_graph(path):
    try:
        meta_graph = read_meta_graph_file(path)
    except (OSError, UnicodeDecodeError, errors.OpError) as error:
        raise DamageError(f"{path} is no MetaGraph, or is damaged: {error}") from None
    if not meta_graph.graph_def.node and path.endswith((".pb", ".pbtxt")):
        raise InputError(f"{path} is no MetaGraph: it has no nodes.")
    return MetaGraphSource(meta_graph)


def node_text(node):
    """A node as text."""
    from google.protobuf import text_format

    return text_format.MessageToString(node, descriptor_pool=protobuf.pool())
