"""What programs take from tensorflow.python.framework.ops that has no public name."""

from __future__ import annotations

import abc
import itertools
import re

from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.platform.compat import as_text

_NUMBERS = itertools.count(1)


@public("python.framework.ops.uid")
def uid():
    """A number that no other call in this process returns."""
    return next(_NUMBERS)


@public("python.framework.ops.tensor_id")
def tensor_id(tensor):
    """A number of the tensor's own."""
    return id(tensor)


@public("python.framework.ops._as_graph_element")
def graph_element(obj):
    """The tensor or operation that an object, such as a variable, stands for in its graph; None for others."""
    convert = getattr(obj, "_as_graph_element", None)
    return convert() if convert else None


@public("python.framework.ops.inside_function")
def inside_function():
    """Whether the default graph is the body of a function."""
    return get_default_graph().building_function


@public("python.framework.ops.get_name_scope")
def get_name_scope():
    """The default graph's current name scope, "" for none."""
    return get_default_graph().get_name_scope()


@public("python.framework.ops.get_all_collection_keys")
def get_all_collection_keys():
    """The names of the collections of the default graph that have items."""
    return get_default_graph().get_all_collection_keys()


@public("python.framework.ops.name_from_scope_name")
def name_from_scope_name(name):
    """The name of an operation of a scope: the scope's without the slash at its end."""
    return name[:-1] if name.endswith("/") else name


def _replaced(name, pattern, replacement):
    """What is no string comes back as it is."""
    try:
        return re.sub(pattern, replacement, as_text(name), count=1)
    except TypeError:
        return name


@public("contrib.framework.prepend_name_scope", "python.framework.ops.prepend_name_scope")
def prepend_name_scope(name, import_scope):
    """A name as it is in a graph that was imported into a scope; "^" and "loc:@" stay in front."""
    if not import_scope:
        return name
    return _replaced(name, r"([\^]|loc:@|^)(.*)", rf"\1{import_scope.removesuffix('/')}/\2")


@public("contrib.framework.strip_name_scope", "python.framework.ops.strip_name_scope")
def strip_name_scope(name, export_scope):
    """A name without the scope in front of it, if it is there; "^" and "loc:@" stay in front."""
    if not export_scope:
        return name
    return _replaced(name, rf"([\^]|loc:@|^){re.escape(export_scope.removesuffix('/'))}[\/]+(.*)", r"\1\2")


@public("python.framework.ops._TensorLike", "python.framework.tensor_like._TensorLike")
class TensorLike(abc.ABC):  # noqa: B024  others are registered
    """What tensors, sparse tensors and slices are instances of. Variables are not."""


TensorLike.register(Tensor)
TensorLike.register(IndexedSlices)

_DENSE: list[type] = []  # of programs' own


@public("python.framework.ops.register_dense_tensor_like_type")
def register_dense_tensor_like_type(tensor_type):
    """Says that objects of a class, which have properties `name` and `dtype`, are as good as tensors.

    Raises TypeError if it does not have them.
    """
    for name in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, name, None), property):
            raise TypeError(f"Type {tensor_type.__name__} does not define a `{name}` property")
    _DENSE.append(tensor_type)


@public("python.framework.ops.is_dense_tensor_like")
def is_dense_tensor_like(t):
    """Whether something is a tensor, a variable, or of a class that is registered as such."""
    return isinstance(t, Tensor) or hasattr(type(t), "_as_graph_element") or isinstance(t, tuple(_DENSE))
