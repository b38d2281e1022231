"""Mappers of features to a space where an inner product is nearly a kernel."""

from __future__ import annotations

import abc
import math

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.names import public


@public("contrib.kernel_methods.python.mappers.dense_kernel_mapper.InvalidShapeError")
class InvalidShapeError(Exception):
    """Features are not of the shape that a mapper takes."""


@public("contrib.kernel_methods.python.mappers.dense_kernel_mapper.DenseKernelMapper")
class DenseKernelMapper(abc.ABC):
    """A mapper of matrices [batch, features], for classes that inherit from it."""

    @abc.abstractmethod
    def map(self, input_tensor):
        """The features of a matrix in the space of the kernel, [batch, output_dim]."""

    @property
    @abc.abstractmethod
    def name(self):
        """The mapper's name."""

    @property
    @abc.abstractmethod
    def output_dim(self):
        """The number of features that there will be."""


@public("contrib.kernel_methods.RandomFourierFeatureMapper")
class RandomFourierFeatureMapper(DenseKernelMapper):
    """Random Fourier features of the Gaussian kernel exp(-||x - y||^2 / (2 stddev^2)) (Rahimi and Recht, NIPS 2007).

    They are sqrt(2 / output_dim) cos(x omega + b), of a normal matrix omega and a uniform b that are drawn by NumPy.

    Args:
      input_dim, output_dim: the numbers of features before and after.
      stddev: the deviation of the kernel.
      seed: of omega and b, an int; with the same seed they are the same each time.
      name: the mapper's name; its id if it is None.
    """

    def __init__(self, input_dim, output_dim, stddev=1.0, seed=1, name=None):
        self._input_dim, self._output_dim = input_dim, output_dim
        self._stddev, self._seed, self._name = stddev, seed, name

    @property
    def name(self):
        return self._name or str(id(self))

    @property
    def input_dim(self):
        """The number of features that there must be."""
        return self._input_dim

    @property
    def output_dim(self):
        return self._output_dim

    def map(self, input_tensor):
        """The features of a float32 matrix [batch, input_dim], [batch, output_dim].

        Raises InvalidShapeError for tensors of another rank or number of features.
        """
        shape = input_tensor.shape
        if len(shape) != 2:
            raise InvalidShapeError(f"The shape of the tensor should be 2. Got {len(shape)} instead.")
        if shape[1] != self._input_dim:
            raise InvalidShapeError(
                f"Invalid dimension: expected {self._input_dim} input features, got {shape[1]} instead."
            )
        draw = np.random.RandomState(self._seed)
        omega = draw.normal(scale=1.0 / self._stddev, size=[self._input_dim, self._output_dim])
        omega = ops.constant(omega, dtype=dtypes.float32)
        bias = ops.constant(draw.uniform(low=0.0, high=2 * np.pi, size=[self._output_dim]), dtype=dtypes.float32)
        phase = ops.add(ops.matmul(input_tensor, omega), bias)
        return math.sqrt(2.0 / self._output_dim) * ops.cos(phase)
