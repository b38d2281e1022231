"""tf.load_op_library, tf.load_library: shared libraries, loaded into the process."""

from __future__ import annotations

import types
from pathlib import Path

from stillflow import errors
from stillflow.names import public

_modules: dict[str, types.ModuleType] = {}


def _load(path):
    import ctypes

    try:
        # What a library registers when it is loaded needs the names of others that were loaded before.
        return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise errors.make(errors.NOT_FOUND, str(error)) from None


@public("load_op_library")
def load_op_library(library_filename):
    """Loads a shared library.

    Ops that a library registers with TensorFlow's C++ runtime need that runtime, which is not here: such a library
    cannot be loaded, and the error says what it misses.

    Returns:
      A module with the library's handle, and with OP_LIST, which is empty.

    Raises:
      tf.errors.NotFoundError: if the library, or what it needs, cannot be loaded.
      TypeError: for what is no path.
    """
    if not isinstance(library_filename, str):
        raise TypeError(f"Expected a string, got {library_filename!r}")
    library = _load(library_filename or None)
    found = _modules.get(library_filename)
    if found is None:
        from stillflow.formats import protobuf

        found = _modules[library_filename] = types.ModuleType(Path(library_filename).stem)
        found.LIB_HANDLE = library  # type: ignore[attr-defined]
        found.OP_LIST = protobuf.message("OpList")()  # type: ignore[attr-defined]
    return found


@public("load_library")
def load_library(library_location):
    """Loads a shared library, or all `.so` files of a directory.

    Raises:
      OSError: if there is no such file or directory.
      tf.errors.NotFoundError: if a library, or what it needs, cannot be loaded.
    """
    place = Path(library_location)
    if not place.exists():
        message = "The file or folder to load kernel libraries from does not exist."
        raise FileNotFoundError(2, message, library_location)
    for path in sorted(place.glob("*.so")) if place.is_dir() else [place]:
        _load(str(path))


@public("load_file_system_library")
def load_file_system_library(library_filename):
    """Loads a shared library that is to serve paths.

    Such libraries register with TensorFlow's C++ runtime, which is not here: what needs it cannot be loaded. Paths of
    other systems are read through the package fsspec, without a library.

    Raises tf.errors.NotFoundError if the library, or what it needs, cannot be loaded.
    """
    _load(library_filename)
