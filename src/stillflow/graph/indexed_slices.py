"""IndexedSlices: the gradient of a gather, as the rows that it touched."""

from __future__ import annotations

import collections
import contextlib
import warnings

import numpy as np

from stillflow.graph import dtypes, shape_inference
from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.graph.shape import TensorShape, as_shape
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.graph.type_spec import TypeSpec
from stillflow.names import public

IndexedSlicesValue = public(
    "python.framework.indexed_slices.IndexedSlicesValue", "python.framework.ops.IndexedSlicesValue"
)(collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"]))


@public("IndexedSlices")
class IndexedSlices(CompositeTensor):
    """Rows `values[i]` at `indices[i]` of a tensor that is zero elsewhere; equal indices add up.

    `values` has shape [n, ...], `indices` [n]; `dense_shape`, a 1-D integer tensor, is the shape of the whole,
    or None when it is unknown.
    """

    def __init__(self, values, indices, dense_shape=None):
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self):
        return self._values

    @property
    def indices(self):
        return self._indices

    @property
    def dense_shape(self):
        return self._dense_shape

    @property
    def name(self):
        return self._values.name

    @property
    def device(self):
        return self._values.device

    @property
    def op(self):
        return self._values.op

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def graph(self):
        return self._values.graph

    @property
    def shape(self):
        if self._dense_shape is None:
            return TensorShape(None)
        dims = shape_inference.value_as_dims(shape_inference.partial_value(self._dense_shape))
        return TensorShape._of(dims)

    def consumers(self):
        """The operations that take one of its tensors."""
        return self._consumers()

    def _to_components(self):
        return _parts(self)

    @property
    def _type_spec(self):
        indices_shape = self._indices.shape.merge_with(self._values.shape[:1])
        shape = TensorShape([None]).concatenate(self._values.shape[1:])
        if self._dense_shape is not None:
            shape = shape.merge_with(self.shape)
        return self._spec_with(shape, indices_shape)

    def _shape_invariant_to_type_spec(self, shape):
        # Of a loop's variable, the shape of the values is given.
        return self._spec_with(TensorShape([None]).concatenate(shape[1:]), shape[:1])

    def _spec_with(self, shape, indices_shape):
        shape_dtype = None if self._dense_shape is None else self._dense_shape.dtype
        return IndexedSlicesSpec(shape, self.dtype, self._indices.dtype, shape_dtype, indices_shape)

    def __str__(self):
        dense = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{dense})"

    __repr__ = __str__

    def __neg__(self):
        return IndexedSlices(-self._values, self._indices, self._dense_shape)


def _parts(slices):
    """The tensors or arrays of IndexedSlices or of an IndexedSlicesValue."""
    parts = slices.values, slices.indices, slices.dense_shape
    return parts if slices.dense_shape is not None else parts[:2]


@public("IndexedSlicesSpec")
class IndexedSlicesSpec(TypeSpec):
    """IndexedSlices of types and, as far as they are known, of shapes.

    Args:
      shape: the shape of the whole, a TensorShape or what converts to one; None for unknown.
      dtype: the type of the values.
      indices_dtype: that of the indices.
      dense_shape_dtype: that of `dense_shape`, None if there is none.
      indices_shape: the shape of the indices; it tells how many slices there are.
    """

    __slots__ = ("_dense_shape_dtype", "_indices_dtype", "_indices_shape", "_shape", "_values_dtype")
    CLASS_IN_MESSAGES = "INDEXED_SLICES_SPEC"

    def __init__(
        self, shape=None, dtype=dtypes.float32, indices_dtype=dtypes.int64, dense_shape_dtype=None, indices_shape=None
    ):
        self._shape = as_shape(shape)
        self._values_dtype = dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        self._indices_shape = as_shape(indices_shape).with_rank(1)

    @property
    def value_type(self):
        return IndexedSlices

    def _serialize(self):
        return self._shape, self._values_dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape

    @property
    def _component_specs(self):
        specs: tuple[TensorSpec, ...] = (
            TensorSpec(self._indices_shape.concatenate(self._shape[1:]), self._values_dtype),
            TensorSpec(self._indices_shape, self._indices_dtype),
        )
        if self._dense_shape_dtype is not None:
            specs += (TensorSpec([self._shape.rank], self._dense_shape_dtype),)
        return specs

    def _to_components(self, value):
        return _parts(value)

    def _from_components(self, components):
        """IndexedSlices of tensors, an IndexedSlicesValue of arrays."""
        if all(isinstance(part, np.ndarray) for part in components):
            return IndexedSlicesValue(*components, *[None] * (3 - len(components)))
        return IndexedSlices(*components)


@contextlib.contextmanager
def converting_quietly():
    """A scope in which IndexedSlices become dense without a warning: their size is known to be small."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Converting sparse IndexedSlices to a dense Tensor.*")
        yield
