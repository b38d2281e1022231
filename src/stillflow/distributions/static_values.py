"""Values, ranks and shapes that are known when a graph is built, or tensors where they are not."""

from __future__ import annotations

import inspect
import sys

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape, dimension_at_index, dimension_value
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond, smart_cond
from stillflow.ops.convert import convert_to_tensor


@public(
    "python.ops.distributions.util.maybe_get_static_value",
    "contrib.distributions.python.ops.distribution_util.maybe_get_static_value",
)
def maybe_get_static_value(x, dtype=None):
    """What is known of x, as an array of `dtype` if that is given; None if x is None or nothing is known."""
    if x is None:
        return None
    known = constant_value(x) if isinstance(x, Tensor) else x
    return known if known is None or dtype is None else np.array(known, dtype)


@public(
    "python.ops.distributions.util.prefer_static_value",
    "contrib.distributions.python.ops.distribution_util.prefer_static_value",
)
def prefer_static_value(x):
    """A tensor's value as an array if it is known, else the tensor."""
    known = constant_value(x)
    return x if known is None else known


@public(
    "python.ops.distributions.util.prefer_static_rank",
    "contrib.distributions.python.ops.distribution_util.prefer_static_rank",
)
def prefer_static_rank(x):
    """A tensor's rank as an array if it is known, else as a tensor."""
    return prefer_static_value(ops.rank(x))


@public(
    "python.ops.distributions.util.prefer_static_shape",
    "contrib.distributions.python.ops.distribution_util.prefer_static_shape",
)
def prefer_static_shape(x):
    """A tensor's shape as an array if it is known, else as a tensor."""
    return prefer_static_value(ops.shape(x))


@public("contrib.distributions.python.ops.distribution_util.static_value")
def static_value(x):
    """The value of a tensor, or of what can be one, as an array if it is known, else None."""
    return constant_value(convert_to_tensor(x))


@public(
    "python.ops.distributions.util.prefer_static_broadcast_shape",
    "contrib.distributions.python.ops.distribution_util.prefer_static_broadcast_shape",
)
def prefer_static_broadcast_shape(shape1, shape2, name="prefer_static_broadcast_shape"):
    """The shape that two shapes, TensorShapes or int32 vectors, are broadcast to: a TensorShape if both are known.

    Raises ValueError for a TensorShape of unknown sizes beside a tensor, and for shapes that do not fit.
    """
    with name_scope(name, values=[shape1, shape2]):
        known = [_known_shape(shape) for shape in (shape1, shape2)]
        if None not in known:
            return ops.broadcast_static_shape(*known)
        return ops.broadcast_dynamic_shape(_shape_tensor(shape1), _shape_tensor(shape2))


def _known_shape(shape):
    if isinstance(shape, TensorShape):
        return shape
    known = constant_value(convert_to_tensor(shape, name="shape", dtype=dtypes.int32))
    return None if known is None else TensorShape(known)


def _shape_tensor(shape):
    if isinstance(shape, TensorShape):
        if not shape.is_fully_defined():
            raise ValueError("Cannot broadcast from partially defined `TensorShape`.")
        shape = shape.as_list()
    return convert_to_tensor(shape, name="shape", dtype=dtypes.int32)


@public("contrib.distributions.python.ops.distribution_util.get_broadcast_shape")
def get_broadcast_shape(*tensors):
    """The shape that tensors are broadcast to: a list of ints if it is known, else an int32 vector."""
    known = tensors[0].shape
    for tensor in tensors[1:]:
        known = ops.broadcast_static_shape(known, tensor.shape)
    if known.is_fully_defined():
        return known.as_list()
    found = ops.shape(tensors[0])
    for tensor in tensors[1:]:
        found = ops.broadcast_dynamic_shape(found, ops.shape(tensor))
    return found


@public(
    "python.ops.distributions.util.same_dynamic_shape",
    "contrib.distributions.python.ops.distribution_util.same_dynamic_shape",
)
def same_dynamic_shape(a, b):
    """Whether two tensors have the same shape when the graph runs, a bool scalar."""
    a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")

    def same_sizes():
        one = ops.concat([ops.shape(a), ops.shape(b)], 0)
        return ops.reduce_all(ops.equal(one, ops.concat([ops.shape(b), ops.shape(a)], 0)))

    return cond(ops.equal(ops.rank(a), ops.rank(b)), same_sizes, lambda: ops.constant(False))


