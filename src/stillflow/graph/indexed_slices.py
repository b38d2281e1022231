"""IndexedSlices: the gradient of a gather, as the rows that it touched."""

from __future__ import annotations

import contextlib
import warnings

from stillflow.names import public


@public("IndexedSlices")
class IndexedSlices:
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
        from stillflow.graph import shape_inference
        from stillflow.graph.shape import TensorShape

        if self._dense_shape is None:
            return TensorShape(None)
        dims = shape_inference.value_as_dims(shape_inference.partial_value(self._dense_shape))
        return TensorShape._of(dims)

    def __str__(self):
        dense = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{dense})"

    __repr__ = __str__

    def __neg__(self):
        return IndexedSlices(-self._values, self._indices, self._dense_shape)


@contextlib.contextmanager
def converting_quietly():
    """A scope in which IndexedSlices become dense without a warning: their size is known to be small."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Converting sparse IndexedSlices to a dense Tensor.*")
        yield
