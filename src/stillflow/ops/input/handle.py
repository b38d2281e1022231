"""Handles of resources, which TensorFlow has in two versions: references to two strings, and resources."""

from __future__ import annotations

from stillflow.graph import dtypes

_TYPES = {1: "Ref(string)", 2: "resource"}
HANDLES = {1: "'ref'", 2: "'resource'"}  # as kernels that make them have it


def versions(define):
    """What `define(handle type, suffix of the op, version)` makes of the second version and of the first."""
    return define(_TYPES[2], "V2", 2), define(_TYPES[1], "", 1)


def shape_of_handle(context):
    """The rule of ops that make a handle."""
    is_resource = context.op_def.outputs[0].dtype is dtypes.resource
    return () if is_resource else (2,)
