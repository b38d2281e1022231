"""tf.*: strings."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import strings
from stillflow.facade.arguments import renamed
from stillflow.graph import dtypes

__all__ = [
    "as_string",
    "decode_base64",
    "encode_base64",
    "reduce_join",
    "regex_replace",
    "string_join",
    "string_split",
    "string_strip",
    "string_to_hash_bucket",
    "string_to_hash_bucket_fast",
    "string_to_hash_bucket_strong",
    "string_to_number",
    "substr",
]


def string_join(inputs, separator="", name=None):
    """Strings of several tensors put together, element by element; scalars go with every element."""
    return ops.string_join(inputs, separator=separator, name=name)


def string_split(source, sep=None, skip_empty=True, delimiter=None, result_type="SparseTensor", name=None):
    """Strings cut at each character of `sep`, by default at spaces; `delimiter` is its older name.

    Returns a SparseTensor with a row of parts for each string of the vector `source`; "" cuts them into bytes.
    """
    sep = renamed("sep", sep, "delimiter", delimiter)
    return strings.string_split(source, " " if sep is None else sep, skip_empty, result_type, name)


def string_to_number(string_tensor=None, out_type=dtypes.float32, name=None, input=None):
    """The numbers that strings spell: float32, float64, int32 or int64. tf.errors.InvalidArgumentError for others."""
    string_tensor = renamed("input", input, "string_tensor", string_tensor)
    return ops.string_to_number(string_tensor, out_type=out_type, name=name)


def as_string(input, precision=-1, scientific=False, shortest=False, width=-1, fill="", name=None):
    """Numbers as text.

    Args:
      input: a tensor of numbers or truth values.
      precision: how many digits stand after the point.
      scientific, shortest: the form of floats: with an exponent, or the shorter of both.
      width: how wide the text is at least.
      fill: what fills it up: " ", "0"; "-" moves it to the left, "+" shows its sign.
    """
    return ops.as_string(
        input, precision=precision, scientific=scientific, shortest=shortest, width=width, fill=fill, name=name
    )


def substr(input, pos, len, name=None, unit="BYTE"):
    """`len` bytes, or characters for `unit` "UTF8_CHAR", of each string from `pos` on; negative ones from the end."""
    return ops.substr(input, pos, len, unit=unit, name=name)


def string_strip(input, name=None):
    """Strings without the white space around them."""
    return ops.string_strip(input, name=name)


def string_to_hash_bucket(string_tensor=None, num_buckets=None, name=None, input=None):
    """Which of `num_buckets` each string belongs to, by a hash that TensorFlow keeps for old programs."""
    string_tensor = renamed("input", input, "string_tensor", string_tensor)
    return ops.string_to_hash_bucket(string_tensor, num_buckets=num_buckets, name=name)


def string_to_hash_bucket_fast(input, num_buckets, name=None):
    """Which of `num_buckets` each string belongs to, by FarmHash."""
    return ops.string_to_hash_bucket_fast(input, num_buckets=num_buckets, name=name)


def string_to_hash_bucket_strong(input, num_buckets, key, name=None):
    """Which of `num_buckets` each string belongs to, by SipHash with a `key` of two numbers."""
    return ops.string_to_hash_bucket_strong(input, num_buckets=num_buckets, key=key, name=name)


def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    r"""Strings with other text in place of what a regular expression matches.

    Args:
      input: strings.
      pattern: a regular expression as RE2 has them, without backtracking: a string, or a scalar tensor.
      rewrite: what to put there: \1 to \9 are groups of the match, \0 all of it.
      replace_global: whether to replace all matches, or the first.

    Raises:
      At run time tf.errors.InvalidArgumentError for a pattern that is wrong.
    """
    return ops.regex_replace(input, pattern, rewrite, replace_global, name)


def reduce_join(inputs, axis=None, keep_dims=None, separator="", name=None, reduction_indices=None, keepdims=None):
    """Strings joined over the dimensions `axis`, the first of them fastest; by default over all.

    `keepdims` keeps them with size 1; `keep_dims` and `reduction_indices` are older names.
    """
    keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    return strings.reduce_join(inputs, axis, bool(keepdims), separator, name)


def encode_base64(input, pad=False, name=None):
    """Bytes in the alphabet of Base 64 that is safe in addresses; `pad` fills up with "="."""
    return ops.encode_base64(input, pad=pad, name=name)


def decode_base64(input, name=None):
    """The bytes that strings in that alphabet stand for. tf.errors.InvalidArgumentError for other strings."""
    return ops.decode_base64(input, name=name)
