"""ReadFile, WriteFile, MatchingFiles."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

read_file = define_op(
    "ReadFile(filename: string) -> (contents: string)",
    kernel="read_file(filename)",
    differentiable=None,
    public="read_file io.read_file",
    doc="What a file holds, a string scalar. tf.errors.NotFoundError if it is not there.",
)
write_file = define_op(
    "WriteFile(filename: string, contents: string) -> ()",
    kernel="write_file(filename, contents)",
    stateful=True,
    differentiable=None,
    public="write_file io.write_file",
    doc="An operation that writes a file, whose directory is made if it is not there.",
)
matching_files = define_op(
    "MatchingFiles(pattern: string) -> (filenames: string)",
    kernel="matching_files(pattern)",
    differentiable=None,
    public="matching_files io.matching_files",
    doc="The names of the files that fit any of the patterns, in alphabetical order.",
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
