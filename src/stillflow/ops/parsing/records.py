"""DecodeCSV, DecodeRaw, DecodeJSONExample, DecodeCompressed, ParseTensor, SerializeTensor."""

from __future__ import annotations

import itertools

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

decode_csv_op = define_op(
    "DecodeCSV(records: string, record_defaults: OUT_TYPE) -> (output: OUT_TYPE)",
    "OUT_TYPE: list({float32, float64, int32, int64, string}) >= 1; field_delim: string = ','; "
    "use_quote_delim: bool = true; na_value: string = ''; select_cols: list(int) = []",
    kernel="decode_csv(records, record_defaults | OUT_TYPE, field_delim, use_quote_delim, na_value, select_cols)",
    differentiable=None,
)
decode_raw = define_op(
    "DecodeRaw(bytes: string) -> (output: out_type)",
    "out_type: {float16, float32, float64, int32, uint16, uint8, int16, int8, int64, complex64, complex128, bool}; "
    "little_endian: bool = true",
    kernel="decode_raw(bytes | out_type, little_endian)",
    differentiable=False,
)
decode_json_example = define_op(
    "DecodeJSONExample(json_examples: string) -> (binary_examples: string)",
    kernel="decode_json_example(json_examples)",
    differentiable=None,
)
decode_compressed = define_op(
    "DecodeCompressed(bytes: string) -> (output: string)",
    "compression_type: string = ''",
    kernel="decode_compressed(bytes | compression_type)",
    differentiable=None,
)
parse_tensor = define_op(
    "ParseTensor(serialized: string) -> (output: out_type)",
    "out_type: type",
    kernel="parse_tensor(serialized | out_type)",
    differentiable=False,
)
serialize_tensor = define_op(
    "SerializeTensor(tensor: T) -> (serialized: string)",
    "T: type",
    kernel="serialize_tensor(tensor)",
    differentiable=False,
)


@decode_csv_op.shape_rule
def _(context):
    records, *defaults = context.shapes
    for dims in defaults:
        plain.with_rank_at_most(dims, 1)
        if dims and dims[0] is not None and dims[0] > 1:
            raise ShapeError("Shape of a default must be a length-0 or length-1 vector, or a scalar.")
    return [records] * len(defaults)


@decode_raw.shape_rule
def _(context):
    dims = context.shapes[0]
    return None if dims is None else (*dims, None)


@decode_json_example.shape_rule
@decode_compressed.shape_rule
def _(context):
    return context.shapes[0]


@parse_tensor.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 0)
    return


@serialize_tensor.shape_rule
def _(context):
    return ()


def decode_csv(
    records, record_defaults, field_delim=",", use_quote_delim=True, name=None, na_value="", select_cols=None
):
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
