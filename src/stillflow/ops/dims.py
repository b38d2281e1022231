"""Arithmetic on plain shapes, for shape rules: None is an unknown rank or size. Misfits raise ShapeError."""

from __future__ import annotations

from stillflow.graph import shape as shapes
from stillflow.graph.shape_inference import ShapeError, SizeError
from stillflow.graph.shape_inference import incompatible_text as incompatible


def with_rank(dims, rank):
    """`dims`, which must be of that rank; unknown sizes where the rank was unknown."""
    if dims is None:
        return (None,) * rank
    if len(dims) != rank:
        raise ShapeError(f"Shape must be rank {rank} but is rank {len(dims)}")
    return dims


def with_rank_at_least(dims, rank):
    if dims is not None and len(dims) < rank:
        raise ShapeError(f"Shape must be at least rank {rank} but is rank {len(dims)}")
    return dims


def with_rank_at_most(dims, rank):
    if dims is not None and len(dims) > rank:
        raise ShapeError(f"Shape must be at most rank {rank} but is rank {len(dims)}")
    return dims


def merged(a, b):
    """What either of two equal shapes knows."""
    result = shapes.merge(a, b)
    if result is False:
        raise ShapeError(incompatible(a, b))
    return result


def merged_size(a, b):
    """What either of two equal sizes knows."""
    if a is not None and b is not None and a != b:
        raise ShapeError(f"Dimensions must be equal, but are {a} and {b}")
    return b if a is None else a


def with_size(size, wanted):
    """`wanted`, which a size must be as far as it is known."""
    if size not in (None, wanted):
        raise ShapeError(f"Dimension must be {wanted} but is {size}")
    return wanted


def spelled(context, index=0):
    """The shape that the integer vector `index` of a node's inputs spells; -1 is an unknown size."""
    length = with_rank(context.shapes[index], 1)[0]
    sizes = context.partial_value(index)
    if sizes is None:
        return None if length is None else (None,) * length
    for size in sizes:
        if size is not None and size < -1:
            raise SizeError(f"Invalid value in tensor used for shape: {size}")
    return tuple(None if size == -1 else size for size in sizes)


def joined(a, b):
    """The dimensions of one shape, then those of another."""
    return None if a is None or b is None else (*a, *b)


def product(sizes):
    """The product of sizes; a 0 among unknown ones makes it 0."""
    if sizes is None:
        return None
    if 0 in sizes:
        return 0
    if None in sizes:
        return None
    result = 1
    for size in sizes:
        result *= size
    return result


def total(sizes):
    """The sum of sizes."""
    sizes = list(sizes)
    return None if None in sizes else sum(sizes)


def as_int64(number):
    """A floating point number as TensorFlow's shape functions cast it: what int64 cannot hold is its lowest value."""
    return int(number) if abs(number) < 2.0**63 else -(2**63)
