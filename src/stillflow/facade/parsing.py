"""tf.*: bytes and texts parsed, files read and written."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.parsing import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
    parse_example,
    parse_single_example,
    parse_single_sequence_example,
)
from stillflow.facade.arguments import renamed

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "SparseFeature",
    "VarLenFeature",
    "decode_compressed",
    "decode_csv",
    "decode_json_example",
    "decode_raw",
    "matching_files",
    "parse_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "parse_tensor",
    "read_file",
    "serialize_tensor",
    "write_file",
]


def decode_csv(
    records, record_defaults, field_delim=",", use_quote_delim=True, name=None, na_value="", select_cols=None
):
    """Lines of fields as columns.

    Args:
      records: strings, each of them a line.
      record_defaults: a tensor for each column, whose type is the column's: its one element stands for missing
        fields; without elements the field has to be there.
      field_delim: the character between fields.
      use_quote_delim: whether quotation marks may stand around a field.
      na_value: what stands for a missing field, beside the empty one.
      select_cols: the numbers of the columns wanted, ascending; by default all.

    Returns:
      A list of tensors of the shape of `records`.

    Raises:
      ValueError: if `select_cols` does not ascend, or has another length than `record_defaults`.
      At run time tf.errors.InvalidArgumentError for records of another number of fields, and fields that are no
      number of their column's type.
    """
    return ops.decode_csv(records, record_defaults, field_delim, use_quote_delim, name, na_value, select_cols)


def decode_raw(input_bytes=None, out_type=None, little_endian=True, name=None, bytes=None):
    """The bytes of strings of one size as numbers, in a further dimension; `bytes` is an older name."""
    input_bytes = renamed("input_bytes", input_bytes, "bytes", bytes)
    return ops.decode_raw(input_bytes, out_type=out_type, little_endian=little_endian, name=name)


def decode_json_example(json_examples, name=None):
    """Serialized Example messages of their JSON form. tf.errors.InvalidArgumentError for what is none."""
    return ops.decode_json_example(json_examples, name=name)


def decode_compressed(bytes, compression_type="", name=None):
    """What compressed strings hold: "ZLIB", "GZIP", or "" for strings as they are."""
    return ops.decode_compressed(bytes, compression_type=compression_type, name=name)


def parse_tensor(serialized, out_type, name=None):
    """The tensor that a serialized TensorProto holds. tf.errors.InvalidArgumentError if it is of another type."""
    return ops.parse_tensor(serialized, out_type=out_type, name=name)


def serialize_tensor(tensor, name=None):
    """A tensor as a serialized TensorProto."""
    return ops.serialize_tensor(tensor, name=name)


def read_file(filename, name=None):
    """What a file holds, a string scalar. tf.errors.NotFoundError if it is not there."""
    return ops.read_file(filename, name=name)


def write_file(filename, contents, name=None):
    """An operation that writes a file, whose directory is made if it is not there."""
    return ops.write_file(filename, contents, name=name)


def matching_files(pattern, name=None):
    """The names of the files that fit any of the patterns, in alphabetical order."""
    return ops.matching_files(pattern, name=name)
