"""ReadFile, WriteFile, MatchingFiles."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

read_file = define_op(
    "ReadFile(filename: string) -> (contents: string)",
    kernel="read_file(filename)",
    differentiable=None,
)
write_file = define_op(
    "WriteFile(filename: string, contents: string) -> ()",
    kernel="write_file(filename, contents)",
    stateful=True,
    differentiable=None,
)
matching_files = define_op(
    "MatchingFiles(pattern: string) -> (filenames: string)",
    kernel="matching_files(pattern)",
    differentiable=None,
)


@read_file.shape_rule
def _(context):
    return plain.with_rank(context.shapes[0], 0)


@write_file.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 0)
    plain.with_rank(context.shapes[1], 0)
    return []


@matching_files.shape_rule
def _(context):
    plain.with_rank_at_most(context.shapes[0], 1)
    return (None,)
