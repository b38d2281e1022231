"""Outputs of layers, collected under the names of their scopes; arguments that layers take in several forms."""

from __future__ import annotations

import collections

from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.graph.shape_inference import constant_value as _constant_value
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.variables.variable import Variable

NamedOutputs = public("contrib.layers.python.layers.utils.NamedOutputs")(
    collections.namedtuple("NamedOutputs", ["name", "outputs"])
)


@public("contrib.layers.python.layers.utils.collect_named_outputs")
def collect_named_outputs(collections, alias, outputs):
    """The outputs, which are added to collections, under an alias, if there are any."""
    if collections:
        append_tensor_alias(outputs, alias)
        get_default_graph().add_to_collections(collections, outputs)
    return outputs


@public("contrib.layers.python.layers.utils.append_tensor_alias")
def append_tensor_alias(tensor, alias):
    """The tensor, which gets one more alias; a slash at its end is left out."""
    tensor.__dict__.setdefault("aliases", []).append(alias.removesuffix("/"))
    return tensor


@public("contrib.layers.python.layers.utils.get_tensor_aliases")
def get_tensor_aliases(tensor):
    """A list of a tensor's aliases, or with its name if there are none."""
    if hasattr(tensor, "aliases"):
        return tensor.aliases
    return [tensor.op.name if tensor.name.endswith(":0") else tensor.name]


@public("contrib.layers.python.layers.utils.gather_tensors_aliases")
def gather_tensors_aliases(tensors):
    """A list of the aliases of some tensors."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


@public("contrib.layers.python.layers.utils.convert_collection_to_dict")
def convert_collection_to_dict(collection, clear_collection=False):
    """{alias: tensor} of the tensors in a collection, which is emptied if that is asked for."""
    graph = get_default_graph()
    found = collections.OrderedDict(
        (alias, tensor) for tensor in graph.get_collection(collection) for alias in get_tensor_aliases(tensor)
    )
    if clear_collection:
        graph.clear_collection(collection)
    return found


@public("contrib.layers.python.layers.utils.get_variable_collections")
def get_variable_collections(variables_collections, name):
    """The collections for a variable: what a dictionary has for its name, or what is given for all."""
    return variables_collections.get(name) if isinstance(variables_collections, dict) else variables_collections


# ---- Choices ------------------------------------------------------------------------------------------------


@public("contrib.layers.python.layers.utils.constant_value")
def constant_value(value_or_tensor_or_var, dtype=None):
    """The value of a constant, or the value itself; None for a variable or a tensor that is no constant.

    Raises ValueError for None, or another type than `dtype`.
    """
    value = value_or_tensor_or_var
    if value is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    if isinstance(value, (Tensor, Variable)):
        if dtype and value.dtype != dtype:
            raise ValueError(f"It has the wrong type {value.dtype} instead of {dtype}")
        return None if isinstance(value, Variable) else _constant_value(value)
    return value


@public("contrib.layers.python.layers.utils.static_cond")
def static_cond(pred, fn1, fn2):
    """What `fn1` returns, or `fn2` if `pred` is false. Raises TypeError for what cannot be called."""
    if not callable(fn1):
        raise TypeError("fn1 must be callable.")
    if not callable(fn2):
        raise TypeError("fn2 must be callable.")
    return fn1() if pred else fn2()


@public("contrib.layers.python.layers.utils.smart_cond")
def smart_cond(pred, fn1, fn2, name=None):
    """What `fn1` or `fn2` returns if `pred` is known, else a tf.cond of both."""
    value = constant_value(pred)
    return cond(pred, fn1, fn2, name) if value is None else static_cond(value, fn1, fn2)


# ---- Sizes --------------------------------------------------------------------------------------------------


def _size(shape, axis, min_rank):
    if shape.rank is None:
        raise ValueError("dims of shape must be known but is None")
    if shape.rank < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {shape.rank}")
    size = shape.dims[axis].value
    if size is None:
        raise ValueError(f"dimension {axis} of shape must be known but is None: {shape}")
    return size


@public("contrib.layers.python.layers.utils.channel_dimension")
def channel_dimension(shape, data_format, min_rank=1):
    """The number of channels. Raises ValueError if it is not known, or the rank is less than `min_rank`."""
    return _size(shape, 1 if data_format == "channels_first" else -1, min_rank)


@public("contrib.layers.python.layers.utils.last_dimension")
def last_dimension(shape, min_rank=1):
    """The last size. Raises ValueError if it is not known, or the rank is less than `min_rank`."""
    return _size(shape, -1, min_rank)


@public("contrib.layers.python.layers.utils.two_element_tuple")
def two_element_tuple(int_or_tuple):
    """Two integers, of a list or shape of two, or of one integer. Raises ValueError for anything else."""
    if isinstance(int_or_tuple, (list, tuple)):
        if len(int_or_tuple) != 2:
            raise ValueError(f"Must be a list with 2 elements: {int_or_tuple}")
        return int(int_or_tuple[0]), int(int_or_tuple[1])
    if isinstance(int_or_tuple, int):
        return int(int_or_tuple), int(int_or_tuple)
    if isinstance(int_or_tuple, TensorShape) and len(int_or_tuple) == 2:
        return int_or_tuple[0], int_or_tuple[1]
    raise ValueError("Must be an int, a list with 2 elements or a TensorShape of length 2")


@public("contrib.layers.python.layers.utils.n_positive_integers")
def n_positive_integers(n, value):
    """n positive integers, of a sequence of them, or of one integer. Raises ValueError for anything else."""
    count = int(n)
    if count < 1 or count != n:
        raise ValueError("n must be a positive integer")
    try:
        values = (int(value),) * count
    except (TypeError, ValueError):
        error = f"Expected sequence of {count} positive integers, but received {value!r}"
        if len(value) != count:
            raise ValueError(error) from None
        try:
            values = tuple(int(item) for item in value)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(error) from None
    for item in values:
        if item < 1:
            raise ValueError(f"expected positive integer, but received {item}")
    return values


def as_keras_format(data_format, *allowed):
    """ "channels_first" or "channels_last" for a format such as "NHWC". Raises ValueError unless it is allowed."""
    if data_format not in allowed:
        raise ValueError(f"data_format has to be either {allowed[0]} or {allowed[1]}.")
    return "channels_first" if data_format.startswith("NC") else "channels_last"
