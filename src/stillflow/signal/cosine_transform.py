"""dct and idct: discrete cosine transforms, by Fourier transforms of twice the length."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


def _check(tensor, dct_type, n, axis, norm):
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if dct_type not in (1, 2, 3):
        raise ValueError("Only Types I, II and III (I)DCT are supported.")
    if dct_type == 1:
        if norm == "ortho":
            raise ValueError("Normalization is not supported for the Type-I DCT.")
        if tensor.shape[-1] is not None and tensor.shape[-1] < 2:
            raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def _last_size(tensor):
    return dimension_value(tensor.shape[-1]) or ops.shape(tensor)[-1]


@public("signal.dct", "spectral.dct")
def dct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The discrete cosine transform over the last dimension.

    Args:
      input: a float32 tensor.
      type: 1, 2 or 3, as scipy.fftpack.dct has them.
      n: the length that the dimension is cut off or filled with zeros to.
      axis: -1; others are a NotImplementedError.
      norm: None, or "ortho" for an orthogonal transform (of type 2 or 3).
      name: of the nodes' scope.

    Raises ValueError for other types and norms.
    """
    _check(input, type, n, axis, norm)
    with name_scope(name, "dct", [input]):
        input = convert_to_tensor(input, dtype=dtypes.float32)
        length = _last_size(input)
        if n is not None:
            if n <= length:
                input = input[..., 0:n]
            else:
                paddings = [[0, 0]] * (len(input.shape) - 1) + [[0, n - length]]
                input = ops.pad(input, paddings=convert_to_tensor(paddings, dtype=dtypes.int32))
        size = _last_size(input)
        size_as_float = ops.cast(size, dtypes.float32)
        if type == 1:
            mirrored = ops.concat([input, input[..., -2:0:-1]], axis=-1)
            return ops.real(ops.rfft(mirrored))
        return (_second_type if type == 2 else _third_type)(input, size, size_as_float, norm)


def _second_type(tensor, size, size_as_float, norm):
    angles = -ops.range(size_as_float) * math.pi * 0.5 / size_as_float
    scale = 2.0 * ops.exp(ops.complex(0.0, angles))
    result = ops.real(ops.rfft(tensor, fft_length=[2 * size])[..., :size] * scale)
    if norm == "ortho":
        first = 0.5 * ops.rsqrt(size_as_float)
        others = first * ops.sqrt(2.0)
        result *= ops.pad(ops.expand_dims(first, 0), [[0, size - 1]], constant_values=others)
    return result


def _third_type(tensor, size, size_as_float, norm):
    if norm == "ortho":
        first = ops.sqrt(size_as_float)
        others = first * ops.sqrt(0.5)
        tensor *= ops.pad(ops.expand_dims(first, 0), [[0, size - 1]], constant_values=others)
    else:
        tensor *= size_as_float
    angles = ops.range(size_as_float) * math.pi * 0.5 / size_as_float
    scale = 2.0 * ops.exp(ops.complex(0.0, angles))
    spectrum = scale * ops.complex(tensor, 0.0)
    return ops.real(ops.irfft(spectrum, fft_length=[2 * size]))[..., :size]


@public("signal.idct", "spectral.idct")
def idct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The inverse of `dct` of a type, but for a factor unless `norm` is "ortho"."""
    _check(input, type, n, axis, norm)
    return dct(input, type={1: 1, 2: 3, 3: 2}[type], n=n, axis=axis, norm=norm, name=name)
