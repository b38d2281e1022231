"""A traced function's arguments: placeholders, specifications, and keys that tell calls apart."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes, nest
from stillflow.graph.nest_paths import map_structure_with_tuple_paths
from stillflow.graph.operation import Tensor
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.graph.type_spec import TypeSpec, spec_of
from stillflow.names import public
from stillflow.platform.compat import as_bytes
from stillflow.variables.resource_variable import is_resource_variable


class UnknownArgument:
    """Stands in signatures for an argument that is neither a tensor nor a plain value."""


def variable_of(handle):
    """The variable that a handle belongs to, or None."""
    reference = getattr(handle, "_variable", None)
    return None if reference is None else reference()


# ---- Placeholders ---------------------------------------------------------------------------------------------


def placeholders_for(graph, args, kwargs, names=None, flat_shapes=None):
    """The arguments with placeholders of `graph` for tensors and specifications; variables are captured.

    Args:
      names: names of `args`; those of `kwargs` are their keys.
      flat_shapes: shapes for all flattened arguments, None for what is no tensor.

    Raises:
      ValueError: if some specifications of an argument have names, and others do not.
      RuntimeError: for more or fewer shapes than arguments.
    """
    if flat_shapes is None:
        shapes = itertools.repeat(None)
    else:
        count = len(nest.flatten((args, kwargs), True))
        if count != len(flat_shapes):
            raise RuntimeError(
                f"Length of fully flat shapes ({len(flat_shapes)}) must match that of flatten(args) "
                f"({count}).  args: "
                f"{args}, flat_shapes: {flat_shapes}"
            )
        shapes = iter(flat_shapes)
    names = [None] * len(args) if names is None else names
    positional = [_placeholders(graph, arg, name, shapes) for arg, name in zip(args, names, strict=False)]
    named = {key: _placeholders(graph, kwargs[key], key, shapes) for key in sorted(kwargs)}
    return positional, named


def _placeholders(graph, structure, name, shapes):
    leaves = [part for leaf in nest.flatten(structure, True) for part in _flat_specs(leaf)]
    specs = [leaf for leaf in leaves if isinstance(leaf, TensorSpec)]
    specified = [spec.name for spec in specs if spec.name]
    if specified and len(specified) < len(specs):
        raise ValueError(
            "If specifying TensorSpec names for nested structures, either zero or all names have to be specified."
        )
    found = iter([_placeholder(graph, leaf, name, next(shapes)) for leaf in leaves])
    values = [_from_parts(leaf, found) for leaf in nest.flatten(structure, True)]
    return nest.pack_sequence_as(structure, values, True)


def _is_composite(leaf):
    return isinstance(leaf, TypeSpec) and not isinstance(leaf, TensorSpec)


def _flat_specs(leaf: Any):
    return leaf._flat_tensor_specs if _is_composite(leaf) else [leaf]


def _from_parts(leaf: Any, found):
    return leaf._from_tensor_list([next(found) for _ in _flat_specs(leaf)]) if _is_composite(leaf) else next(found)


def _placeholder(graph, leaf, name, shape):
    if isinstance(leaf, (Tensor, TensorSpec)):
        requested = (isinstance(leaf, TensorSpec) and leaf.name) or name
        shape = leaf.shape if shape is None else shape
        try:
            placeholder = ops.placeholder(leaf.dtype.base_dtype, shape, name=requested or "placeholder")
        except ValueError:  # the name cannot be one of a node
            placeholder = ops.placeholder(leaf.dtype.base_dtype, shape, name="placeholder")
        if name is not None:
            placeholder.op._attrs["_user_specified_name"] = as_bytes(requested)
        return placeholder
    if is_resource_variable(leaf):
        inside = graph.capture(leaf.handle)
        if name is not None:
            inside.op._attrs["_user_specified_name"] = as_bytes(name)
        return leaf
    if shape is not None:
        raise RuntimeError(
            "Expected provided shape override to be None for arg that isn't a Tensor, but saw arg: "
            f"'{leaf}', shape: '{shape}'."
        )
    return leaf


# ---- Specifications -------------------------------------------------------------------------------------------


def signature_of(args, kwargs, names=None):
    """(args, kwargs) with a TensorSpec for each tensor, and UnknownArgument for what has no plain value."""
    return convert_structure_to_signature(tuple(args), names), convert_structure_to_signature(dict(kwargs))


@public("python.framework.func_graph.convert_structure_to_signature")
def convert_structure_to_signature(structure, arg_names=None):
    """A structure with specifications for tensors and composite tensors, and UnknownArgument for other objects.

    Args:
      structure: numbers, None, types and specifications stay what they are.
      arg_names: names for the items of a list or tuple. Specifications have the names that tensors were given, or
        are named after the path to them: "x/0".

    Raises ValueError for more or fewer names than items.
    """
    if arg_names and len(arg_names) != len(structure):
        raise ValueError(f"Passed in arg_names don't match actual signature ({arg_names}).")

    def spec(path, leaf):
        if arg_names:
            path = (arg_names[path[0]], *path[1:])
        if isinstance(leaf, Tensor):
            given = leaf.op._attrs.get("_user_specified_name")
            is_other = given is not None and path and given.decode() != path[0]
            name = given.decode() if is_other else "/".join(map(str, path))  # type: ignore[union-attr]
            return TensorSpec(leaf.shape, leaf.dtype, name)
        if leaf is None or isinstance(leaf, (int, float, dtypes.DType, TypeSpec)):
            return leaf
        return spec_of(leaf) or UnknownArgument()

    return map_structure_with_tuple_paths(spec, structure)


# ---- Keys -----------------------------------------------------------------------------------------------------


def key_of(value, ranks_only=False):
    """What arguments of a kind have in common, such that one trace is good for all of them."""
    if isinstance(value, (Tensor, TensorSpec)):
        shape = value.shape
        dims = shape.rank if ranks_only else shape._dims
        name = value.name if isinstance(value, TensorSpec) else None
        return "tensor", value.dtype.base_dtype, dims, name
    if is_resource_variable(value):
        return "variable", weakref.ref(value.handle._op), value.shape._dims
    if isinstance(value, TypeSpec):
        return "spec", value
    if isinstance(value, dict):
        return type(value), tuple((key, key_of(value[key], ranks_only)) for key in nest._sorted_keys(value))
    if isinstance(value, (list, tuple)):
        return type(value), tuple(key_of(item, ranks_only) for item in value)
    parts = nest.components(value)
    if len(parts) != 1 or parts[0] is not value:
        return type(value), tuple(key_of(part, ranks_only) for part in parts)
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        return type(value), repr(value) if isinstance(value, float) else value
    try:
        return "object", type(value), weakref.ref(value)
    except TypeError:
        return "object", type(value), value


def flat_shapes(args, kwargs):
    """The shapes of the tensors among flattened arguments, None for others."""
    leaves = nest.flatten((args, kwargs), True)
    return [leaf.shape if isinstance(leaf, (Tensor, TensorSpec)) else None for leaf in leaves]
