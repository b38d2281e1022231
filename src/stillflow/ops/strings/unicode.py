"""Text as code points and in other encodings, and n-grams: UnicodeDecode, UnicodeEncode, UnicodeTranscode, ..."""

from __future__ import annotations

import math

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_ERRORS = "errors: {'strict', 'replace', 'ignore'} = 'replace'; replacement_char: int = 65533"
_SPLITS = "Tsplits: {int32, int64} = int64"
_OUTPUT_ENCODING = "output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}"

unicode_decode = define_op(
    "UnicodeDecode(input: string) -> (row_splits: Tsplits, char_values: int32)",
    f"input_encoding: string; {_ERRORS}; replace_control_characters: bool = false; {_SPLITS}",
    kernel="unicode_decode(input | input_encoding, errors, replacement_char, replace_control_characters, Tsplits)",
    differentiable=None,
)
unicode_decode_with_offsets = define_op(
    "UnicodeDecodeWithOffsets(input: string) -> "
    "(row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64)",
    f"input_encoding: string; {_ERRORS}; replace_control_characters: bool = false; {_SPLITS}",
    kernel="unicode_decode_with_offsets(input | input_encoding, errors, replacement_char, "
    "replace_control_characters, Tsplits)",
    differentiable=None,
)
unicode_encode = define_op(
    "UnicodeEncode(input_values: int32, input_splits: Tsplits) -> (output: string)",
    f"errors: {{'ignore', 'replace', 'strict'}} = 'replace'; {_OUTPUT_ENCODING}; replacement_char: int = 65533; "
    f"{_SPLITS}",
    kernel="unicode_encode(input_values, input_splits | errors, output_encoding, replacement_char)",
    differentiable=None,
)
unicode_transcode = define_op(
    "UnicodeTranscode(input: string) -> (output: string)",
    f"input_encoding: string; {_OUTPUT_ENCODING}; {_ERRORS}; replace_control_characters: bool = false",
    kernel="unicode_transcode(input | input_encoding, output_encoding, errors, replacement_char, "
    "replace_control_characters)",
    differentiable=None,
    public="strings.unicode_transcode",
    doc="""Strings in another encoding.

    Args:
      input: strings.
      input_encoding: UTF-8, UTF-16, UTF-32, these with -BE or -LE, ISO-8859-1 or US-ASCII. TensorFlow knows more.
      output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
      errors: what comes of malformed text: "strict", "replace" or "ignore".
      replacement_char: the code point that takes its place.
      replace_control_characters: whether code points up to U+001F count as malformed.

    Raises:
      At run time tf.errors.InvalidArgumentError for another encoding, and for malformed text if that is strict.
    """,
)
unicode_script = define_op(
    "UnicodeScript(input: int32) -> (output: int32)",
    kernel="unicode_script(input)",
    differentiable=None,
    public="strings.unicode_script",
    doc="""The script that each character belongs to.

    Args:
      input: int32 code points.

    Returns:
      int32 of the same shape: ICU's numbers of scripts (UScriptCode) by Unicode 11, -1 for what is no code point.
    """,
)
string_n_grams = define_op(
    "StringNGrams(data: string, data_splits: Tsplits) -> (ngrams: string, ngrams_splits: Tsplits)",
    "separator: string; ngram_widths: list(int) >= 0; left_pad: string; right_pad: string; pad_width: int; "
    f"preserve_short_sequences: bool; {_SPLITS}",
    kernel="string_ngrams(data, data_splits | separator, ngram_widths, left_pad, right_pad, pad_width, "
    "preserve_short_sequences)",
    differentiable=None,
)


@unicode_decode.shape_rule
@unicode_decode_with_offsets.shape_rule
def _(context):
    dims = context.shapes[0]
    rows = None if dims is None or None in dims else math.prod(dims) + 1
    return [(rows,), *[(None,)] * (len(context.op_def.outputs) - 1)]


@unicode_encode.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 1)
    (size,) = plain.with_rank(context.shapes[1], 1)
    if size == 0:
        raise ShapeError("Negative dimension size caused by subtracting 1 from 0")
    return (None if size is None else size - 1,)


@unicode_transcode.shape_rule
@unicode_script.shape_rule
def _(context):
    return context.shapes[0]


@string_n_grams.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 1)
    return [(None,), plain.with_rank(context.shapes[1], 1)]
