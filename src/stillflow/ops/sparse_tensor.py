"""SparseTensor: a tensor of mostly zeros, as the places and values of the elements that are there."""

from __future__ import annotations

import collections
import functools

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes, shape_inference
from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.inner_functions import TensorLike
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor, session_for
from stillflow.graph.shape import TensorShape, as_shape, dimension_value
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.graph.type_spec import BatchableTypeSpec, register_type_spec_from_value_converter
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor

SparseTensorValue = public("SparseTensorValue")(
    collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])
)


@public("SparseTensor", "sparse.SparseTensor")
@TensorLike.register
class SparseTensor(CompositeTensor):
    """Elements `values[i]` at the places `indices[i]` of a tensor of shape `dense_shape`.

    Args:
      indices: int64 [n, rank], a row for each element; most ops want them in row-major order.
      values: any type, [n].
      dense_shape: int64 [rank].

    Raises ValueError if the three do not fit each other.
    """

    def __init__(self, indices, values, dense_shape):
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert_to_tensor(indices, dtypes.int64, name="indices")
            self._values = convert_to_tensor(values, name="values")
            self._dense_shape = convert_to_tensor(dense_shape, dtypes.int64, name="dense_shape")
        places = self._indices.shape.with_rank(2)
        places.dims[0].merge_with(self._values.shape.with_rank(1).dims[0])
        places.dims[1].merge_with(self._dense_shape.shape.with_rank(1).dims[0])

    @classmethod
    def from_value(cls, sparse_tensor_value):
        """A SparseTensor of the parts of one, or of a SparseTensorValue. Raises TypeError for anything else."""
        if not is_sparse(sparse_tensor_value):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        return SparseTensor(*parts(sparse_tensor_value))

    @property
    def indices(self):
        return self._indices

    @property
    def values(self):
        return self._values

    @property
    def dense_shape(self):
        """The shape of the whole, an int64 tensor; `shape` is what is known of it while the graph is built."""
        return self._dense_shape

    @property
    def shape(self):
        return TensorShape._of(known_dims(self._dense_shape))

    def get_shape(self):
        return self.shape

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def op(self):
        """The operation that makes `values`."""
        return self._values.op

    @property
    def graph(self):
        return self._indices.graph

    def eval(self, feed_dict=None, session=None):
        """A SparseTensorValue, computed by `session` or the default session. Raises ValueError without one."""
        return session_for(self.graph, session, "evaluate tensor", "eval").run(self, feed_dict)

    def consumers(self):
        """The operations that take one of its tensors."""
        return self._consumers()

    def _to_components(self):
        return parts(self)

    @property
    def _type_spec(self):
        return SparseTensorSpec(self.shape, self.dtype)

    def _shape_invariant_to_type_spec(self, shape):
        # Of a loop's variable, the shape of the dense shape is given.
        if shape.rank not in (None, 1):
            raise ValueError("Expected a shape with 1 dimension")
        rank = None if shape.rank is None else dimension_value(shape[0])
        return SparseTensorSpec(TensorShape(None if rank is None else [None] * rank), self.dtype)

    @staticmethod
    def _override_operator(operator, function):
        setattr(SparseTensor, operator, function)

    def __str__(self):
        return f"SparseTensor(indices={self._indices!s}, values={self._values!s}, dense_shape={self._dense_shape!s})"

    __repr__ = __str__


def parts(sparse):
    """The indices, values and shape of a SparseTensor or SparseTensorValue."""
    return [sparse.indices, sparse.values, sparse.dense_shape]


