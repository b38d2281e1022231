"""Matrices of checkpoints in the order of new vocabularies, and initializers of variables that take them."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.initializers import TruncatedNormal, Zeros


@public("contrib.framework.load_and_remap_matrix", "python.training.checkpoint_ops._load_and_remap_matrix")
def load_and_remap_matrix(
    ckpt_path, old_tensor_name, new_row_vocab_offset, num_rows_to_load, new_col_vocab_size, initializer,
    old_row_vocab_size=-1, old_row_vocab_file=None, new_row_vocab_file=None, old_col_vocab_file=None,
    new_col_vocab_file=None, num_row_oov_buckets=0, num_col_oov_buckets=0, max_rows_in_memory=-1,
):  # fmt: skip
    """Rows of a matrix of a checkpoint, in the order of new vocabularies of its rows, its columns or both.

    Args:
      ckpt_path: the checkpoint.
      old_tensor_name: the name of the matrix in it.
      new_row_vocab_offset: the first entry of the new row vocabulary that is asked for.
      num_rows_to_load: how many of its entries are.
      new_col_vocab_size: how many columns there are to be.
      initializer: called with the shape of what is not in the checkpoint.
      old_row_vocab_size: how many entries of the old row vocabulary count; -1 for all.
      old_row_vocab_file, new_row_vocab_file: an entry on each line; None where rows keep their order.
      old_col_vocab_file, new_col_vocab_file: the same for columns.
      num_row_oov_buckets, num_col_oov_buckets: how many rows and columns come after those of the vocabularies.
      max_rows_in_memory: how many rows to read at a time.

    Returns:
      float32 of shape [num_rows_to_load + num_row_oov_buckets, new_col_vocab_size + num_col_oov_buckets].

    Raises:
      ValueError: for numbers below 0, for one of two files without the other, and without any file.
    """
    for axis, count in (("row", num_row_oov_buckets), ("col", num_col_oov_buckets)):
        if count < 0:
            raise ValueError(f"num_{axis}_oov_buckets must be >= 0, but received {count}")
    row_files, column_files = (new_row_vocab_file, old_row_vocab_file), (new_col_vocab_file, old_col_vocab_file)
    for axis, (new, old) in (("row", row_files), ("col", column_files)):
        if _is_given(new) != _is_given(old):
            raise ValueError(
                f"old_{axis}_vocab_file and new_{axis}_vocab_file must both be specified or left unspecified. "
                f"old_{axis}_vocab_file='{old}', new_{axis}_vocab_file='{new}'"
            )
    if not (_is_given(new_row_vocab_file) or _is_given(new_col_vocab_file)):
        raise ValueError(
            "Must provide either row or column vocab files. If no remapping is necessary, consider using "
            "`tf.contrib.framework.init_from_checkpoint` instead."
        )
    rows_present, columns_present = num_rows_to_load, new_col_vocab_size
    columns: list = []
    if _is_given(new_row_vocab_file):
        rows, rows_present = ops.generate_vocab_remapping(
            *row_files, new_vocab_offset=new_row_vocab_offset, num_new_vocab=num_rows_to_load,
            old_vocab_size=old_row_vocab_size,
        )  # fmt: skip
    else:
        rows = ops.range(new_row_vocab_offset, new_row_vocab_offset + num_rows_to_load, dtype=dtypes.int64)
    if _is_given(new_col_vocab_file):
        columns, columns_present = ops.generate_vocab_remapping(
            *column_files, new_vocab_offset=0, num_new_vocab=new_col_vocab_size
        )
    missing = initializer([num_rows_to_load * new_col_vocab_size - rows_present * columns_present, 1])
    found = ops.load_and_remap_matrix(
        ckpt_path=ckpt_path,
        old_tensor_name=old_tensor_name,
        row_remapping=rows,
        col_remapping=columns,
        initializing_values=missing,
        num_rows=num_rows_to_load,
        num_cols=new_col_vocab_size,
        max_rows_in_memory=max_rows_in_memory,
    )
    if num_row_oov_buckets:
        more = convert_to_tensor(initializer([num_row_oov_buckets, new_col_vocab_size]))
        found = ops.concat([found, more], axis=0)
    if num_col_oov_buckets:
        more = convert_to_tensor(initializer([num_rows_to_load + num_row_oov_buckets, num_col_oov_buckets]))
        found = ops.concat([found, more], axis=1)
    return found


def _is_given(file):
    return file is not None and not (isinstance(file, str) and not file)


@public(
    "contrib.framework.load_and_remap_matrix_initializer",
    "python.training.checkpoint_ops._load_and_remap_matrix_initializer",
)
def remapped_matrix_initializer(
    ckpt_path, old_tensor_name, new_row_vocab_size, new_col_vocab_size, old_row_vocab_size=-1,
    old_row_vocab_file=None, new_row_vocab_file=None, old_col_vocab_file=None, new_col_vocab_file=None,
    num_row_oov_buckets=0, num_col_oov_buckets=0, initializer=None, max_rows_in_memory=-1,
):  # fmt: skip
    """An initializer of a matrix, or of parts of one that is cut along its rows: see load_and_remap_matrix.

    Args:
      new_row_vocab_size, new_col_vocab_size: how many rows and columns the new vocabularies have.
      initializer: of what is not in the checkpoint; zeros by default.

    Raises TypeError for an initializer that cannot be called. The result raises TypeError for other types than
    float32, and ValueError for a shape that does not fit.
    """
    if initializer is None:
        initializer = Zeros()
    if not callable(initializer):
        raise TypeError(f"initializer must be callable, instead of being {initializer} of type {type(initializer)}.")

    def initialize(shape, dtype=dtypes.float32, partition_info=None):
        if dtype != dtypes.float32:
            raise TypeError(f"Currently, only float32 is supported. Received dtype: {dtype}")
        _check_columns(shape, new_col_vocab_size, num_col_oov_buckets)
        offset = 0 if partition_info is None else partition_info.single_offset(shape)
        total = new_row_vocab_size + num_row_oov_buckets
        if offset + shape[0] > total:
            raise ValueError(
                f"Trying to initialize {shape[0]} additional rows after {offset} rows have already been initialized, "
                f"which would exceed expected total row count of new_row_vocab_size ({new_row_vocab_size}) + "
                f"num_row_oov_buckets ({num_row_oov_buckets}) = {total}."
            )
        if offset > new_row_vocab_size:
            return initializer(shape)
        oov_rows = min(shape[0], max(0, offset + shape[0] - new_row_vocab_size))
        return load_and_remap_matrix(
            ckpt_path, old_tensor_name, offset, shape[0] - oov_rows, new_col_vocab_size, initializer,
            old_row_vocab_size, old_row_vocab_file, new_row_vocab_file, old_col_vocab_file, new_col_vocab_file,
            oov_rows, num_col_oov_buckets, max_rows_in_memory,
        )  # fmt: skip

    return initialize


def _check_columns(shape, columns, oov_columns):
    if len(shape) != 2:
        raise ValueError(f"Expected 2-dim shape, but received: {shape}")
    if shape[0] <= 0:
        raise ValueError(f"Expected 1st dim of shape to be > 0, but received shape: {shape}")
    if shape[1] != columns + oov_columns:
        raise ValueError(
            f"Expected 2nd dim of shape to be new_col_vocab_size ({columns}) + num_col_oov_buckets "
            f"({oov_columns}) = {columns + oov_columns}, but received shape: {shape}"
        )


@public("contrib.framework.load_linear_multiclass_bias_initializer")
def bias_initializer(
    ckpt_path, bias_tensor_name, new_class_vocab_size, old_class_vocab_file, new_class_vocab_file,
    num_class_oov_buckets=0, initializer=None, max_rows_in_memory=-1,
):  # fmt: skip
    """remapped_matrix_initializer of biases of classes, a matrix of one column."""
    return remapped_matrix_initializer(
        ckpt_path, bias_tensor_name, new_class_vocab_size, 1, old_row_vocab_file=old_class_vocab_file,
        new_row_vocab_file=new_class_vocab_file, num_row_oov_buckets=num_class_oov_buckets, initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )  # fmt: skip


@public("contrib.framework.load_variable_slot_initializer")
def slot_initializer(
    ckpt_path, old_tensor_name, primary_partition_info, new_row_vocab_size, new_col_vocab_size,
    old_row_vocab_file=None, new_row_vocab_file=None, old_col_vocab_file=None, new_col_vocab_file=None,
    num_row_oov_buckets=0, num_col_oov_buckets=0, initializer=None, max_rows_in_memory=-1,
):  # fmt: skip
    """remapped_matrix_initializer of an optimizer's slot, which is cut as its variable is.

    Args:
      primary_partition_info: says which part of the variable the slot belongs to.
    """
    of_matrix = remapped_matrix_initializer(
        ckpt_path, old_tensor_name, new_row_vocab_size, new_col_vocab_size, old_row_vocab_file=old_row_vocab_file,
        new_row_vocab_file=new_row_vocab_file, old_col_vocab_file=old_col_vocab_file,
        new_col_vocab_file=new_col_vocab_file, num_row_oov_buckets=num_row_oov_buckets,
        num_col_oov_buckets=num_col_oov_buckets, initializer=initializer, max_rows_in_memory=max_rows_in_memory,
    )  # fmt: skip

    def initialize(shape, dtype=dtypes.float32, partition_info=None):
        return of_matrix(shape, dtype, partition_info=primary_partition_info)

    return initialize


@public("contrib.framework.load_embedding_initializer", "python.training.checkpoint_ops._load_embedding_initializer")
def embedding_initializer(
    ckpt_path, embedding_tensor_name, new_vocab_size, embedding_dim, old_vocab_file, new_vocab_file,
    old_vocab_size=-1, num_oov_buckets=0, initializer=None, max_rows_in_memory=-1,
):  # fmt: skip
    """remapped_matrix_initializer of embeddings: new ones are normal, of variance 1/embedding_dim, by default."""
    if initializer is None:
        initializer = TruncatedNormal(stddev=1.0 / math.sqrt(embedding_dim))
    return remapped_matrix_initializer(
        ckpt_path, embedding_tensor_name, new_vocab_size, embedding_dim, old_vocab_size, old_vocab_file,
        new_vocab_file, num_row_oov_buckets=num_oov_buckets, initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )  # fmt: skip
