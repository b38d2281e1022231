"""TensorFlow's inner modules, tensorflow.python.ops.array_ops and its kin, which programs import names from.

Where TensorFlow 1.15.5 keeps its public names was recorded once (tools/record_locations.py); what is not public there
but imported all the same has a mark with a name that begins with "python.".
"""

from __future__ import annotations

import functools
import importlib
import json
from pathlib import Path

# Modules that have the names of others: those of before 1.0, one of 1.0 and 1.1, and a few of today.
_RENAMED = {
    "contrib.data.python.ops.threadpool": "python.data.experimental.ops.threadpool",
    "contrib.rnn.python.ops.core_rnn_cell_impl": "contrib.rnn.python.ops.core_rnn_cell",
    "models.rnn.linear": "nn.rnn_cell", "models.rnn.rnn": "nn", "models.rnn.rnn_cell": "nn.rnn_cell",
    "models.rnn.seq2seq": "nn.seq2seq", "python.ops.rnn_cell": "nn.rnn_cell", "python.ops.seq2seq": "nn.seq2seq",
    "python.training.checkpoint_state_pb2": "train", "pywrap_tensorflow": "python.pywrap_tensorflow",
}  # fmt: skip

# Modules that import those of a package under names that end with _v2.
_SECOND_VERSIONS = {"python.keras.optimizers": "python.keras.optimizer_v2"}

# The packages of python whose modules most others import.
_WIDELY_IMPORTED = ("framework", "ops", "util", "platform", "eager", "training")


def _is_inner(name: str) -> bool:
    return name.startswith(("python", "core", "models", "pywrap_tensorflow")) or ".python" in name


@functools.cache
def _locations() -> dict[str, dict[str, str]]:
    """{module: {attribute: public name}}."""
    return json.loads((Path(__file__).parent / "locations.json").read_text())


@functools.cache
def _modules() -> frozenset[str]:
    found: set[str] = set()
    for name in [*_locations(), *_RENAMED]:
        parts = name.split(".")
        found.update(".".join(parts[:i]) for i in range(1, len(parts) + 1))
    return frozenset(found)


def is_module(name: str) -> bool:
    """Whether TensorFlow has an inner module of that name with public names in it, or a package of such modules."""
    return _is_inner(name) and name in _modules()


def members(module: str) -> dict[str, str]:
    """{attribute: public name} of an inner module of TensorFlow's, also of what is not here."""
    return _locations().get(module, {}) if _is_inner(module) else {}


def names(module: str, is_public) -> list[str]:
    """What an inner module of TensorFlow's has, of what is here; `is_public` says whether there is a public name."""
    return [name for name, public in members(module).items() if _is_here(name, public, is_public)]


def _is_here(name, public, is_public):
    if public.startswith("raw_ops."):
        return public.partition(".")[2] in importlib.import_module("stillflow.ops").all_op_types()
    if public != "pb2":
        return is_public(public)
    try:
        importlib.import_module("stillflow.formats.pb2").find(name)
    except KeyError:
        return False
    return True


def imported(module: str, name: str) -> str | None:
    """The inner module that another one has imported under a name, `rnn_cell_impl` of python.ops.rnn: one of the same
    package, or of those that most modules import from. None if there is none."""
    if not _is_inner(module) or module not in _locations():
        return None
    if module in _SECOND_VERSIONS and name.endswith("_v2"):
        return f"{_SECOND_VERSIONS[module]}.{name.removesuffix('_v2')}"
    packages = (module.rpartition(".")[0], *(f"python.{package}" for package in _WIDELY_IMPORTED))
    return next((f"{package}.{name}" for package in packages if f"{package}.{name}" in _modules()), None)


def find(module: str, name: str, find_public):
    """What an inner module has under a name. Raises KeyError if it is not known, or not here."""
    public = members(module).get(name)
    if public is None and module in _RENAMED:
        other = _RENAMED[module]
        return find(other, name, find_public) if name in members(other) else find_public(f"{other}.{name}")
    if public is None:
        raise KeyError(name)
    if public == "pb2":
        return importlib.import_module("stillflow.formats.pb2").find(name)
    if public.startswith("raw_ops."):
        return importlib.import_module("stillflow.ops.raw_ops").function(public.partition(".")[2])
    return find_public(public)
