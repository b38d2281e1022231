"""Strings and what is parsed and serialized, as TensorFlow 2 spells it."""

from __future__ import annotations

import stillflow as tf
from stillflow.graph import dtypes
from stillflow.names import public


@public("compat.v2.io.decode_csv")
def decode_csv(
    records, record_defaults, field_delim=",", use_quote_delim=True, na_value="", select_cols=None, name=None
):
    """tf.io.decode_csv."""
    return tf.io.decode_csv(
        records=records,
        record_defaults=record_defaults,
        field_delim=field_delim,
        use_quote_delim=use_quote_delim,
        na_value=na_value,
        select_cols=select_cols,
        name=name,
    )


@public("compat.v2.io.parse_example")
def parse_example(serialized, features, example_names=None, name=None):
    """tf.io.parse_example."""
    return tf.io.parse_example(serialized=serialized, features=features, example_names=example_names, name=name)


@public("compat.v2.io.parse_single_example")
def parse_single_example(serialized, features, example_names=None, name=None):
    """tf.io.parse_single_example."""
    return tf.io.parse_single_example(
        serialized=serialized, features=features, example_names=example_names, name=name
    )


@public("compat.v2.io.serialize_many_sparse")
def serialize_many_sparse(sp_input, out_type=dtypes.string, name=None):
    """tf.io.serialize_many_sparse."""
    return tf.io.serialize_many_sparse(sp_input=sp_input, out_type=out_type, name=name)


@public("compat.v2.io.serialize_sparse")
def serialize_sparse(sp_input, out_type=dtypes.string, name=None):
    """tf.io.serialize_sparse."""
    return tf.io.serialize_sparse(sp_input=sp_input, out_type=out_type, name=name)


@public("compat.v2.strings.length")
def length(input, unit="BYTE", name=None):
    """tf.strings.length."""
    return tf.strings.length(input=input, unit=unit, name=name)


@public("compat.v2.strings.reduce_join")
def reduce_join(inputs, axis=None, keepdims=False, separator="", name=None):
    """tf.strings.reduce_join."""
    return tf.strings.reduce_join(inputs=inputs, axis=axis, keepdims=keepdims, separator=separator, name=name)


@public("compat.v2.strings.split", "python.ops.ragged.ragged_string_ops.string_split_v2")
def split(input, sep=None, maxsplit=-1, name=None):
    """tf.strings.split."""
    return tf.strings.split(input=input, sep=sep, maxsplit=maxsplit, name=name, result_type="RaggedTensor")


@public("compat.v2.strings.substr")
def substr(input, pos, len, unit="BYTE", name=None):
    """tf.strings.substr."""
    return tf.strings.substr(input=input, pos=pos, len=len, unit=unit, name=name)


@public("compat.v2.strings.to_hash_bucket")
def to_hash_bucket(input, num_buckets, name=None):
    """tf.strings.to_hash_bucket."""
    return tf.strings.to_hash_bucket(input=input, num_buckets=num_buckets, name=name)


@public("compat.v2.strings.to_number")
def to_number(input, out_type=dtypes.float32, name=None):
    """tf.strings.to_number."""
    return tf.strings.to_number(input=input, out_type=out_type, name=name)


@public("compat.v2.io.decode_raw", "python.ops.parsing_ops.decode_raw")
def decode_raw(input_bytes, out_type, little_endian=True, fixed_length=None, name=None):
    """The bytes of strings as numbers, in a further dimension.

    Args:
      input_bytes: strings, all of one size unless `fixed_length` is given.
      out_type: the type of the numbers.
      little_endian: whether the lowest byte of a number comes first.
      fixed_length: how many bytes of each string to take; shorter ones go on with zeros.
      name: of the node.
    """
    if fixed_length is None:
        return tf.io.decode_raw(input_bytes, out_type, little_endian=little_endian, name=name)
    return tf.raw_ops.DecodePaddedRaw(
        input_bytes=input_bytes, fixed_length=fixed_length, out_type=out_type, little_endian=little_endian, name=name
    )
