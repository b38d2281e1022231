"""Assets: files that belong to a model, copied into its SavedModel under names of their own."""

from __future__ import annotations

import filecmp
import logging
import os
import shutil

from stillflow.files import filesystem
from stillflow.graph import dtypes
from stillflow.graph.operation import Tensor
from stillflow.saver.saved_model import names

_log = logging.getLogger("tensorflow")


def path_of(tensor):
    if not isinstance(tensor, Tensor):
        raise TypeError("Asset path tensor must be a Tensor.")
    if tensor.op.type != "Const":
        raise TypeError("Asset path tensor must be of type constant.")
    if tensor.dtype != dtypes.string:
        raise TypeError("Asset path tensor must be of dtype string.")
    values = tensor.op.get_attr("value").string_val
    if len(values) != 1:
        raise TypeError("Asset path tensor must be a scalar.")
    if not values[0]:
        raise ValueError(f"Invalid asset filepath tensor {tensor}")
    return os.fsdecode(values[0])


def name_of(path, sources):
    """The file's name; with a number if another file of other content has it."""
    name = os.path.basename(path)
    if sources.get(name, path) == path or _is_same_file(path, sources[name]):
        return name
    number, unique = 1, name
    while unique in sources:
        unique = f"{name}_{number}"
        number += 1
    return unique


def _is_same_file(first, second):
    with filesystem.typed_errors(first):
        if filesystem.system_of(first)[0] is filesystem.LOCAL and filesystem.system_of(second)[0] is filesystem.LOCAL:
            return filecmp.cmp(first, second, shallow=False)
        return _content(first) == _content(second)


def _content(path):
    system, own = filesystem.system_of(path)
    with system.open(own, "rb") as file:
        return file.read()


def copy(source, target):
    with filesystem.typed_errors(source):
        system, path = filesystem.system_of(target)
        if system.exists(path):
            return
        from_system, from_path = filesystem.system_of(source)
        with from_system.open(from_path, "rb") as reader, system.open(path, "wb") as writer:
            shutil.copyfileobj(reader, writer)


def copy_all(sources, export_dir):
    """Copies files into the folder of a SavedModel's assets, which it makes: {name there: path}."""
    folder = names.assets_dir(export_dir)
    with filesystem.typed_errors(folder):
        system, path = filesystem.system_of(folder)
        system.make_dirs(path)
    for name, source in sources.items():
        copy(source, names.asset_path(export_dir, name))
    _log.info("Assets written to: %s", folder)
