"""CTCGreedyDecoder and CTCBeamSearchDecoder: what scores of classes over time spell most likely."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

ctc_greedy_decoder = define_op(
    "CTCGreedyDecoder(inputs: T, sequence_length: int32) -> "
    "(decoded_indices: int64, decoded_values: int64, decoded_shape: int64, log_probability: T)",
    "merge_repeated: bool = false; T: {float32, float64} = float32",
    kernel="ctc_greedy_decoder(inputs, sequence_length | merge_repeated)",
    differentiable=False,
)
ctc_beam_search_decoder = define_op(
    "CTCBeamSearchDecoder(inputs: T, sequence_length: int32) -> (decoded_indices: top_paths * int64, "
    "decoded_values: top_paths * int64, decoded_shape: top_paths * int64, log_probability: T)",
    "beam_width: int >= 1; top_paths: int >= 1; merge_repeated: bool = true; T: {float32, float64} = float32",
    kernel="ctc_beam_search_decoder(inputs, sequence_length | merge_repeated, beam_width, top_paths)",
    differentiable=False,
)


def _batch(context):
    inputs = plain.with_rank(context.shapes[0], 3)
    lengths = plain.with_rank(context.shapes[1], 1)
    return plain.merged_size(inputs[1], lengths[0])


@ctc_greedy_decoder.shape_rule
def _(context):
    return [(None, 2), (None,), (2,), (_batch(context), 1)]


@ctc_beam_search_decoder.shape_rule
def _(context):
    paths = context.attrs["top_paths"]
    return [(None, 2)] * paths + [(None,)] * paths + [(2,)] * paths + [(_batch(context), paths)]
