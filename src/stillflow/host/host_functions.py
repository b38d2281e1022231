"""What the engine leaves to Python: files, images by libraries, and formats that no loop depends on.

Each function takes a kernel's inputs, then its attributes as scalars, and returns the output or None.
"""

from __future__ import annotations

import zlib

import numpy as np

from stillflow import errors
from stillflow.files.filesystem import system_of, typed_errors
from stillflow.graph.shape_inference import dims_text


def find(name: str):
    """The function of that name. KeyError if there is none."""
    function = _FUNCTIONS.get(name)
    if function is None and name in _OF_VOCABULARIES:
        from stillflow.host import vocabulary_remapping

        return getattr(vocabulary_remapping, name)
    if function is None:
        from stillflow.host import image_files

        return image_files.FUNCTIONS[name]
    return function


def _invalid(message):
    return errors.make(errors.INVALID_ARGUMENT, message)


def _text(data):
    return data.decode("utf-8", "backslashreplace")


def map_strings(function, strings):
    """An array of function(bytes), or the bytes of a scalar's."""
    array = np.asarray(strings, object)
    result = np.empty(array.shape, object)
    for index, item in np.ndenumerate(array):
        result[index] = function(item)
    return result


# ---- Files --------------------------------------------------------------------------------------------------------


def _path(name):
    """A path as strings have it in Python. Raises InvalidArgumentError for one with a zero in it."""
    if b"\0" in name:
        raise _invalid(f"{_text(name)!r}; embedded null byte")
    return name.decode("utf-8", "surrogateescape")


def _check_scalar(name, value):
    if not isinstance(value, bytes):
        raise _invalid(f"Input {name} tensor must be scalar, but had shape: {dims_text(value.shape)}")


def read_file(filename):
    _check_scalar("filename", filename)
    path = _path(filename)
    with typed_errors(path):
        files, name = system_of(path)
        with files.open(name, "rb") as file:
            return file.read()


def write_file(filename, contents):
    _check_scalar("filename", filename)
    _check_scalar("contents", contents)
    path = _path(filename)
    with typed_errors(path):
        files, name = system_of(path)
        folder = name.rpartition("/")[0]
        if folder and not files.exists(folder):
            files.make_dirs(folder)
        with files.open(name, "wb") as file:
            file.write(contents)


def matching_files(patterns):
    found = set()
    patterns = np.asarray(patterns, object)
    if patterns.ndim > 1:
        shape = dims_text(patterns.shape)
        raise _invalid(f"Input patterns tensor must be scalar or vector, but had shape: {shape}")
    for pattern in patterns.ravel():
        if b"\0" in pattern:  # which no name has
            continue
        path = _path(pattern)
        with typed_errors(path.rpartition("/")[0]):
            files, name = system_of(path)
            found.update(files.glob(name))
    names = sorted(name.encode("utf-8", "surrogateescape") for name in found)
    return np.array(names, object)


# ---- Formats ------------------------------------------------------------------------------------------------------


def decode_json_example(json_examples):
    from google.protobuf import json_format

    from stillflow.formats import protobuf

    example = protobuf.message("Example")

    def decode(text):
        try:
            return protobuf.to_bytes(json_format.Parse(text, example()))
        except (json_format.ParseError, ValueError) as error:
            raise _invalid(f"Error while parsing JSON: {error}") from None

    return map_strings(decode, json_examples)


def parse_tensor(serialized, dtype):
    from google.protobuf.message import DecodeError

    from stillflow.formats import protobuf
    from stillflow.graph import dtypes, tensor_proto

    try:
        value = tensor_proto.from_message(protobuf.message("TensorProto").FromString(serialized))
    except (DecodeError, ValueError, TypeError) as error:
        raise _invalid(f"Cannot parse tensor from proto: {error}") from None
    wanted = dtypes.as_dtype(int(dtype))
    if value.dtype is not wanted:
        raise _invalid(f"Type mismatch between parsed tensor ({value.dtype.name}) and dtype ({wanted.name})")
    # A message may stand for more elements than it has bytes.
    if value.element_count > max(1 << 24, 64 * len(serialized)):
        raise _invalid(f"Cannot parse tensor from proto: {value.element_count} elements")
    return value.array()


def decode_compressed(data, kind):
    bits = {b"ZLIB": zlib.MAX_WBITS, b"GZIP": zlib.MAX_WBITS + 16, b"": None}.get(kind, -1)
    if bits == -1:
        raise _invalid("Only ZLIB, GZIP or NONE are supported compressions")

    def decode(item):
        if bits is None or not item:
            return item
        try:
            return zlib.decompressobj(bits).decompress(item)
        except zlib.error as error:
            raise errors.make(errors.DATA_LOSS, f"inflate() failed: {error}") from None

    return map_strings(decode, data)


# ---- Letters ------------------------------------------------------------------------------------------------------


def _change_case(strings, encoding, change):
    if encoding != b"utf-8":
        raise _invalid(f"only utf-8 or '' (no encoding) is supported, received {_text(encoding)}")
    return map_strings(lambda item: change(item.decode("utf-8", "replace")).encode(), strings)


def string_lower(strings, encoding):
    return _change_case(strings, encoding, str.lower)


def string_upper(strings, encoding):
    return _change_case(strings, encoding, str.upper)


_OF_VOCABULARIES = frozenset(("generate_vocab_remapping", "load_and_remap_matrix"))
_FUNCTIONS = {
    function.__name__: function
    for function in (
        read_file,
        write_file,
        matching_files,
        decode_json_example,
        parse_tensor,
        decode_compressed,
        string_lower,
        string_upper,
    )
}
