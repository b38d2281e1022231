"""Data sets of what is in files."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.data.declare import define_dataset


def _define(name, inputs, kernel):
    arguments = [part.split(":")[0].strip() for part in inputs.split(",")]
    op = define_dataset(
        name, f"filenames: string, {inputs}", f"{kernel}(filenames, {', '.join(arguments)})", attrs="", stateful=True
    )

    @op.shape_rule
    def _(context):
        plain.with_rank_at_most(context.shapes[0], 1)
        for shape in context.shapes[1:]:
            plain.with_rank(shape, 0)
        return ()

    return op


text_line_dataset = _define("TextLineDataset", "compression_type: string, buffer_size: int64", "text_line_dataset")
tf_record_dataset = _define("TFRecordDataset", "compression_type: string, buffer_size: int64", "tf_record_dataset")

_LENGTHS = "header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64"
fixed_length_record_dataset = _define("FixedLengthRecordDataset", _LENGTHS, "fixed_length_record_dataset")
fixed_length_record_dataset_v2 = _define(
    "FixedLengthRecordDatasetV2", f"{_LENGTHS}, compression_type: string", "fixed_length_record_dataset_v2"
)


def _define_csv(name):
    op = define_dataset(
        name,
        "filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, "
        "use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: output_types",
        "csv_dataset(filenames, compression_type, buffer_size, header, field_delim, use_quote_delim, na_value, "
        "select_cols, record_defaults | output_types, output_shapes)",
        attrs="output_types: list({float32, float64, int32, int64, string}) >= 1; output_shapes: list(shape) >= 1",
        stateful=True,
    )

    @op.shape_rule
    def _(context):
        filenames, *scalars = context.shapes[:7]
        plain.with_rank_at_most(filenames, 1)
        for shape in scalars:
            plain.with_rank(shape, 0)
        plain.with_rank(context.shapes[7], 1)
        for shape in context.shapes[8:]:
            plain.with_rank_at_most(shape, 1)
        return ()

    return op


csv_dataset = _define_csv("CSVDataset")
experimental_csv_dataset = _define_csv("ExperimentalCSVDataset")
