"""`stillflow ckpt convert`: tensors from one kind of file to another, under other names if wanted."""

from __future__ import annotations

import json
import os
import re
import uuid
import zipfile

import numpy as np

from stillflow import _engine, errors
from stillflow.files import filesystem
from stillflow.formats import protobuf
from stillflow.graph import dtypes
from stillflow.inspection import hugging_face
from stillflow.inspection.sources import (
    DOTTED,
    NPZ_DTYPES,
    DamageError,
    InputError,
    MetaGraphSource,
    Source,
    safetensors,
)
from stillflow.saver.checkpoint_reader import RESERVED_PREFIX
from stillflow.saver.objects.object_graph import OBJECT_GRAPH_KEY

# Types under which .npz files keep those that numpy does not know by itself.
_NPZ_KINDS = {dtypes.bfloat16: np.uint16}


def convert(source: Source, target, renames, overwrites, model=None):
    """Writes all tensors of `source` to `target`; yields what there is to tell.

    `model`, one of hugging_face.MODELS, gives the tensors of such a model the names and forms that they have there.

    Raises:
      InputError: for names that collide, types that the target cannot hold, and a target that is there already.
      DamageError: if a tensor cannot be read.
      tf.errors.OpError: if the target cannot be written.
    """
    if isinstance(source, MetaGraphSource):
        raise InputError("A MetaGraph has no values to convert: name its checkpoint.")
    target = filesystem.path_text(target)
    if model is not None and not target.endswith(".safetensors"):
        raise InputError(f"The names of {model} are for files .safetensors.")
    names = _renamed(source, renames)
    is_npz, is_safetensors = target.endswith(".npz"), target.endswith(".safetensors")
    written = target if is_npz or is_safetensors else f"{target}.index"
    if os.path.exists(written) and not overwrites:
        raise InputError(f"{written} is there already; --overwrite writes over it.")
    folder = os.path.dirname(target)
    if folder and not os.path.isdir(folder):
        raise InputError(f"There is no folder {folder}.")
    if is_npz:
        yield from _write_npz(source, names, target)
    elif is_safetensors:
        yield from _write_safetensors(source, names, target, model)
    else:
        yield from _write_checkpoint(source, names, target)


def _renamed(source, renames):
    """{name in the source: name in the target}."""
    patterns = []
    for pattern, replacement in renames:
        try:
            patterns.append((re.compile(pattern), replacement))
        except re.error as error:
            raise InputError(f"The pattern {pattern!r} is no regular expression: {error}.") from None
    names: dict = {}
    taken: dict = {}
    for name in source.entries:
        names[name] = _substituted(name, patterns)
        if not names[name]:
            raise InputError(f"{name} would have no name left.")
        if names[name] in taken:
            raise InputError(f"{taken[names[name]]} and {name} would both be called {names[name]}.")
        taken[names[name]] = name
    return names


def _substituted(name, patterns):
    if name == OBJECT_GRAPH_KEY or name.startswith(RESERVED_PREFIX):
        return name
    for pattern, replacement in patterns:
        try:
            name = pattern.sub(replacement, name)
        except (re.error, IndexError) as error:
            raise InputError(f"The replacement {replacement!r} does not fit its pattern: {error}.") from None
    return name


def _value(source, name, names):
    """The value of a tensor, in which keys are the new ones if it is about keys."""
    value = source.read(name)
    if name != OBJECT_GRAPH_KEY or all(old == new for old, new in names.items()):
        return value
    from google.protobuf.message import DecodeError

    try:
        graph = protobuf.message("TrackableObjectGraph").FromString(value.item())
    except (DecodeError, TypeError, ValueError) as error:
        raise DamageError(f"{name}: {error}") from None
    for node in graph.nodes:
        for attribute in node.attributes:
            attribute.checkpoint_key = names.get(attribute.checkpoint_key, attribute.checkpoint_key)
    return np.array(protobuf.to_bytes(graph), object)


# ---- Checkpoints --------------------------------------------------------------------------------------------------


def _write_checkpoint(source, names, target):
    try:
        writer = _engine.CheckpointWriter(os.fsencode(target))
        for old, new in sorted(names.items(), key=lambda item: item[1]):
            value = np.asarray(_value(source, old, names), order="C")
            number = source.entries[old].dtype.as_datatype_enum
            writer.add(new.encode("utf-8", "surrogateescape"), value, number)
        writer.finish()
    except _engine.EngineError as error:
        raise errors.make(error.code, error.message, None) from None
    yield f"{target}: a checkpoint of {len(names)} tensors"


# ---- npz ----------------------------------------------------------------------------------------------------------


def _write_npz(source, names, target):
    temporary = f"{target}.tmp{uuid.uuid4().hex}"
    kinds = {}
    with filesystem.typed_errors(target):
        try:
            with zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
                for old, new in names.items():
                    value, kind = _for_npz(source.entries[old].dtype, _value(source, old, names))
                    _write_array(archive, new, value)
                    if kind:
                        kinds[new] = kind
                if kinds:
                    _write_array(archive, NPZ_DTYPES, np.array(json.dumps(kinds)))
            os.replace(temporary, target)
        finally:
            if os.path.exists(temporary):
                os.unlink(temporary)
    yield f"{target}: {len(names)} arrays"
    if kinds:
        yield f"{NPZ_DTYPES} says which of them are of types that numpy does not store"


def _for_npz(dtype, value):
    """A value as numpy can store it, and what to note about it, if anything."""
    if dtype is dtypes.string:
        kind = None
        if any(item.endswith(b"\0") for item in value.ravel()):  # which numpy drops
            kind = DOTTED
            value = np.array([item + b"." for item in value.ravel()], object).reshape(value.shape)
        longest = max((len(item) for item in value.ravel()), default=0)
        return value.astype(f"S{max(longest, 1)}"), kind
    value = value.view(_NPZ_KINDS[dtype]) if dtype in _NPZ_KINDS else value
    return value, None if dtypes.as_dtype(value.dtype) is dtype else dtype.name


def _write_array(archive, name, value):
    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
        np.lib.format.write_array(file, np.asanyarray(value, order="C"), allow_pickle=False)


# ---- safetensors --------------------------------------------------------------------------------------------------


def _write_safetensors(source, names, target, model):
    library = safetensors()
    found = {}
    left_out = []
    for old, new in names.items():
        dtype = source.entries[old].dtype
        if old == OBJECT_GRAPH_KEY or old.startswith(RESERVED_PREFIX):
            left_out.append(old)
            continue
        if dtype in (dtypes.string, dtypes.complex128) or dtype.is_quantized:
            raise InputError(f"{old} is of the type {dtype.name}, which .safetensors cannot hold.")
        place = hugging_face.Place(new) if model is None else hugging_face.place_of(model, new)
        if place is None:
            left_out.append(old)
        else:
            found[place.name] = _placed(source.read(old), old, place)
    if not found and model is not None:
        raise InputError(f"There is no tensor of {model} in it.")
    try:
        data = library.numpy.save(found)
    except library.SafetensorError as error:
        raise InputError(f"{target} cannot be written: {error}") from None
    with filesystem.typed_errors(target):
        filesystem.write_atomically(target, data)
    yield f"{target}: {len(found)} tensors"
    for name in left_out:
        yield f"left out, because it is no tensor of a model: {name}"


def _placed(value, name, place):
    value = np.asarray(value)
    if place.is_squeezed:
        if value.ndim != 3 or value.shape[0] != 1:
            raise InputError(f"{name} has the shape {value.shape}, not [1, in, out].")
        value = value[0]
    return np.asarray(value.T if place.is_transposed else value, order="C")
