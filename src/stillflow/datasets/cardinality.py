"""How many elements a dataset has."""

from __future__ import annotations

from stillflow import ops
from stillflow.names import public

INFINITE = public("data.experimental.INFINITE_CARDINALITY", "python.data.experimental.ops.cardinality.INFINITE")(-1)
UNKNOWN = public("data.experimental.UNKNOWN_CARDINALITY", "python.data.experimental.ops.cardinality.UNKNOWN")(-2)


@public("data.experimental.cardinality")
def cardinality(dataset):
    """The number of elements of a dataset, as a scalar of int64.

    It is INFINITE_CARDINALITY for a dataset without an end, and UNKNOWN_CARDINALITY where only a pass over the
    dataset would show it, as behind `filter` or `flat_map`.
    """
    return ops.experimental_dataset_cardinality(dataset._variant_tensor)
