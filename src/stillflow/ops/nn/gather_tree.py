"""GatherTree: the beams of a beam search, from the symbols and parents of each step."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

gather_tree = define_op(
    "GatherTree(step_ids: T, parent_ids: T, max_sequence_lengths: int32, end_token: T) -> (beams: T)",
    "T: {int32}",
    kernel="gather_tree(step_ids, parent_ids, max_sequence_lengths, end_token)",
    differentiable=False,
    public="contrib.seq2seq.gather_tree",
    doc="""The beams of a beam search.

Args:
  step_ids: int32 [time, batch, beam], the symbols of each step.
  parent_ids: int32 [time, batch, beam], which beam of the step before each one goes on from.
  max_sequence_lengths: int32 [batch], the number of steps of the longest beam.
  end_token: an int32 scalar, which stands for all that comes after it, and after the longest beam.

Returns int32 [time, batch, beam]: step_ids, each beam followed back from its end.

Raises InvalidArgumentError, when it is run, for a parent that there is not.""",
)


@gather_tree.shape_rule
def _(context):
    symbols, parents = (plain.with_rank(shape, 3) for shape in context.shapes[:2])
    lengths = plain.with_rank(context.shapes[2], 1)
    plain.with_rank(context.shapes[3], 0)
    beams = plain.merged(symbols, parents)
    return beams if lengths is None else plain.merged(beams, (None, lengths[0], None))
