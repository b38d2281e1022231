"""DecodeCSV, DecodeRaw, DecodeJSONExample, DecodeCompressed, ParseTensor, SerializeTensor."""

from __future__ import annotations

import itertools

from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

decode_csv_op = define_op(
    "DecodeCSV(records: string, record_defaults: OUT_TYPE) -> (output: OUT_TYPE)",
    "OUT_TYPE: list({float32, float64, int32, int64, string}) >= 1; field_delim: string = ','; "
    "use_quote_delim: bool = true; na_value: string = ''; select_cols: list(int) = []",
    kernel="decode_csv(records, record_defaults | OUT_TYPE, field_delim, use_quote_delim, na_value, select_cols)",
    differentiable=None,
)
decode_raw_op = define_op(
    "DecodeRaw(bytes: string) -> (output: out_type)",
    "out_type: {float16, float32, float64, int32, uint16, uint8, int16, int8, int64, complex64, complex128, bool}; "
    "little_endian: bool = true",
    kernel="decode_raw(bytes | out_type, little_endian)",
    differentiable=False,
)
decode_padded_raw = define_op(
    "DecodePaddedRaw(input_bytes: string, fixed_length: int32) -> (output: out_type)",
    "out_type: {float16, float32, float64, int32, uint16, uint8, int16, int8, int64}; little_endian: bool = true",
    kernel="decode_padded_raw(input_bytes, fixed_length | out_type, little_endian)",
    differentiable=False,
)
decode_json_example = define_op(
    "DecodeJSONExample(json_examples: string) -> (binary_examples: string)",
    kernel="decode_json_example(json_examples)",
    differentiable=None,
    public="decode_json_example io.decode_json_example",
    doc="""Serialized Example messages of their JSON form. tf.errors.InvalidArgumentError for what is none.""",
)
decode_compressed = define_op(
    "DecodeCompressed(bytes: string) -> (output: string)",
    "compression_type: string = ''",
    kernel="decode_compressed(bytes | compression_type)",
    differentiable=None,
    public="decode_compressed io.decode_compressed",
    doc='What compressed strings hold: "ZLIB", "GZIP", or "" for strings as they are.',
)
parse_tensor = define_op(
    "ParseTensor(serialized: string) -> (output: out_type)",
    "out_type: type",
    kernel="parse_tensor(serialized | out_type)",
    differentiable=False,
    public="parse_tensor io.parse_tensor",
    doc="The tensor of a serialized TensorProto. tf.errors.InvalidArgumentError if it is of another type.",
)
serialize_tensor = define_op(
    "SerializeTensor(tensor: T) -> (serialized: string)",
    "T: type",
    kernel="serialize_tensor(tensor)",
    differentiable=False,
    public="serialize_tensor io.serialize_tensor",
    doc="A tensor as a serialized TensorProto.",
)


@decode_csv_op.shape_rule
def _(context):
    records, *defaults = context.shapes
    for dims in defaults:
        plain.with_rank_at_most(dims, 1)
        if dims and dims[0] is not None and dims[0] > 1:
            raise ShapeError("Shape of a default must be a length-0 or length-1 vector, or a scalar.")
    return [records] * len(defaults)


@decode_raw_op.shape_rule
def _(context):
    dims = context.shapes[0]
    return None if dims is None else (*dims, None)


@decode_padded_raw.shape_rule
def _(context):
    dims, length = context.shapes[0], context.value(1)
    plain.with_rank(context.shapes[1], 0)
    size = context.attrs["out_type"].size
    if length is not None and length < 0:
        raise ShapeError(f"Dimension size, given by scalar input 1, must be non-negative but is {length}")
    if length is not None and length % size:
        raise ShapeError(f"Dimension size must be evenly divisible by {size} but is {length}")
    return None if dims is None else (*dims, None if length is None else int(length) // size)


@decode_json_example.shape_rule
@decode_compressed.shape_rule
def _(context):
    return context.shapes[0]


@parse_tensor.shape_rule
def _(context):
    return


@serialize_tensor.shape_rule
def _(context):
    return ()


@public("decode_csv", "io.decode_csv")
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
    if select_cols is not None:
        if any(after <= before for before, after in itertools.pairwise(select_cols)):
            raise ValueError("select_cols is not strictly increasing.")
        if len(select_cols) > 0 and select_cols[0] < 0:
            raise ValueError("select_cols contains negative values.")
        if len(select_cols) != len(record_defaults):
            raise ValueError("Length of select_cols and record_defaults do not match.")
    return decode_csv_op(
        records, record_defaults, field_delim=field_delim, use_quote_delim=use_quote_delim, na_value=na_value,
        select_cols=[] if select_cols is None else list(select_cols), name=name,
    )  # fmt: skip


@public("decode_raw", "io.decode_raw")
def decode_raw(input_bytes=None, out_type=None, little_endian=True, name=None, bytes=None):
    """The bytes of strings of one size as numbers, in a further dimension; `bytes` is an older name."""
    input_bytes = renamed("input_bytes", input_bytes, "bytes", bytes)
    return decode_raw_op(input_bytes, out_type=out_type, little_endian=little_endian, name=name)
