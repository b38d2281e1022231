"""An initializer of variables that takes a matrix from a checkpoint, in the order of a new vocabulary."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.initializers import Zeros


class RemappedMatrix:
    """Initializes a matrix, or a part of one that is cut along its rows, from a matrix of a checkpoint.

    Args:
      ckpt_path: the checkpoint.
      old_tensor_name: the name of the matrix in it.
      size: how many rows and columns the new vocabulary has; the axis without a vocabulary keeps its size.
      axis: the axis that the vocabulary is of.
      old_vocab_file, new_vocab_file: its files: an entry on each line.
      old_vocab_size: how many entries of the old vocabulary count; -1 for all.
      oov_buckets: how many rows or columns come after those of the vocabulary.
      initializer: of what was not in the old vocabulary; zeros by default.

    Raises TypeError for an initializer that cannot be called.
    """

    def __init__(
        self, ckpt_path, old_tensor_name, size, axis, old_vocab_file, new_vocab_file, old_vocab_size, oov_buckets,
        initializer,
    ):  # fmt: skip
        if initializer is None:
            initializer = Zeros()
        if not callable(initializer):
            raise TypeError(
                f"initializer must be callable, instead of being {initializer} of type {type(initializer)}."
            )
        if oov_buckets < 0:
            raise ValueError(f"num_{('row', 'col')[axis]}_oov_buckets must be >= 0, but received {oov_buckets}")
        self._ckpt_path = ckpt_path
        self._name = old_tensor_name
        self._rows, self._columns = size
        self._axis = axis
        self._files = new_vocab_file, old_vocab_file
        self._old_vocab_size = old_vocab_size
        self._oov = (oov_buckets, 0) if axis == 0 else (0, oov_buckets)
        self._initializer = initializer

    def __call__(self, shape, dtype=dtypes.float32, partition_info=None):
        """The tensor for a part. Raises TypeError for other types, and ValueError for a shape that does not fit."""
        if dtype != dtypes.float32:
            raise TypeError(f"Currently, only float32 is supported. Received dtype: {dtype}")
        offset = 0 if partition_info is None else partition_info.single_offset(shape)
        self._check(shape, offset)
        oov_rows = min(shape[0], max(0, offset + shape[0] - self._rows))
        rows = shape[0] - oov_rows
        if offset > self._rows:
            return self._initializer(shape)
        found = self._loaded(offset, rows)
        if oov_rows:
            found = ops.concat([found, self._initial([oov_rows, self._columns])], axis=0)
        if self._oov[1]:
            found = ops.concat([found, self._initial([shape[0], self._oov[1]])], axis=1)
        return found

    def _check(self, shape, offset):
        if len(shape) != 2:
            raise ValueError(f"Expected 2-dim shape, but received: {shape}")
        if shape[0] <= 0:
            raise ValueError(f"Expected 1st dim of shape to be > 0, but received shape: {shape}")
        wanted = self._columns + self._oov[1]
        if shape[1] != wanted:
            raise ValueError(
                f"Expected 2nd dim of shape to be new_col_vocab_size ({self._columns}) + num_col_oov_buckets "
                f"({self._oov[1]}) = {wanted}, but received shape: {shape}"
            )
        total = self._rows + self._oov[0]
        if offset + shape[0] > total:
            raise ValueError(
                f"Trying to initialize {shape[0]} additional rows after {offset} rows have already been initialized, "
                f"which would exceed expected total row count of new_row_vocab_size ({self._rows}) + "
                f"num_row_oov_buckets ({self._oov[0]}) = {total}."
            )

    def _initial(self, shape):
        return convert_to_tensor(self._initializer(shape))

    def _loaded(self, offset, rows):
        """The rows from `offset`, without those and the columns that come after the vocabulary."""
        columns: list = []
        rows_present, columns_present = rows, self._columns
        if self._axis == 0:
            row_numbers, rows_present = ops.generate_vocab_remapping(
                *self._files, new_vocab_offset=offset, num_new_vocab=rows, old_vocab_size=self._old_vocab_size
            )
        else:
            row_numbers = ops.range(offset, offset + rows, dtype=dtypes.int64)
            columns, columns_present = ops.generate_vocab_remapping(
                *self._files, new_vocab_offset=0, num_new_vocab=self._columns
            )
        missing = self._initializer([rows * self._columns - rows_present * columns_present, 1])
        return ops.load_and_remap_matrix(
            ckpt_path=self._ckpt_path,
            old_tensor_name=self._name,
            row_remapping=row_numbers,
            col_remapping=columns,
            initializing_values=missing,
            num_rows=rows,
            num_cols=self._columns,
        )