@public(
    "python.ops.distributions.util.dimension_size",
    "contrib.distributions.python.ops.distribution_util.dimension_size",
)
def dimension_size(x, axis):
    """The size of a dimension: an int if it is known, else an int32 scalar."""
    known = dimension_value(x.shape.with_rank_at_least(abs(axis))[axis])
    return ops.shape(x)[axis] if known is None else known


@public("python.ops.distributions.util.pad", "contrib.distributions.python.ops.distribution_util.pad")
def pad(x, axis, front=False, back=False, value=0, count=1, name=None):
    """Pads one dimension of a tensor.

    Args:
      x: a tensor.
      axis: the dimension, an int or an int32 scalar; negative ones count from the end.
      front, back: at which ends; at least one.
      value: what is put there, a scalar.
      count: how often at each end, an int or an integer scalar.
      name: the scope of the new nodes.

    Raises:
      ValueError: if neither end is to be padded.
      TypeError: for a count of another type.
    """
    with name_scope(name, "pad", [x, value, count]):
        x = convert_to_tensor(x, name="x")
        value = convert_to_tensor(value, dtype=x.dtype, name="value")
        count = convert_to_tensor(count, name="count")
        if not count.dtype.is_integer:
            raise TypeError(f"`count.dtype` (`{count.dtype.name}`) must be `int`-like.")
        if not front and not back:
            raise ValueError("At least one of `front`, `back` must be `True`.")
        rank = ops.rank(x, name="ndims") if x.shape.ndims is None else x.shape.ndims
        axis = convert_to_tensor(axis, name="axis")
        known = constant_value(axis)
        shape = None
        if known is None:
            axis = ops.where_v2(axis < 0, rank + axis, axis)
        else:
            axis = rank + known if known < 0 else known
            if known >= 0 or x.shape.ndims is not None:
                shape = _padded_shape(x.shape, int(axis), constant_value(count), front + back)
        ends = ops.stack([axis if front else -1, axis if back else -1])
        paddings = ops.one_hot(ends, depth=rank, axis=0, on_value=count, dtype=dtypes.int32)
        x = ops.pad(x, paddings=paddings, constant_values=value)
        if shape is not None:
            x.set_shape(shape)
        return x


def _padded_shape(shape, axis, count, ends):
    middle = None if count is None else [dimension_at_index(shape, axis) + int(count) * ends]
    return shape[:axis].concatenate(TensorShape(middle)).concatenate(shape[axis + 1 :])


@public(
    "contrib.distributions.python.ops.vector_diffeomixture.concat_vectors",
    "contrib.distributions.python.ops.poisson_lognormal.concat_vectors",
)
def concat_vectors(*args):
    """Vectors, one after the other: a list if all are known, else a tensor."""
    known = [static_value(vector) for vector in args]
    if any(vector is None for vector in known):
        return ops.concat(args, axis=0)
    return [item for vector in known for item in vector]


@public("contrib.distributions.python.ops.distribution_util.move_dimension")
def move_dimension(x, source_idx, dest_idx):
    """A tensor with one dimension moved to another place, the others in their order.

    Places are ints or integer scalars; negative ones count from the end.
    """
    rank = prefer_static_rank(x)
    dtype = dtypes.int32 if isinstance(source_idx, int) else dtypes.as_dtype(source_idx.dtype)
    if source_idx < 0:
        source_idx = rank + source_idx
    if dest_idx < 0:
        dest_idx = rank + dest_idx

    def permuted(*parts):
        ranges = [[part[0]] if len(part) == 1 else ops.range(*part, dtype=dtype) for part in parts]
        return prefer_static_value(ops.concat(ranges, axis=0))

    def to_the_left():
        return permuted((0, dest_idx), (source_idx,), (dest_idx, source_idx), (source_idx + 1, rank))

    def to_the_right():
        return permuted((0, source_idx), (source_idx + 1, dest_idx + 1), (source_idx,), (dest_idx + 1, rank))

    def moved():
        return ops.transpose(x, perm=smart_cond(source_idx < dest_idx, to_the_right, to_the_left))

    return smart_cond(ops.equal(source_idx, dest_idx), lambda: x, moved)


@public(
    "python.ops.distributions.util.parent_frame_arguments",
    "contrib.distributions.python.ops.distribution_util.parent_frame_arguments",
)
def parent_frame_arguments():
    """{name: value} of the arguments of the function that calls, with their present values.

    Those that a function gathers as **kwargs are among them, those that it gathers as *args are not.
    """
    caller = sys._getframe(1)
    names, _, keywords, found = inspect.getargvalues(caller)
    gathered = found[keywords] if keywords else {}
    return {**{name: found[name] for name in names}, **gathered}
