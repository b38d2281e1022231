"""Strings one by one: StringToNumber, AsString, hashes, StringStrip, StringLength, letters, Base 64, Substr."""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops import dims as plain
from stillflow.ops.dispatch import dispatched
from stillflow.ops.registry import define_op

string_to_number_op = define_op(
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
    public="as_string strings.as_string dtypes.as_string",
    doc="""Numbers as text.

    Args:
      input: a tensor of numbers or truth values.
      precision: how many digits stand after the point.
      scientific, shortest: the form of floats: with an exponent, or the shorter of both.
      width: how wide the text is at least.
      fill: what fills it up: " ", "0"; "-" moves it to the left, "+" shows its sign.
    """,
)
string_to_hash_bucket_op = define_op(
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
    public="string_to_hash_bucket_fast strings.to_hash_bucket_fast",
    doc="Which of `num_buckets` each string belongs to, by FarmHash.",
)
string_to_hash_bucket_strong = define_op(
    "StringToHashBucketStrong(input: string) -> (output: int64)",
    "num_buckets: int >= 1; key: list(int)",
    kernel="string_to_hash_bucket_strong(input | num_buckets, key)",
    differentiable=False,
    public="string_to_hash_bucket_strong strings.to_hash_bucket_strong",
    doc="Which of `num_buckets` each string belongs to, by SipHash with a `key` of two numbers.",
)
string_strip = define_op(
    "StringStrip(input: string) -> (output: string)",
    kernel="string_strip(input)",
    differentiable=None,
    public="string_strip strings.strip",
    doc="Strings without the white space around them.",
)
string_length_op = define_op(
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
    public="strings.lower",
    doc='Strings in lower case: the letters of ASCII, or all of them for the `encoding` "utf-8".',
)
string_upper = define_op(
    "StringUpper(input: string) -> (output: string)",
    "encoding: string = ''",
    kernel="string_upper(input | encoding)",
    differentiable=None,
    public="strings.upper",
    doc='Strings in upper case: the letters of ASCII, or all of them for the `encoding` "utf-8".',
)
encode_base64 = define_op(
    "EncodeBase64(input: string) -> (output: string)",
    "pad: bool = false",
    kernel="encode_base64(input | pad)",
    differentiable=False,
    public="encode_base64 io.encode_base64",
    doc='Bytes in the alphabet of Base 64 that is safe in addresses; `pad` fills up with "=".',
)
decode_base64 = define_op(
    "DecodeBase64(input: string) -> (output: string)",
    kernel="decode_base64(input)",
    differentiable=False,
    public="decode_base64 io.decode_base64",
    doc="""The bytes that strings in that alphabet stand for. tf.errors.InvalidArgumentError for other strings.""",
)
substr_op = define_op(
    "Substr(input: string, pos: T, len: T) -> (output: string)",
    "T: {int32, int64}; unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'",
    kernel="substr(input, pos, len | unit)",
    differentiable=None,
)


@string_to_number_op.shape_rule
@as_string.shape_rule
@string_to_hash_bucket_op.shape_rule
@string_to_hash_bucket_fast.shape_rule
@string_to_hash_bucket_strong.shape_rule
@string_strip.shape_rule
@string_length_op.shape_rule
@string_lower.shape_rule
@string_upper.shape_rule
@encode_base64.shape_rule
@decode_base64.shape_rule
def _(context):
    return context.shapes[0]


@substr_op.shape_rule
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


@public("string_to_number", "strings.to_number")
@dispatched
def string_to_number(string_tensor=None, out_type=dtypes.float32, name=None, input=None):
    """The numbers that strings spell: float32, float64, int32 or int64. tf.errors.InvalidArgumentError for others."""
    string_tensor = renamed("input", input, "string_tensor", string_tensor)
    return string_to_number_op(string_tensor, out_type=out_type, name=name)


@public("string_to_hash_bucket", "strings.to_hash_bucket")
@dispatched
def string_to_hash_bucket(string_tensor=None, num_buckets=None, name=None, input=None):
    """Which of `num_buckets` each string belongs to, by a hash that TensorFlow keeps for old programs."""
    string_tensor = renamed("input", input, "string_tensor", string_tensor)
    return string_to_hash_bucket_op(string_tensor, num_buckets=num_buckets, name=name)


@public("substr", "strings.substr")
@dispatched
def substr(input, pos, len, name=None, unit="BYTE"):
    """`len` bytes, or characters for `unit` "UTF8_CHAR", of each string from `pos` on; negative ones from the end."""
    return substr_op(input, pos, len, unit=unit, name=name)


@public("strings.length")
@dispatched
def string_length(input, name=None, unit="BYTE"):
    """How many bytes, or characters for `unit` "UTF8_CHAR", each string has."""
    return string_length_op(input, unit=unit, name=name)
