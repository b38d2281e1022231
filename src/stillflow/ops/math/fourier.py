"""Discrete Fourier transforms: FFT, RFFT and their inverses over one to three dimensions, and shifts of spectra."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import ShapeError, partial_constant, value_as_dims
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.math.elementwise_unary import unchanged_shape
from stillflow.ops.registry import define_op

# ---- Complex transforms -----------------------------------------------------------------------------------


def _transform(name, rank, is_inverse, public, doc):
    op = define_op(
        f"{name}(input: Tcomplex) -> (output: Tcomplex)",
        "Tcomplex: {complex64, complex128} = complex64",
        kernel=f"fft(input | {rank}, {int(is_inverse)})",
        state="op",
        public=public,
        doc=doc,
    )

    @op.shape_rule
    def _(context):
        plain.with_rank_at_least(context.shapes[0], rank)
        return unchanged_shape(context)

    return op


fft = _transform(
    "FFT", 1, False, public="signal.fft spectral.fft fft",
    doc="The discrete Fourier transform over the last dimension.",
)  # fmt: skip
ifft = _transform(
    "IFFT", 1, True, public="signal.ifft spectral.ifft ifft",
    doc="The inverse discrete Fourier transform over the last dimension.",
)  # fmt: skip
fft2d = _transform(
    "FFT2D", 2, False, public="signal.fft2d spectral.fft2d fft2d",
    doc="The discrete Fourier transform over the last two dimensions.",
)  # fmt: skip
ifft2d = _transform(
    "IFFT2D", 2, True, public="signal.ifft2d spectral.ifft2d ifft2d",
    doc="The inverse discrete Fourier transform over the last two dimensions.",
)  # fmt: skip
fft3d = _transform(
    "FFT3D", 3, False, public="signal.fft3d spectral.fft3d fft3d",
    doc="The discrete Fourier transform over the last three dimensions.",
)  # fmt: skip
ifft3d = _transform(
    "IFFT3D", 3, True, public="signal.ifft3d spectral.ifft3d ifft3d",
    doc="The inverse discrete Fourier transform over the last three dimensions.",
)  # fmt: skip


def _size(grad, rank):
    """How many elements are transformed together."""
    return ops.reduce_prod(ops.shape(grad)[-rank:])


def _transform_gradients(forward, inverse, rank):
    @forward.gradient
    def _(op, grad):
        size = ops.cast(_size(grad, rank), grad.dtype)
        return inverse(grad) * size

    @inverse.gradient
    def _(op, grad):
        factor = ops.cast(1.0 / ops.cast(_size(grad, rank), grad.dtype.real_dtype), grad.dtype)
        return forward(grad) * factor


_transform_gradients(fft, ifft, 1)
_transform_gradients(fft2d, ifft2d, 2)
_transform_gradients(fft3d, ifft3d, 3)


# ---- Transforms of real numbers ---------------------------------------------------------------------------


def _real_transform(name, rank, is_forward):
    source, target = ("float32", "complex64") if is_forward else ("complex64", "float32")
    op = define_op(
        f"{name}(input: {source}, fft_length: int32) -> (output: {target})",
        kernel=f"{'rfft' if is_forward else 'irfft'}(input, fft_length | {rank})",
        state="op",
        differentiable=None if rank == 3 else True,
    )

    @op.shape_rule
    def _(context):
        dims = plain.with_rank_at_least(context.shapes[0], rank)
        length_dims = plain.with_rank(context.shapes[1], 1)
        if length_dims[0] not in (None, rank):
            raise ShapeError(f"Dimension must be {rank} but is {length_dims[0]}")
        if dims is None:
            return None
        lengths = context.value(1)
        made: list = [None] * rank if lengths is None else [int(length) for length in lengths]
        if is_forward and made[-1]:
            made[-1] = made[-1] // 2 + 1
        return (*dims[:-rank], *made)

    return op


rfft_op, irfft_op = _real_transform("RFFT", 1, True), _real_transform("IRFFT", 1, False)
rfft2d_op, irfft2d_op = _real_transform("RFFT2D", 2, True), _real_transform("IRFFT2D", 2, False)
rfft3d_op, irfft3d_op = _real_transform("RFFT3D", 3, True), _real_transform("IRFFT3D", 3, False)


def _lengths(tensor, rank, is_forward):
    """The sizes of the last dimensions of what is transformed or of what results."""
    sizes = tensor.shape[-rank:]
    if sizes.is_fully_defined():
        sizes = sizes.as_list()
        if sizes and not is_forward:
            sizes[-1] = max(0, 2 * (sizes[-1] - 1))
        return convert_to_tensor(sizes, dtypes.int32)
    sizes = ops.shape(tensor)[-rank:]
    if is_forward:
        return sizes
    sizes = ops.unstack(sizes)
    sizes[-1] = ops.maximum(0, 2 * (sizes[-1] - 1))
    return ops.stack(sizes)


def _padded(tensor, rank, lengths, is_forward):
    """The tensor with zeros behind dimensions that are shorter than what is transformed of them."""
    wanted = value_as_dims(partial_constant(lengths))
    dims = tensor._dims
    if dims is not None and 0 in dims:
        return tensor
    if wanted is not None and None not in wanted and dims is not None:
        sizes = dims[-len(wanted) :]
        if None not in sizes:
            if not is_forward:
                wanted = (*wanted[:-1], wanted[-1] // 2 + 1)
            paddings = [[0, max(length - size, 0)] for length, size in zip(wanted, sizes, strict=False)]
            if not any(after for _, after in paddings):
                return tensor
            return ops.pad(tensor, [[0, 0]] * max(len(dims) - len(wanted), 0) + paddings)
    tensor_rank = ops.rank(tensor)
    sizes = ops.shape(tensor)[-rank:]
    outer = ops.maximum(0, tensor_rank - rank)
    outer_paddings = ops.zeros([outer], lengths.dtype)
    if not is_forward:
        lengths = ops.concat([lengths[:-1], lengths[-1:] // 2 + 1], 0)
    paddings = ops.concat([outer_paddings, ops.maximum(0, lengths - sizes)], 0)
    return ops.pad(tensor, ops.stack([ops.zeros_like(paddings), paddings], axis=1))


def _transformed(op, rank, is_forward, tensor, lengths, name):
    source = dtypes.float32 if is_forward else dtypes.complex64
    default_name = op.op_def.name.lower()
    with name_scope(name, default_name, [tensor, lengths]) as scope:
        tensor = convert_to_tensor(tensor, source)
        tensor.shape.with_rank_at_least(rank)
        if lengths is None:
            lengths = _lengths(tensor, rank, is_forward)
        else:
            lengths = convert_to_tensor(lengths, dtypes.int32)
        tensor = _padded(tensor, rank, lengths, is_forward)
        return op(tensor, lengths, name=scope)


@public("signal.rfft", "spectral.rfft")
def rfft(input_tensor, fft_length=None, name=None):
    """The discrete Fourier transform of real numbers over the last dimension.

    Args:
      input_tensor: a float32 tensor.
      fft_length: int32[1], the length of the transform; the input is cut off or followed by zeros.
      name: of the node.

    Returns:
      A complex64 tensor whose last dimension has fft_length / 2 + 1 elements: the others are their conjugates.
    """
    return _transformed(rfft_op, 1, True, input_tensor, fft_length, name)


@public("signal.irfft", "spectral.irfft")
def irfft(input_tensor, fft_length=None, name=None):
    """The inverse of `rfft`: a float32 tensor of a complex64 one.

    Args:
      input_tensor: a complex64 tensor with the first fft_length / 2 + 1 elements of each spectrum.
      fft_length: int32[1], the length of the result; by default 2 (n - 1) of a last dimension of n.
      name: of the node.
    """
    return _transformed(irfft_op, 1, False, input_tensor, fft_length, name)


@public("signal.rfft2d", "spectral.rfft2d")
def rfft2d(input_tensor, fft_length=None, name=None):
    """`rfft` over the last two dimensions, of int32[2] lengths."""
    return _transformed(rfft2d_op, 2, True, input_tensor, fft_length, name)


@public("signal.irfft2d", "spectral.irfft2d")
def irfft2d(input_tensor, fft_length=None, name=None):
    """`irfft` over the last two dimensions, of int32[2] lengths."""
    return _transformed(irfft2d_op, 2, False, input_tensor, fft_length, name)


@public("signal.rfft3d", "spectral.rfft3d")
def rfft3d(input_tensor, fft_length=None, name=None):
    """`rfft` over the last three dimensions, of int32[3] lengths. Has no gradient."""
    return _transformed(rfft3d_op, 3, True, input_tensor, fft_length, name)


@public("signal.irfft3d", "spectral.irfft3d")
def irfft3d(input_tensor, fft_length=None, name=None):
    """`irfft` over the last three dimensions, of int32[3] lengths. Has no gradient."""
    return _transformed(irfft3d_op, 3, False, input_tensor, fft_length, name)


# ---- Gradients of transforms of real numbers --------------------------------------------------------------


def _alternating(length):
    """1, -1, 1, ... as complex64: e^(-pi i n)."""
    return ops.cast(1 - 2 * (ops.range(length) % 2), dtypes.complex64)


def _transform_matrix(length):
    """e^(-2 pi i j k / length) for all j and k below it."""
    rows = ops.tile(ops.expand_dims(ops.range(length), 0), (length, 1))
    columns = ops.transpose(rows, [1, 0])
    return ops.exp(-2j * math.pi * ops.cast(rows * columns, dtypes.complex64) / ops.cast(length, dtypes.complex64))


def _for_each_batch(matrix, tensor):
    """The matrix, repeated over all but the last two dimensions of the tensor."""
    expanded = ops.reshape(matrix, ops.concat([ops.ones([ops.rank(tensor) - 2], dtypes.int32), ops.shape(matrix)], 0))
    return ops.tile(expanded, ops.concat([ops.shape(tensor)[:-2], [1, 1]], 0))


def _terms_of_rows(grad, is_even, input_shape):
    """What elements 0 and length / 2, which have no conjugates beside them, contribute once more."""
    first = grad[..., 0:1]
    last = grad[..., -1:]
    return first + is_even * last * _alternating(input_shape[-1])


def _terms_of_images(grad, is_even, input_shape):
    first = grad[..., 0:1]
    matrix = _transform_matrix(input_shape[-2])
    matrices = _for_each_batch(matrix, first)
    terms = ops.matmul(matrices, ops.conj(first))
    last = grad[..., -1:]
    last_term = ops.matmul(matrices, ops.conj(last))
    width = input_shape[-1]
    repeats = ops.concat([ops.ones([ops.rank(grad) - 1], dtypes.int32), [width]], 0)
    last_term = ops.tile(last_term, repeats) * _alternating(width)
    return terms + is_even * last_term


def _forward_gradient(rank, inverse, extra_terms):
    def gradient(op, grad):
        lengths = op._inputs[1]
        input_shape = ops.shape(op._inputs[0])
        is_even = ops.cast(1 - (lengths[-1] % 2), dtypes.complex64)
        extra = extra_terms(grad, is_even, input_shape)
        size = ops.cast(_size(op._inputs[0], rank), dtypes.float32)
        transformed = inverse(grad, lengths)
        return 0.5 * (transformed * size + ops.real(extra)), None

    return gradient


def _inverse_gradient(rank, forward):
    def gradient(op, grad):
        lengths = op._inputs[1]
        is_odd = ops.floor_mod(lengths[-1], 2)
        count = ops.shape(op._inputs[0])[-1]
        mask = ops.concat([[1.0], 2.0 * ops.ones([count - 2 + is_odd]), ops.ones([1 - is_odd])], 0)
        factor = ops.reciprocal(ops.cast(_size(grad, rank), dtypes.float32))
        transformed = forward(grad, lengths)
        return transformed * ops.cast(factor * mask, dtypes.complex64), None

    return gradient


rfft_op.gradient(_forward_gradient(1, irfft, _terms_of_rows))
rfft2d_op.gradient(_forward_gradient(2, irfft2d, _terms_of_images))
irfft_op.gradient(_inverse_gradient(1, rfft))
irfft2d_op.gradient(_inverse_gradient(2, rfft2d))


# ---- Shifts -----------------------------------------------------------------------------------------------


def _shifted(x, axes, name, default_name, amount):
    with name_scope(name, default_name) as scope:
        x = convert_to_tensor(x)
        if axes is None:
            axes = tuple(range(x.shape.ndims))
            shift = [amount(size) for size in x.shape.as_list()]
        elif isinstance(axes, int):
            shift = amount(x.shape.as_list()[axes])
        else:
            sizes = x.shape.as_list()
            shift = [amount(sizes[axis]) for axis in axes]
        return ops.roll(x, shift, axes, scope)


@public("signal.fftshift")
def fftshift(x, axes=None, name=None):
    """A spectrum with frequency 0 in the middle, along `axes`: an integer or several, by default all."""
    return _shifted(x, axes, name, "fftshift", lambda size: int(size // 2))


@public("signal.ifftshift")
def ifftshift(x, axes=None, name=None):
    """The inverse of `fftshift`."""
    return _shifted(x, axes, name, "ifftshift", lambda size: -int(size // 2))
