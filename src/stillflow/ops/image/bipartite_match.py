"""BipartiteMatch of tf.contrib.image: pairs of rows and columns, the nearest first."""

from __future__ import annotations

from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_bipartite_match = define_op(
    "BipartiteMatch(distance_mat: float32, num_valid_rows: float32) -> "
    "(row_to_col_match_indices: int32, col_to_row_match_indices: int32)",
    "top_k: int = -1",
    kernel="bipartite_match(distance_mat, num_valid_rows | top_k)",
    stateful=True,
    differentiable=False,
)


@_bipartite_match.shape_rule
def _(context):
    rows, columns = plain.with_rank(context.shapes[0], 2)
    return [(rows,), (columns,)]


@public("contrib.image.bipartite_match")
def bipartite_match(distance_mat, num_valid_rows, top_k=-1, name="bipartite_match"):
    """Pairs of rows and columns, each in one pair at most: greedily, the pair of the smallest distance first.

    Args:
      distance_mat: float32 [rows, columns].
      num_valid_rows: float32, one element: only as many rows take part; all, if it is negative.
      top_k: how many pairs at most; as many as there can be if it is not positive.

    Returns:
      (int32 [rows], int32 [columns]): the column of each row and the row of each column, -1 for those without one.
    """
    return _bipartite_match(distance_mat, num_valid_rows, top_k, name=name)
