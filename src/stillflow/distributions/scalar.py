"""Distributions of scalars, whose batch is what their parameters' shapes broadcast to."""

from __future__ import annotations

import functools

import numpy as np

from stillflow import ops
from stillflow.distributions.distribution import Distribution
from stillflow.graph import dtypes
from stillflow.graph.shape import TensorShape
from stillflow.ops.convert import convert_to_tensor


class ScalarDistribution(Distribution):
    """A distribution of scalars. A descendant names its parameters in PARAMETERS, and has a property for each."""

    PARAMETERS: tuple[str, ...] = ()

    @classmethod
    def _param_shapes(cls, sample_shape):
        shape = convert_to_tensor(sample_shape, dtypes.int32)
        return dict.fromkeys(cls.PARAMETERS, shape)

    def _batch_shape_tensor(self):
        shapes = [ops.shape(getattr(self, name)) for name in self.PARAMETERS]
        return functools.reduce(lambda later, shape: ops.broadcast_dynamic_shape(shape, later), reversed(shapes))

    def _batch_shape(self):
        shapes = [getattr(self, name).shape for name in self.PARAMETERS]
        return functools.reduce(ops.broadcast_static_shape, shapes)

    def _event_shape_tensor(self):
        return ops.constant([], dtypes.int32)

    def _event_shape(self):
        return TensorShape([])

    def _full(self, number, name=None):
        """That number for each distribution of the batch."""
        return ops.fill(self.batch_shape_tensor(), np.array(number, self.dtype.as_numpy_dtype), name=name)
