"""tf.raw_ops: each op as a function that adds a node, and nothing else. Arguments go by name."""

from __future__ import annotations

import functools

from stillflow import ops
from stillflow.graph import op_def as op_defs
from stillflow.names import public_module
from stillflow.ops import build

public_module("raw_ops")

# Ops that TensorFlow does not offer here: they refer to variables or are made by Python functions.
_HIDDEN = frozenset(("PyFunc", "PyFuncStateless"))


@functools.cache
def function(op_type):
    """The function that adds a node of an op. Raises KeyError for an op that there is not."""
    op_def = op_defs.find(op_type)
    if op_def is None:
        raise KeyError(op_type)
    return build.function_of(op_def)


@functools.cache
def _by_name(op_type):
    add = function(op_type)

    @functools.wraps(add)
    def by_name(**kwargs):
        return add(**kwargs)

    by_name.__name__ = op_type
    return by_name


def __getattr__(name):
    try:
        return _by_name(name)
    except KeyError:
        raise AttributeError(f"module 'stillflow.raw_ops' has no attribute {name!r}") from None


def __dir__():
    return ops.all_op_types()
