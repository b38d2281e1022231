"""GenerateVocabRemapping and LoadAndRemapMatrix: a checkpoint's matrix for a vocabulary that has changed."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

generate_vocab_remapping = define_op(
    "GenerateVocabRemapping(new_vocab_file: string, old_vocab_file: string) -> "
    "(remapping: int64, num_present: int32)",
    "new_vocab_offset: int >= 0; num_new_vocab: int >= 0; old_vocab_size: int >= -1 = -1",
    kernel="generate_vocab_remapping(new_vocab_file, old_vocab_file | new_vocab_offset, num_new_vocab, "
    "old_vocab_size)",
    differentiable=False,
)
load_and_remap_matrix = define_op(
    "LoadAndRemapMatrix(ckpt_path: string, old_tensor_name: string, row_remapping: int64, col_remapping: int64, "
    "initializing_values: float32) -> (output_matrix: float32)",
    "num_rows: int >= 0; num_cols: int >= 1; max_rows_in_memory: int = -1",
    kernel="load_and_remap_matrix(ckpt_path, old_tensor_name, row_remapping, col_remapping, initializing_values | "
    "num_rows, num_cols)",
    stateful=True,
    differentiable=False,
)


@generate_vocab_remapping.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 0)
    plain.with_rank(context.shapes[1], 0)
    return [(context.attrs["num_new_vocab"],), ()]


@load_and_remap_matrix.shape_rule
def _(context):
    plain.with_rank(context.shapes[2], 1)
    plain.with_rank(context.shapes[3], 1)
    return (context.attrs["num_rows"], context.attrs["num_cols"])
