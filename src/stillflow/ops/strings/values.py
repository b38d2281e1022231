"""Strings one by one: StringToNumber, AsString, hashes, StringStrip, StringLength, letters, Base 64, Substr."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

string_to_number = define_op(
    "StringToNumber(string_tensor: string) -> (output: out_type)",
    "out_type: {float32, float64, int32, int64} = float32",
    kernel="string_to_number(string_tensor | out_type)",
    differentiable=False,
)
as_string = define_op(
    "AsString(input: T) -> (output: string)",
    "T: {int8, int16, int32, int64, complex64, complex128, float32, float64, bool}; precision: int = -1; "
    "scientific: bool = false; shortest: bool = false; width: int = -1; fill: string = ''",
    kernel="as_string(input | precision, scientific, shortest, width, fill)",
    differentiable=False,
)
string_to_hash_bucket = define_op(
    "StringToHashBucket(string_tensor: string) -> (output: int64)",
    "num_buckets: int >= 1",
    kernel="string_to_hash_bucket(string_tensor | num_buckets, 'legacy')",
    differentiable=False,
)
string_to_hash_bucket_fast = define_op(
    "StringToHashBucketFast(input: string) -> (output: int64)",
    "num_buckets: int >= 1",
    kernel="string_to_hash_bucket(input | num_buckets, 'fast')",
    differentiable=False,
)
string_to_hash_bucket_strong = define_op(
    "StringToHashBucketStrong(input: string) -> (output: int64)",
    "num_buckets: int >= 1; key: list(int)",
    kernel="string_to_hash_bucket_strong(input | num_buckets, key)",
    differentiable=False,
)
string_strip = define_op(
    "StringStrip(input: string) -> (output: string)",
    kernel="string_strip(input)",
    differentiable=None,
)
string_length = define_op(
    "StringLength(input: string) -> (output: int32)",
    "unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'",
    kernel="string_length(input | unit)",
    differentiable=None,
)
string_lower = define_op(
    "StringLower(input: string) -> (output: string)",
    "encoding: string = ''",
    kernel="string_lower(input | encoding)",
    differentiable=None,
)
string_upper = define_op(
    "StringUpper(input: string) -> (output: string)",
    "encoding: string = ''",
    kernel="string_upper(input | encoding)",
    differentiable=None,
)
encode_base64 = define_op(
    "EncodeBase64(input: string) -> (output: string)",
    "pad: bool = false",
    kernel="encode_base64(input | pad)",
    differentiable=False,
)
decode_base64 = define_op(
    "DecodeBase64(input: string) -> (output: string)",
    kernel="decode_base64(input)",
    differentiable=False,
)
substr = define_op(
    "Substr(input: string, pos: T, len: T) -> (output: string)",
    "T: {int32, int64}; unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'",
    kernel="substr(input, pos, len | unit)",
    differentiable=None,
)


@string_to_number.shape_rule
@as_string.shape_rule
@string_to_hash_bucket.shape_rule
@string_to_hash_bucket_fast.shape_rule
@string_to_hash_bucket_strong.shape_rule
@string_strip.shape_rule
@string_length.shape_rule
@string_lower.shape_rule
@string_upper.shape_rule
@encode_base64.shape_rule
@decode_base64.shape_rule
def _(context):
    return context.shapes[0]


@substr.shape_rule
def _(context):
    text, positions, lengths = context.shapes
    if positions is not None:
        plain.with_rank(lengths, len(positions))
        positions = plain.merged(positions, lengths)
    if text is None or positions is None:
        return None
    longer, shorter = (text, positions) if len(text) >= len(positions) else (positions, text)
    result = list(longer)
    for i, size in enumerate(shorter, len(longer) - len(shorter)):
        if result[i] == 1 or (result[i] is None and size not in (1, None)):
            result[i] = size
        elif size not in (1, None) and size != result[i]:
            raise ShapeError(f"Dimensions must be equal, but are {text[-1]} and {positions[-1]}")
        elif size is None and result[i] is not None and result[i] > 1:
            continue
    return tuple(result)
