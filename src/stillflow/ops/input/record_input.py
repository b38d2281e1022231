"""RecordInput: records of files in a random order."""

from __future__ import annotations

from stillflow.ops.registry import define_op

record_input = define_op(
    "RecordInput() -> (records: string)",
    "file_pattern: string; file_random_seed: int = 301; file_shuffle_shift_ratio: float = 0.0; "
    "file_buffer_size: int = 10000; file_parallelism: int = 16; batch_size: int = 32; compression_type: string = ''",
    kernel="record_input(| file_pattern, file_random_seed, file_shuffle_shift_ratio, file_buffer_size, batch_size, "
    "compression_type)",
    state="op",
    stateful=True,
    differentiable=False,
)


@record_input.shape_rule
def _(context):
    return None
