"""SummaryWriter, CreateSummaryFileWriter and the Write...Summary ops: event files that nodes write."""

from __future__ import annotations

from stillflow.ops.registry import define_op

_REALS = "{float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32, uint64}"


def _define(signature, attrs, kernel):
    op = define_op(f"{signature} -> ()", attrs, kernel=kernel, stateful=True, differentiable=False)
    op.shape_rule(lambda context: [])
    return op


summary_writer = define_op(
    "SummaryWriter() -> (writer: resource)",
    "shared_name: string = ''; container: string = ''",
    kernel="summary_writer(| 'resource', container, shared_name, node_name)",
    state="op",
    stateful=True,
    differentiable=False,
)


@summary_writer.shape_rule
def _(context):
    return ()


create_summary_file_writer = _define(
    "CreateSummaryFileWriter(writer: resource, logdir: string, max_queue: int32, flush_millis: int32, "
    "filename_suffix: string)",
    "",
    "create_summary_file_writer(writer, logdir, max_queue, flush_millis, filename_suffix)",
)
flush_summary_writer = _define("FlushSummaryWriter(writer: resource)", "", "flush_summary_writer(writer)")
close_summary_writer = _define("CloseSummaryWriter(writer: resource)", "", "close_summary_writer(writer)")
write_summary = _define(
    "WriteSummary(writer: resource, step: int64, tensor: T, tag: string, summary_metadata: string)",
    "T: type",
    "write_summary(writer, step, tensor, tag, summary_metadata)",
)
write_raw_proto_summary = _define(
    "WriteRawProtoSummary(writer: resource, step: int64, tensor: string)",
    "",
    "write_raw_proto_summary(writer, step, tensor)",
)
import_event = _define("ImportEvent(writer: resource, event: string)", "", "import_event(writer, event)")
write_scalar_summary = _define(
    "WriteScalarSummary(writer: resource, step: int64, tag: string, value: T)",
    f"T: {_REALS}",
    "write_scalar_summary(writer, step, tag, value)",
)
write_histogram_summary = _define(
    "WriteHistogramSummary(writer: resource, step: int64, tag: string, values: T)",
    f"T: {_REALS} = float32",
    "write_histogram_summary(writer, step, tag, values)",
)
write_image_summary = _define(
    "WriteImageSummary(writer: resource, step: int64, tag: string, tensor: T, bad_color: uint8)",
    "max_images: int >= 1 = 3; T: {uint8, float32, float16} = float32",
    "write_image_summary(writer, step, tag, tensor, bad_color | max_images)",
)
write_audio_summary = _define(
    "WriteAudioSummary(writer: resource, step: int64, tag: string, tensor: float32, sample_rate: float32)",
    "max_outputs: int >= 1 = 3",
    "write_audio_summary(writer, step, tag, tensor, sample_rate | max_outputs)",
)
write_graph_summary = _define(
    "WriteGraphSummary(writer: resource, step: int64, tensor: string)",
    "",
    "write_graph_summary(writer, step, tensor)",
)
