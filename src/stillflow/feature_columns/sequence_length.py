"""How long the sequences in a sparse tensor are."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public


@public("python.feature_column.utils.sequence_length_from_sparse_tensor")
def sequence_length_from_sparse_tensor(sp_tensor, num_elements=1):
    """For each row one more than the last place that has an entry, divided by `num_elements`: int64 [batch]."""
    with name_scope(None, "sequence_length") as scope:
        rows = sp_tensor.indices[:, 0]
        columns = sp_tensor.indices[:, 1]
        columns += ops.ones_like(columns)
        lengths = ops.segment_max(columns, segment_ids=rows)
        lengths = ops.cast(ops.ceil(lengths / num_elements), dtypes.int64)
        # Rows at the end without an entry are no segments.
        missing = ops.shape(sp_tensor)[:1] - ops.shape(lengths)[:1]
        padding = ops.zeros(missing, dtype=lengths.dtype)
        return ops.concat([lengths, padding], axis=0, name=scope)
