"""What nodes mean: each op's signature, shape rule and gradient, and the functions that build nodes.

A module is imported when one of its ops or builders is first asked for, here (`ops.matmul`) or by the type of a node
in an imported graph; so hundreds of ops cost nothing at start. Which module has what, tools/make_tables.py finds out
when the package is built.
"""

from __future__ import annotations

import importlib

from stillflow.graph import op_def as _op_def
from stillflow.ops.contents import BUILDERS as _BUILDERS
from stillflow.ops.contents import OPS as _OPS


def __getattr__(name):
    module = _BUILDERS.get(name)
    if module is None:
        raise AttributeError(f"module 'stillflow.ops' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"stillflow.ops.{module}"), name)
    return value


def _load(op_type):
    module = _OPS.get(op_type)
    if module is not None:
        importlib.import_module(f"stillflow.ops.{module}")


_op_def.set_loader(_load)


def all_op_types():
    """The types of all ops, in alphabetical order."""
    return sorted(_OPS)
