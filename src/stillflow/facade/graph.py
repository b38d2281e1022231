"""tf.*: graphs, sessions, scopes, collections, placeholders."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.autodiff.custom_gradient import custom_gradient
from stillflow.autodiff.reverse import (
    AggregationMethod,
    RegisterGradient,
    UnconnectedGradients,
    gradients,
    no_gradient,
)
from stillflow.autodiff.second_derivatives import hessians
from stillflow.composites.py_func import py_func
from stillflow.errors import OpError
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph, require_graph, reset_default_graph
from stillflow.graph.device_spec import DeviceSpec
from stillflow.graph.dtypes import DType, as_dtype
from stillflow.graph.graph import Graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.name_scope import init_scope, name_scope
from stillflow.graph.operation import Operation, Tensor
from stillflow.graph.scopes import get_default_session
from stillflow.graph.shape import Dimension, TensorShape
from stillflow.graph.shape_inference import constant_value
from stillflow.graph.tensor_value import make_tensor_value
from stillflow.importer.import_graph_def import import_graph_def
from stillflow.ops import convert
from stillflow.ops.control_flow.dependencies import group, tuple_of, with_dependencies
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.random.seeds import get_seed, set_random_seed
from stillflow.session.session import InteractiveSession, Session
from stillflow.variables.template import make_template

NoGradient = NotDifferentiable = no_gradient

# The versions of GraphDefs that are written, and the oldest that can be read.
GRAPH_DEF_VERSION = 134
GRAPH_DEF_VERSION_MIN_CONSUMER = GRAPH_DEF_VERSION_MIN_PRODUCER = 0

__all__ = [
    "GRAPH_DEF_VERSION",
    "GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER",
    "AggregationMethod",
    "DType",
    "DeviceSpec",
    "Dimension",
    "Graph",
    "GraphKeys",
    "IndexedSlices",
    "InteractiveSession",
    "NoGradient",
    "NotDifferentiable",
    "OpError",
    "Operation",
    "RegisterGradient",
    "Session",
    "Tensor",
    "TensorShape",
    "UnconnectedGradients",
    "add_to_collection",
    "add_to_collections",
    "as_dtype",
    "colocate_with",
    "container",
    "control_dependencies",
    "convert_to_tensor",
    "convert_to_tensor_or_indexed_slices",
    "custom_gradient",
    "device",
    "dimension_at_index",
    "dimension_value",
    "get_collection",
    "get_collection_ref",
    "get_default_graph",
    "get_default_session",
    "get_seed",
    "get_static_value",
    "gradients",
    "group",
    "guarantee_const",
    "hessians",
    "identity",
    "import_graph_def",
    "init_scope",
    "is_tensor",
    "make_ndarray",
    "make_template",
    "make_tensor_proto",
    "name_scope",
    "no_gradient",
    "no_op",
    "numpy_function",
    "op_scope",
    "placeholder",
    "placeholder_with_default",
    "py_func",
    "register_tensor_conversion_function",
    "reset_default_graph",
    "set_random_seed",
    "stop_gradient",
    "tuple",
    "with_dependencies",
]


def placeholder(dtype, shape=None, name=None):
    """A tensor that every run that needs it must feed.

    Args:
      dtype: the type of the elements.
      shape: what shapes may be fed; None for any.

    Raises RuntimeError while operations are executed eagerly.
    """
    require_graph("tf.placeholder() is not compatible with eager execution.")
    return ops.placeholder(dtype=dtype, shape=TensorShape(shape), name=name)


def placeholder_with_default(input, shape, name=None):
    """A tensor that is `input` where a run does not feed it. `shape` says what may be fed."""
    return ops.placeholder_with_default(input, shape=TensorShape(shape), name=name)


def identity(input, name=None):
    """A tensor with the value of `input`."""
    return ops.identity(input, name=name)


def get_static_value(tensor, partial=False):
    """The tensor's value as a numpy array if it is known while the graph is built, else None.

    `partial`: whether of values that are stacked those that are not known may be None.
    """
    value = constant_value(tensor)
    if value is None and partial and tensor.op.type == "Pack":
        return np.array([get_static_value(part, partial=True) for part in tensor.op.inputs], object)
    return value


def guarantee_const(input, name=None):
    """A tensor with the value of `input`, of which it is promised that it never changes."""
    return ops.guarantee_const(input, name=name)


def stop_gradient(input, name=None):
    """A tensor with the value of `input` through which no gradient flows."""
    return ops.stop_gradient(input, name=name)


def no_op(name=None):
    """An operation that does nothing, for others to wait for."""
    return ops.no_op(name=name)


def tuple(tensors, name=None, control_inputs=None):
    """The tensors, each of them available only when all have been computed."""
    return tuple_of(tensors, control_inputs, name)


def convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None):
    """`value` as a tensor: a tensor, a variable, an array, a number, or nested lists of them."""
    return convert.convert_to_tensor(value, dtype, name, preferred_dtype, dtype_hint)


def convert_to_tensor_or_indexed_slices(value, dtype=None, name=None):
    """Like convert_to_tensor; IndexedSlices stay what they are."""
    return convert.convert_to_tensor_or_indexed_slices(value, dtype, name)


def register_tensor_conversion_function(base_type, conversion_func, priority=100):
    """Makes `conversion_func(value, dtype, name, as_ref)` convert values of `base_type` to tensors."""
    convert.register_conversion(base_type, conversion_func, priority)


def is_tensor(x):
    """Whether `x` is a tensor, SparseTensor, IndexedSlices or variable."""
    return isinstance(x, (Tensor, SparseTensor, IndexedSlices)) or hasattr(x, "_as_graph_element")


def op_scope(values, name, default_name=None):
    """The old argument order of name_scope."""
    return name_scope(name, default_name, values)


def device(device_name_or_function):
    """New nodes of the default graph carry this device where nothing inside says otherwise."""
    return get_default_graph().device(device_name_or_function)


def container(container_name):
    """New stateful nodes of the default graph keep their state under this name."""
    return get_default_graph().container(container_name)


def colocate_with(op, ignore_existing=False):
    """New nodes of the default graph are marked to be placed with `op`."""
    return get_default_graph().colocate_with(op, ignore_existing)


def control_dependencies(control_inputs):
    """New nodes of the default graph run after these operations or tensors; None forgets outer scopes."""
    return get_default_graph().control_dependencies(control_inputs)


def numpy_function(func, inp, Tout, name=None):  # noqa: N803
    """py_func for a function with state."""
    return py_func(func, inp, Tout, stateful=True, name=name)


def add_to_collection(name, value):
    """Adds to a collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names, value):
    """Adds to several collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key, scope=None):
    """A copy of a collection of the default graph; with `scope`, of the items whose names match."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key):
    """The list behind a collection of the default graph."""
    return get_default_graph().get_collection_ref(key)


def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False, allow_broadcast=False):
    """A TensorProto message with the values.

    Raises TypeError for values that are not of the dtype, or not of a shape to be verified; ValueError for None
    and for more values than the shape holds.
    """
    value = make_tensor_value(values, dtype, shape, verify_shape)
    if allow_broadcast and shape is not None and value.element_count != len(value.values) != 1:
        raise ValueError(f"{len(value.values)} values cannot be broadcast to {value.element_count}")
    return value.as_proto()


def make_ndarray(tensor):
    """The array that a TensorProto message holds; strings as objects of bytes."""
    from stillflow.graph import tensor_proto

    return tensor_proto.from_message(tensor).array().copy()


def dimension_value(dimension):
    """The size that a Dimension stands for; a plain size as it is."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape, index):
    """The Dimension of a TensorShape at `index`; an unknown one where the rank is not known."""
    return Dimension(None) if shape.rank is None else shape[index]
