"""LinearOperatorCirculant to 3D: products with circulant matrices, of which the Fourier transform is diagonal."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.linear_operators.base import LinearOperator
from stillflow.linear_operators.diag import assert_no_entries_with_modulus_zero, assert_zero_imag_part
from stillflow.linear_operators.matrices import broadcast_batches, rotate_transpose
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor

_TRANSFORMS = {1: (ops.fft, ops.ifft), 2: (ops.fft2d, ops.ifft2d), 3: (ops.fft3d, ops.ifft3d)}


@public("python.ops.linalg.linear_operator_circulant._BaseLinearOperatorCirculant")
class CirculantOperator(LinearOperator):
    """F^-1 diag(spectrum) F, with F the discrete Fourier transform of as many dimensions as `block_depth` says.

    Args:
      spectrum: a tensor [..., n_1, ..., n_block_depth]; the matrix has n_1 * ... * n_block_depth rows.
      block_depth: 1, 2 or 3.
      input_output_dtype: of what the operator is multiplied with. A real one is right where the spectrum is
        Hermitian; what is imaginary in a product is dropped.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised; see LinearOperator.

    Raises:
      ValueError: for another depth, a spectrum of fewer dimensions, or hints that are wrong for it.
    """

    def __init__(
        self,
        spectrum,
        block_depth,
        input_output_dtype=dtypes.complex64,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name="LinearOperatorCirculant",
    ):
        if block_depth not in _TRANSFORMS:
            raise ValueError(f"Expected block_depth to be in {list(_TRANSFORMS)}.  Found: {block_depth}.")
        self._block_depth = block_depth
        with name_scope(name, values=[spectrum]):
            self._spectrum = spectrum = convert_to_tensor(spectrum, name="spectrum")
            if spectrum.shape.rank is not None and spectrum.shape.rank < block_depth:
                raise ValueError(f"Argument spectrum must have at least {block_depth} dimensions.  Found: {spectrum}")
            if not spectrum.dtype.is_complex:
                if is_self_adjoint is False:
                    raise ValueError("A real spectrum always corresponds to a self-adjoint operator.")
                is_self_adjoint = True
            if is_square is False:
                raise ValueError("A [[nested] block] circulant operator is always square.")
            self._block_shape_tensor = ops.shape(spectrum)[-block_depth:]
            self._spectrum_complex = to_complex(spectrum)
            self._abs_spectrum = ops.abs(spectrum)
            self._conj_spectrum = ops.conj(self._spectrum_complex)
            super().__init__(
                dtypes.as_dtype(input_output_dtype),
                [spectrum],
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=True,
                name=name,
            )

    @property
    def block_depth(self):
        """How many dimensions the transform has."""
        return self._block_depth

    @property
    def spectrum(self):
        return self._spectrum

    @property
    def block_shape(self):
        """The static shape of the transform."""
        return self._spectrum.shape[-self._block_depth :]

    def block_shape_tensor(self):
        """The shape of the transform, as a tensor of int32."""
        return self._block_shape_tensor

    def convolution_kernel(self, name="convolution_kernel"):
        """The first column of the matrix as an array of the transform's shape: its inverse transform."""
        with self._name_scope(name):
            return ops.cast(self._inverse_transform(self._spectrum_complex), self.dtype)

    def assert_hermitian_spectrum(self, name="assert_hermitian_spectrum"):
        """An operation that fails unless the kernel is real, up to rounding errors."""
        eps = np.finfo(self.dtype.real_dtype.as_numpy_dtype).eps
        with self._name_scope(name):
            largest = eps * self.domain_dimension_tensor()
            imaginary = ops.imag(self.convolution_kernel())
            return checks.assert_comparison(
                "assert_less", ops.abs(imaginary), largest, message="Spectrum was not Hermitian"
            )

    # ---- Shapes ---------------------------------------------------------------------------------------------

    def _shape(self):
        sizes = self.block_shape
        size = int(np.prod(sizes.as_list())) if sizes.is_fully_defined() else None
        return self._spectrum.shape[: -self._block_depth].concatenate(TensorShape([size, size]))

    def _shape_tensor(self):
        shape = ops.shape(self._spectrum)
        batch = shape[: -self._block_depth]
        size = ops.reduce_prod(shape[-self._block_depth :])
        return ops.concat((batch, [size, size]), 0)

    def _as_blocks(self, matrix):
        """Columns [..., n, k] as arrays [k, ..., n_1, ..., n_block_depth]."""
        columns = rotate_transpose(matrix, shift=1)
        if columns.shape.is_fully_defined() and self.block_shape.is_fully_defined():
            shape = columns.shape[:-1].concatenate(self.block_shape)
        else:
            shape = ops.concat((ops.shape(columns)[:-1], self.block_shape_tensor()), 0)
        return ops.reshape(columns, shape)

    def _as_columns(self, blocks):
        """The inverse of `_as_blocks`."""
        if blocks.shape.is_fully_defined():
            sizes = blocks.shape.as_list()
            shape = [*sizes[: -self._block_depth], int(np.prod(sizes[-self._block_depth :]))]
        else:
            sizes = ops.shape(blocks)
            batch = sizes[: -self._block_depth]
            shape = ops.concat((batch, [ops.reduce_prod(sizes[-self._block_depth :])]), 0)
        return rotate_transpose(ops.reshape(blocks, shape), shift=-1)

    # ---- Products and solutions -----------------------------------------------------------------------------

    def _transform(self, x):
        return _TRANSFORMS[self._block_depth][0](to_complex(x))

    def _inverse_transform(self, x):
        return _TRANSFORMS[self._block_depth][1](to_complex(x))

    def _with_equal_batches(self, x, spectrum):
        """A tensor [..., n, k] and the spectrum, with the batch dimensions of both."""
        as_matrix = ops.reshape(spectrum, ops.concat((self.batch_shape_tensor(), [-1, 1]), axis=0))
        x, as_matrix = broadcast_batches((x, as_matrix))
        shape = ops.concat((ops.shape(x)[:-2], self.block_shape_tensor()), axis=0)
        return x, ops.reshape(as_matrix, shape)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = ops.adjoint(x) if adjoint_arg else x
        spectrum = self._conj_spectrum if adjoint else self._spectrum_complex
        x, spectrum = self._with_equal_batches(ops.cast(x, spectrum.dtype), spectrum)
        blocks = self._inverse_transform(spectrum * self._transform(self._as_blocks(x)))
        return ops.cast(self._as_columns(blocks), self.dtype)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = ops.adjoint(rhs) if adjoint_arg else rhs
        spectrum = self._conj_spectrum if adjoint else self._spectrum_complex
        rhs, spectrum = self._with_equal_batches(rhs, spectrum)
        blocks = self._inverse_transform(self._transform(self._as_blocks(rhs)) / spectrum)
        return ops.cast(self._as_columns(blocks), self.dtype)

    # ---- Numbers and assertions -----------------------------------------------------------------------------

    @property
    def _axes(self):
        return [-(i + 1) for i in range(self._block_depth)]

    def _determinant(self):
        return ops.cast(ops.reduce_prod(self._spectrum, axis=self._axes), self.dtype)

    def _log_abs_determinant(self):
        return ops.cast(ops.reduce_sum(ops.log(self._abs_spectrum), axis=self._axes), self.dtype)

    def _diag_part(self):
        if self.shape.is_fully_defined():
            shape, size = self.shape[:-1], self.domain_dimension.value
        else:
            shape, size = self.shape_tensor()[:-1], self.domain_dimension_tensor()
        ones = ops.ones(shape, dtype=self.dtype)
        value = self.trace() / ops.cast(size, self.dtype)
        return value[..., None] * ones

    def _trace(self):
        if self._spectrum.shape.is_fully_defined():
            rank = self._spectrum.shape.rank
            axis = np.arange(rank - self._block_depth, rank, dtype=np.int32)
        else:
            rank = ops.rank(self._spectrum)
            axis = ops.range(rank - self._block_depth, rank)
        real = ops.reduce_sum(ops.real(self._spectrum), axis=axis)
        if not self.dtype.is_complex:
            return ops.cast(real, self.dtype)
        if self.is_self_adjoint:
            imaginary = ops.zeros_like(real)
        else:
            imaginary = ops.reduce_sum(ops.imag(self._spectrum), axis=axis)
        return ops.cast(ops.complex(real, imaginary), self.dtype)

    def _assert_non_singular(self):
        return assert_no_entries_with_modulus_zero(
            self._spectrum, "Singular operator:  Spectrum contained zero values."
        )

    def _assert_positive_definite(self):
        return checks.assert_sign(
            "assert_positive",
            ops.real(self._spectrum),
            message="Not positive definite:  Real part of spectrum was not all positive.",
        )

    def _assert_self_adjoint(self):
        return assert_zero_imag_part(
            self._spectrum, "Not self-adjoint:  The spectrum contained non-zero imaginary part."
        )


