"""tf.strings."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import strings as _strings
from stillflow.facade.arguments import renamed as _renamed
from stillflow.facade.string_names import (
    as_string,
    reduce_join,
    regex_replace,
    substr,
)
from stillflow.facade.string_names import string_join as join
from stillflow.facade.string_names import string_strip as strip
from stillflow.facade.string_names import string_to_hash_bucket as to_hash_bucket
from stillflow.facade.string_names import string_to_hash_bucket_fast as to_hash_bucket_fast
from stillflow.facade.string_names import string_to_hash_bucket_strong as to_hash_bucket_strong
from stillflow.facade.string_names import string_to_number as to_number
from stillflow.ops.strings.print import string_format as format


def split(input=None, sep=None, maxsplit=-1, result_type="SparseTensor", source=None, name=None):
    """Strings cut at `sep`, or at white space, as Python's str.split does; `source` is an older name of `input`.

    Returns a SparseTensor with a row of parts for each string of the vector `input`.
    """
    input = _renamed("input", input, "source", source)
    return _strings.split(input, sep, maxsplit, result_type, name)


def length(input, name=None, unit="BYTE"):
    """How many bytes, or characters for `unit` "UTF8_CHAR", each string has."""
    return ops.string_length(input, unit=unit, name=name)


def regex_full_match(input, pattern, name=None):
    """Whether a regular expression matches the whole of each string; see regex_replace."""
    return ops.regex_full_match(input, pattern, name)


def lower(input, encoding="", name=None):
    """Strings in lower case: the letters of ASCII, or all of them for the `encoding` "utf-8"."""
    return ops.string_lower(input, encoding=encoding, name=name)


def upper(input, encoding="", name=None):
    """Strings in upper case: the letters of ASCII, or all of them for the `encoding` "utf-8"."""
    return ops.string_upper(input, encoding=encoding, name=name)


def unsorted_segment_join(inputs, segment_ids, num_segments, separator="", name=None):
    """Strings of each segment joined, in their order."""
    return ops.unsorted_segment_join(inputs, segment_ids, num_segments, separator=separator, name=name)
