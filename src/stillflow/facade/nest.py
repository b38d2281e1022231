"""tf.nest.*: nested structures."""

from stillflow.graph.nest import (
    assert_same_structure as assert_same_structure,
)
from stillflow.graph.nest import flatten as flatten
from stillflow.graph.nest import is_nested as is_nested
from stillflow.graph.nest import map_structure as _map_structure
from stillflow.graph.nest import pack_sequence_as as pack_sequence_as


def map_structure(func, *structure, **kwargs):
    """func(leaf, leaf, ...) for the leaves of structures of one form, in that form.

    Keyword arguments are `check_types` (True) and `expand_composites` (False). Raises ValueError for structures of
    different forms, TypeError for sequences of different types unless not `check_types`.
    """
    unknown = set(kwargs) - {"check_types", "expand_composites"}
    if unknown:
        raise ValueError(
            f"Only valid keyword arguments are `check_types` and `expand_composites`, not: {sorted(unknown)}"
        )
    return _map_structure(func, *structure, **kwargs)
