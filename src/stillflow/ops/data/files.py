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
