"""Variables and placeholders, what they hold, and what tensors are."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.sparse import sparse_placeholder, sparse_tensor_to_dense
from stillflow.eager.tensor import EagerTensor
from stillflow.eager.variable import EagerVariable
from stillflow.graph import dtypes, nest
from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.name_scope import init_scope
from stillflow.graph.operation import Tensor
from stillflow.keras.backend.phases import get_graph, get_session
from stillflow.layers.core.settings import floatx
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.ragged import constants
from stillflow.saver import weight_values
from stillflow.variables import assignments, initializers
from stillflow.variables.variable import Variable


def track_variable(variable):
    """Says that a variable belongs to a model, so that the session gives it its initial value."""
    weight_values.made(variable)


@public("keras.backend.variable")
def variable(value, dtype=None, name=None, constraint=None):
    """A variable.

    Args:
      value: its initial value; a scipy matrix that is sparse becomes a SparseTensor instead.
      dtype: its type; `floatx` by default.
      name: its name.
      constraint: a function from the value after an update to the value to keep.
    """
    if hasattr(value, "tocoo"):
        matrix = value.tocoo()
        indices = np.stack([matrix.row, matrix.col], axis=1)
        return SparseTensor(indices=indices, values=matrix.data, dense_shape=matrix.shape)
    made = Variable(
        value, dtype=dtypes.as_dtype(dtype or floatx()), name=name, constraint=constraint, use_resource=True
    )
    track_variable(made)
    return made


@public("keras.backend.constant")
def constant(value, dtype=None, shape=None, name=None):
    """A tensor that is a constant, of type `floatx` by default."""
    return ops.constant(value, dtype=dtype or floatx(), shape=shape, name="Const" if name is None else name)


@public("keras.backend.placeholder")
def placeholder(shape=None, ndim=None, dtype=None, sparse=False, name=None, ragged=False):
    """A tensor that gets its value when a model runs.

    Args:
      shape: its shape, None for sizes that are not known.
      ndim: its rank, where there is no shape.
      dtype: its type; `floatx` by default.
      sparse: whether it is a SparseTensor.
      name: its name.
      ragged: whether it is a RaggedTensor: sizes that are None, up to the first that is not, are ragged.

    Raises:
      ValueError: for one that is to be sparse and ragged.
    """
    if sparse and ragged:
        raise ValueError("Cannot set both sparse and ragged to True when creating a placeholder.")
    if not shape and ndim:
        shape = (None,) * ndim
    with get_graph().as_default():
        if ragged:
            sizes = [*shape[1:]]
            ragged_rank = next((i for i, size in enumerate(sizes) if size is not None), len(sizes))
            if ragged_rank:
                return constants.placeholder(dtype or floatx(), ragged_rank, shape[1 + ragged_rank :], name)
        make = sparse_placeholder if sparse else ops.placeholder
        return make(dtype or floatx(), shape=shape, name=name)


@public("python.keras.backend.is_placeholder")
def is_placeholder(x):
    """Whether it is a placeholder, or made of placeholders."""
    try:
        if isinstance(x, CompositeTensor):
            return any(is_placeholder(part) for part in nest.components(x))
        return x.op.type == "Placeholder"
    except AttributeError:
        return False


@public("python.keras.backend.is_keras_tensor")
def is_keras_tensor(x):
    """Whether a tensor was made by a layer of a model. Raises ValueError for what is no tensor."""
    if not isinstance(x, (Tensor, Variable, CompositeTensor)):
        raise ValueError(f"Unexpectedly found an instance of type `{type(x)}`. Expected a symbolic tensor instance.")
    return hasattr(x, "_keras_history")


@public("keras.backend.is_sparse")
def is_sparse(tensor):
    """Whether it is a SparseTensor."""
    return isinstance(tensor, SparseTensor)


@public("keras.backend.to_dense")
def to_dense(tensor):
    """A tensor, of a SparseTensor too."""
    return sparse_tensor_to_dense(tensor) if is_sparse(tensor) else tensor


# ---- Shapes and types ---------------------------------------------------------------------------------------


@public("keras.backend.shape")
def shape(x):
    """The shape, as a tensor."""
    return ops.shape(x)


@public("keras.backend.int_shape")
def int_shape(x):
    """The shape, as a tuple with None for what is not known; None if the rank is not known."""
    if isinstance(x.shape, tuple):
        return x.shape
    try:
        return tuple(x.shape.as_list())
    except ValueError:
        return None


@public("keras.backend.ndim")
def ndim(x):
    """The rank, or None if it is not known."""
    return len(x.shape) if isinstance(x.shape, tuple) else x.shape.ndims


@public("keras.backend.dtype")
def dtype(x):
    """The name of the type."""
    return x.dtype.base_dtype.name


@public("keras.backend.count_params")
def count_params(x):
    """How many numbers a variable has."""
    return np.prod(x.shape.as_list())


@public("keras.backend.cast")
def cast(x, dtype):
    """x in another type."""
    return ops.cast(x, dtype)


# ---- Variables of some value --------------------------------------------------------------------------------


def _filled(fill, shape, dtype, name):
    with init_scope():
        tensor = fill(shape=shape, dtype=dtypes.as_dtype(dtype or floatx()), name=name)
        if all(tensor.shape.as_list()):
            return variable(tensor, dtype=dtype or floatx(), name=name)
        return tensor


@public("keras.backend.zeros")
def zeros(shape, dtype=None, name=None):
    """A variable of zeros; a tensor, if its shape is not known."""
    return _filled(lambda **arguments: ops.zeros(**arguments), shape, dtype, name)


@public("keras.backend.ones")
def ones(shape, dtype=None, name=None):
    """A variable of ones; a tensor, if its shape is not known."""
    return _filled(lambda **arguments: ops.ones(**arguments), shape, dtype, name)


@public("keras.backend.eye")
def eye(size, dtype=None, name=None):
    """A variable that is a unit matrix."""
    dtype = dtype or floatx()
    return variable(ops.eye(size, dtype=dtypes.as_dtype(dtype)), dtype, name)


@public("keras.backend.zeros_like")
def zeros_like(x, dtype=None, name=None):
    """Zeros of the shape of x."""
    return ops.zeros_like(x, dtype=dtype, name=name)


@public("keras.backend.ones_like")
def ones_like(x, dtype=None, name=None):
    """Ones of the shape of x."""
    return ops.ones_like(x, dtype=dtype, name=name)


def _drawn(make, shape, dtype, name, seed):
    if seed is None:
        seed = np.random.randint(1_000_000_000)
    dtype = dtype or floatx()
    return variable(make(dtype=dtypes.as_dtype(dtype), seed=seed)(shape), dtype=dtype, name=name)


@public("keras.backend.random_uniform_variable")
def random_uniform_variable(shape, low, high, dtype=None, name=None, seed=None):
    """A variable of numbers that are equally likely in [low, high)."""
    return _drawn(lambda **rest: initializers.RandomUniform(low, high, **rest), shape, dtype, name, seed)


@public("keras.backend.random_normal_variable")
def random_normal_variable(shape, mean, scale, dtype=None, name=None, seed=None):
    """A variable of normal numbers, of that mean and standard deviation."""
    return _drawn(lambda **rest: initializers.RandomNormal(mean, scale, **rest), shape, dtype, name, seed)


# ---- Values -------------------------------------------------------------------------------------------------


@by_mode
def _value(x):
    return x.eval(session=get_session((x,)))


@eager_version_of(_value)
def _value_at_once(x):
    return x.numpy()


@public("keras.backend.get_value")
def get_value(x):
    """The value of a variable, as an array; what is no tensor is returned as it is."""
    if not isinstance(x, (Tensor, Variable)):
        return x
    if isinstance(x, EagerTensor):
        return x.numpy()
    if isinstance(x, EagerVariable):  # be it asked for while a graph is built
        with x.handle.graph.as_default():
            return x.numpy()
    return _value(x)


@public("keras.backend.eval")
def evaluate(x):
    """The value of a tensor, as an array."""
    return get_value(to_dense(x))


@public("keras.backend.batch_get_value")
def batch_get_value(tensors):
    """The values of variables, as arrays. Raises RuntimeError within a function."""
    if get_default_graph().building_function:
        raise RuntimeError("Cannot get value inside Tensorflow graph function.")
    return weight_values.get(tensors)


@public("keras.backend.set_value")
def set_value(x, value):
    """Gives a variable a value."""
    weight_values.set_all([(x, value)])


@public("keras.backend.batch_set_value")
def batch_set_value(tuples):
    """Gives variables values; the pairs are of a variable and a value."""
    weight_values.set_all(tuples)


@public("keras.backend.update")
def update(x, new_x):
    """An operation that gives a variable another value."""
    return assignments.assign(x, new_x)


@public("keras.backend.update_add")
def update_add(x, increment):
    """An operation that adds to a variable."""
    return assignments.assign_add(x, increment)


@public("keras.backend.update_sub")
def update_sub(x, decrement):
    """An operation that subtracts from a variable."""
    return assignments.assign_sub(x, decrement)
