"""Initializers of convolutions that keep lengths: Xiao et al. 2018, "Dynamical isometry and a mean field theory of
CNNs" (arXiv:1806.05393)."""

from __future__ import annotations

import itertools

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.variables.initializers import Initializer, _floating, _sizes

_COUNTS = {1: "three", 2: "four", 3: "five"}  # of dimensions, by those of the convolution


class _KernelInitializer(Initializer):
    """What the initializers of this module have in common: a gain, a seed and floats."""

    def __init__(self, gain=1.0, seed=None, dtype=dtypes.float32):
        self.gain = gain
        self.dtype = _floating(dtype)
        self.seed = seed

    dtype = dtypes.float32  # of values, where a call names none

    def get_config(self):
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}

    def _random_rotation(self, size, dtype, **qr_options):
        """A uniformly drawn orthogonal matrix: q of a normal matrix, times the signs of r's diagonal."""
        numbers = self._numbers.random_normal([size, size], dtype=dtype, seed=self.seed)
        self._advance()
        q, r = ops.qr_op(numbers, **qr_options)
        return q * ops.sign(ops.diag_part(r))

    def _advance(self):
        """Called after each draw of several."""


def _check_filters(inputs, outputs):
    if inputs > outputs:
        raise ValueError("In_filters cannot be greater than out_filters.")


@public(
    "contrib.framework.convolutional_delta_orthogonal",
    "python.ops.init_ops.convolutional_delta_orthogonal",
    "python.ops.init_ops.ConvolutionDeltaOrthogonal",
)
class ConvolutionDeltaOrthogonal(_KernelInitializer):
    """An orthogonal matrix, times `gain`, at the kernel's centre, and zeros around it: algorithm 2 of the paper.

    The shape is [size, in, out], [height, width, in, out] or [depth, height, width, in, out]; raises ValueError for
    other ranks, and where there are more channels in than out.
    """

    def __call__(self, shape, dtype=None, partition_info=None):
        dtype = self._dtype_or(dtype)
        if len(shape) < 3 or len(shape) > 5:
            raise ValueError(
                "The tensor to initialize must be at least three-dimensional and at most five-dimensional"
            )
        *window, inputs, outputs = _sizes(shape)
        _check_filters(inputs, outputs)
        q = self._random_rotation(outputs, dtype, full_matrices=False)[:inputs, :]
        q = q * ops.cast(self.gain, dtype=dtype)
        centre = [(size - 1) // 2 for size in window]
        return ops.scatter_nd([centre], ops.expand_dims(q, 0), shape)


@public("python.ops.init_ops.ConvolutionOrthogonal")
class ConvolutionOrthogonal(_KernelInitializer):
    """Kernels whose convolution, padded in a circle, keeps lengths but for `gain`: algorithm 1 of the paper.

    A kernel of size k is the convolution of k - 1 kernels of size 2, which are made of random projections. Here a
    kernel under way is a dictionary of [out, out] matrices by their place. Raises ValueError for a shape of another
    rank, for more channels in than out, and for a window of unequal sides.
    """

    _rank: int = 0  # of the window

    def __call__(self, shape, dtype=None, partition_info=None):
        if not self._rank:
            raise NotImplementedError
        dtype = self._dtype_or(dtype)
        if len(shape) != self._rank + 2:
            raise ValueError(f"The tensor to initialize must be {_COUNTS[self._rank]}-dimensional")
        *window, inputs, outputs = _sizes(shape)
        _check_filters(inputs, outputs)
        if any(size != window[0] for size in window):
            raise ValueError("Kernel sizes must be equal.")
        return self._kernel(window[0], inputs, outputs) * ops.cast(self.gain, dtype=dtype)

    def _advance(self):
        if self.seed:
            self.seed += 1

    def _projection(self, size):
        """A random symmetric projection: about half of a rotation's columns."""
        q = self._random_rotation(size, self.dtype)
        mask = ops.cast(self._numbers.random_normal([size], seed=self.seed) > 0, self.dtype)
        self._advance()
        columns = ops.mul(q, mask)
        return ops.matmul(columns, ops.matrix_transpose(columns))

    def _small_kernel(self, size):
        """A kernel of size 2."""
        projections = [self._projection(size) for _ in range(self._rank)]
        return self._block(ops.eye(size, dtype=self.dtype), *projections)

    def _block(self, eye, *projections):
        raise NotImplementedError

    def _kernel(self, size, inputs, outputs):
        rotation = self._random_rotation(outputs, self.dtype)[0:inputs, :]
        if size == 1:
            for _ in range(self._rank):
                rotation = ops.expand_dims(rotation, 0)
            return rotation
        kernel = self._small_kernel(outputs)
        for done in range(2, size):
            kernel = self._convolved(kernel, done, self._small_kernel(outputs), outputs)
        places = itertools.product(range(size), repeat=self._rank)
        return _stacked({place: ops.matmul(rotation, kernel[place]) for place in places}, size, self._rank)

    def _convolved(self, kernel, size, small, channels):
        """The convolution of a kernel of `size` with one of size 2."""
        result = {}
        for place in itertools.product(range(size + 1), repeat=self._rank):
            total = ops.zeros([channels, channels], self.dtype)
            for first in itertools.product(*(range(min(size, at + 1)) for at in place)):
                second = tuple(at - start for at, start in zip(place, first, strict=True))
                if max(second) < 2:
                    total = total + ops.matmul(kernel[first], small[second])
            result[place] = total
        return result


def _stacked(kernel, size, rank, place=()):
    if len(place) == rank:
        return kernel[place]
    return ops.stack([_stacked(kernel, size, rank, (*place, at)) for at in range(size)])


@public(
    "contrib.framework.convolutional_orthogonal_1d",
    "python.ops.init_ops.convolutional_orthogonal_1d",
    "python.ops.init_ops.ConvolutionOrthogonal1D",
)
class ConvolutionOrthogonal1D(ConvolutionOrthogonal):
    """Orthogonal kernels [size, in, out] of conv1d."""

    _rank = 1

    def _block(self, eye, p):
        return {(0,): p, (1,): eye - p}


@public(
    "contrib.framework.convolutional_orthogonal_2d",
    "python.ops.init_ops.convolutional_orthogonal_2d",
    "python.ops.init_ops.ConvolutionOrthogonal2D",
)
class ConvolutionOrthogonal2D(ConvolutionOrthogonal):
    """Orthogonal kernels [size, size, in, out] of conv2d."""

    _rank = 2

    def _block(self, eye, p, q):
        return {
            (0, 0): ops.matmul(p, q),
            (0, 1): ops.matmul(p, eye - q),
            (1, 0): ops.matmul(eye - p, q),
            (1, 1): ops.matmul(eye - p, eye - q),
        }


@public(
    "contrib.framework.convolutional_orthogonal_3d",
    "python.ops.init_ops.convolutional_orthogonal_3d",
    "python.ops.init_ops.ConvolutionOrthogonal3D",
)
class ConvolutionOrthogonal3D(ConvolutionOrthogonal):
    """Orthogonal kernels [size, size, size, in, out] of conv3d."""

    _rank = 3

    def _block(self, eye, *projections):
        def factor(is_kept, p):
            # As TensorFlow writes it: the same nodes.
            return is_kept * p + (1 - is_kept) * (eye - p)

        block = {}
        for place in itertools.product((0, 1), repeat=3):
            a, b, c = (factor(at, p) for at, p in zip(place, projections, strict=True))
            block[place] = ops.matmul(ops.matmul(a, b), c)
        return block