@public("python.ops.linalg.linear_operator_circulant._to_complex")
def to_complex(x):
    """A tensor as one of complex numbers of its precision."""
    if x.dtype.is_complex:
        return x
    return ops.cast(x, dtypes.complex128 if x.dtype == dtypes.float64 else dtypes.complex64)


@public("linalg.LinearOperatorCirculant")
class LinearOperatorCirculant(CirculantOperator):
    """A circulant matrix: each column is the one before, moved down by one place, as a convolution does.

    Args:
      spectrum: a tensor [..., n], the Fourier transform of the kernel, which is the first column.
      input_output_dtype: of what the operator is multiplied with; see CirculantOperator.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised; see LinearOperator.

    Raises:
      ValueError: for a spectrum of fewer dimensions, or hints that are wrong for it.
    """

    def __init__(
        self,
        spectrum,
        input_output_dtype=dtypes.complex64,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name="LinearOperatorCirculant",
    ):
        super().__init__(
            spectrum,
            1,
            input_output_dtype=input_output_dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
            name=name,
        )


@public("linalg.LinearOperatorCirculant2D")
class LinearOperatorCirculant2D(CirculantOperator):
    """A circulant matrix of circulant blocks: a convolution of two dimensions.

    Args:
      spectrum: a tensor [..., n_1, n_2], the Fourier transform of the kernel, which is the first column.
      input_output_dtype: of what the operator is multiplied with; see CirculantOperator.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised; see LinearOperator.

    Raises:
      ValueError: for a spectrum of fewer dimensions, or hints that are wrong for it.
    """

    def __init__(
        self,
        spectrum,
        input_output_dtype=dtypes.complex64,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name="LinearOperatorCirculant2D",
    ):
        super().__init__(
            spectrum,
            2,
            input_output_dtype=input_output_dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
            name=name,
        )


@public("linalg.LinearOperatorCirculant3D")
class LinearOperatorCirculant3D(CirculantOperator):
    """A circulant matrix of circulant blocks of such blocks: a convolution of three dimensions.

    Args:
      spectrum: a tensor [..., n_1, n_2, n_3], the Fourier transform of the kernel, which is the first column.
      input_output_dtype: of what the operator is multiplied with; see CirculantOperator.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised; see LinearOperator.

    Raises:
      ValueError: for a spectrum of fewer dimensions, or hints that are wrong for it.
    """

    def __init__(
        self,
        spectrum,
        input_output_dtype=dtypes.complex64,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name="LinearOperatorCirculant3D",
    ):
        super().__init__(
            spectrum,
            3,
            input_output_dtype=input_output_dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
            name=name,
        )