@public("SparseTensorSpec")
class SparseTensorSpec(BatchableTypeSpec):
    """A SparseTensor of a type and, as far as it is known, of a shape. A variant carries it.

    Args:
      shape: a TensorShape or what converts to one; None for unknown.
      dtype: the type.
    """

    __slots__ = ("_dtype", "_shape")
    CLASS_IN_MESSAGES = "SPARSE_TENSOR_SPEC"

    def __init__(self, shape=None, dtype=dtypes.float32):
        self._shape = as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    @classmethod
    def from_value(cls, value):
        """The specification of a SparseTensor or SparseTensorValue. Raises TypeError for anything else."""
        if not is_sparse(value):
            raise TypeError("Expected SparseTensor or SparseTensorValue")
        if isinstance(value, SparseTensor):
            return cls(value.shape, value.dtype)
        if isinstance(value.values, np.ndarray):
            return cls(value.dense_shape, value.values.dtype)
        return cls.from_value(SparseTensor.from_value(value))

    @property
    def shape(self):
        return self._shape

    @property
    def dtype(self):
        return self._dtype

    @property
    def value_type(self):
        return SparseTensor

    def _serialize(self):
        return self._shape, self._dtype

    @property
    def _component_specs(self):
        rank = self._shape.rank
        return [
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], dtypes.int64),
        ]

    def _to_components(self, value):
        return parts(SparseTensor.from_value(value) if isinstance(value, SparseTensorValue) else value)

    def _from_components(self, components):
        """A SparseTensor of tensors, a SparseTensorValue of arrays."""
        is_value = all(isinstance(part, np.ndarray) for part in components)
        return (SparseTensorValue if is_value else SparseTensor)(*components)

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value):
        return [ops.serialize_sparse(*parts(SparseTensor.from_value(value)), out_type=dtypes.variant)]

    def _to_batched_tensor_list(self, value):
        if self._shape.merge_with(TensorShape._of(known_dims(value.dense_shape))).rank == 0:
            raise ValueError("Unbatching a sparse tensor is only supported for rank >= 1")
        return [ops.serialize_many_sparse(*parts(value), out_type=dtypes.variant)]

    def _from_compatible_tensor_list(self, tensor_list):
        indices, values, dense_shape = ops.deserialize_sparse(tensor_list[0], dtype=self._dtype)
        rank = self._shape.rank
        indices.set_shape([None, rank])
        dense_shape.set_shape([rank])
        return SparseTensor(indices, values, dense_shape)

    def _batch(self, batch_size):
        return SparseTensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self):
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return SparseTensorSpec(self._shape[1:], self._dtype)

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        return self._shape


register_type_spec_from_value_converter(SparseTensorValue, SparseTensorSpec.from_value)


@public("python.framework.sparse_tensor.is_sparse")
def is_sparse(value):
    """Whether it is a SparseTensor or a SparseTensorValue."""
    return isinstance(value, (SparseTensor, SparseTensorValue))


def as_sparse_tensor(value):
    """A SparseTensor as it is, or of a SparseTensorValue. Raises TypeError for anything else."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return value


@public("convert_to_tensor_or_sparse_tensor", "contrib.framework.convert_to_tensor_or_sparse_tensor")
def convert_to_tensor_or_sparse_tensor(value, dtype=None, name=None):
    """A SparseTensor for a SparseTensor or SparseTensorValue, a tensor for anything else.

    Raises RuntimeError if a sparse value is not of `dtype`.
    """
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        return convert_to_tensor(value, dtype, name)
    if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
        raise RuntimeError(f"Sparse dtype: requested = {dtypes.as_dtype(dtype).name}, actual = {value.dtype.name}")
    return value


def known_dims(shape):
    """The plain shape that an integer vector spells, as far as it is known."""
    dims = shape_inference.value_as_dims(shape_inference.partial_constant(shape))
    if dims is None and shape._dims is not None and shape._dims[0] is not None:
        return (None,) * shape._dims[0]
    return dims


@public("is_tensor", "contrib.framework.is_tensor")
def is_tensor(x):
    """Whether `x` is a tensor, SparseTensor, IndexedSlices or variable."""
    return isinstance(x, (Tensor, SparseTensor, IndexedSlices)) or hasattr(x, "_as_graph_element")


def of_sparse_values(function):
    """Decorates a function of one tensor: given a SparseTensor, it is applied to the values."""

    @functools.wraps(function)
    def apply(x, name=None):
        try:
            return function(x, name)
        except (TypeError, ValueError):  # TensorFlow too tries it as a tensor first, which uses up the name
            if not isinstance(x, SparseTensor):
                raise
        return SparseTensor(x.indices, function(x.values, name), x.dense_shape)

    return apply
