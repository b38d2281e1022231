"""ScalarSummary, HistogramSummary, ImageSummary, AudioSummaryV2, TensorSummary, TensorSummaryV2, MergeSummary."""

from __future__ import annotations

from stillflow.ops.registry import define_op

_REALS = "{float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32, uint64}"

scalar_summary = define_op(
    "ScalarSummary(tags: string, values: T) -> (summary: string)",
    f"T: {_REALS}",
    kernel="scalar_summary(tags, values)",
    differentiable=False,
)
histogram_summary = define_op(
    "HistogramSummary(tag: string, values: T) -> (summary: string)",
    f"T: {_REALS} = float32",
    kernel="histogram_summary(tag, values)",
    differentiable=False,
)
image_summary = define_op(
    "ImageSummary(tag: string, tensor: T) -> (summary: string)",
    "max_images: int >= 1 = 3; T: {uint8, float32, float16, float64} = float32; "
    "bad_color: tensor = uint8[255, 0, 0, 255]",
    kernel="image_summary(tag, tensor | max_images, bad_color)",
    differentiable=False,
)
audio_summary_v2 = define_op(
    "AudioSummaryV2(tag: string, tensor: float32, sample_rate: float32) -> (summary: string)",
    "max_outputs: int >= 1 = 3",
    kernel="audio_summary(tag, tensor, sample_rate | max_outputs)",
    differentiable=False,
)
tensor_summary_v2 = define_op(
    "TensorSummaryV2(tag: string, tensor: T, serialized_summary_metadata: string) -> (summary: string)",
    "T: type",
    kernel="tensor_summary(tag, tensor, serialized_summary_metadata)",
    differentiable=False,
)
# Its other attributes are kept for whoever reads the graph.
tensor_summary_op = define_op(
    "TensorSummary(tensor: T) -> (summary: string)",
    "T: type; description: string = ''; labels: list(string) = []; display_name: string = ''",
    kernel="named_tensor_summary(tensor | node_name)",
    differentiable=False,
)
merge_summary = define_op(
    "MergeSummary(inputs: N * string) -> (summary: string)",
    "N: int >= 1",
    kernel="merge_summary(inputs)",
    differentiable=False,
)


@scalar_summary.shape_rule
@histogram_summary.shape_rule
@image_summary.shape_rule
@audio_summary_v2.shape_rule
@tensor_summary_v2.shape_rule
@tensor_summary_op.shape_rule
@merge_summary.shape_rule
def _(context):
    return ()
