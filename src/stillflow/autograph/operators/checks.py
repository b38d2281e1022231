"""What branches and loops must keep: the types, forms and shapes of the variables that they change."""

from __future__ import annotations

from stillflow.autograph.operators.values import is_tensor
from stillflow.graph import nest
from stillflow.ops.convert import convert_to_tensor


def _as_tensor(value):
    return convert_to_tensor(value) if isinstance(value, (bool, int, float, str)) else value


def _pairs(first, second, problem):
    try:
        nest.assert_same_structure(first, second, expand_composites=True)
    except (ValueError, TypeError) as error:
        raise TypeError(f"{problem}\n\n{error}") from None
    for one, other in zip(nest.flatten(first, True), nest.flatten(second, True), strict=True):
        one, other = _as_tensor(one), _as_tensor(other)
        if is_tensor(one) and is_tensor(other):
            yield one, other


def check_same_branches(true_values, false_values, names):
    """Raises TypeError for a variable that is not of one type and form after both branches."""
    for name, one, other in zip(names, true_values, false_values, strict=True):
        problem = f'"{name}" does not have the same nested structure in the TRUE and FALSE branches.'
        for a, b in _pairs(one, other, problem):
            if a.dtype.base_dtype is not b.dtype.base_dtype:
                raise TypeError(
                    f'"{name}" has dtype {a.dtype.name} in the TRUE branch, but dtype={b.dtype.name} in the FALSE '
                    "branch. TensorFlow control flow requires that they are the same."
                )


def check_same_rounds(before, after, names, include_shapes=True):
    """Raises TypeError or ValueError for a variable that is not what it was before a round of a loop."""
    for name, one, other in zip(names, before, after, strict=True):
        problem = f'"{name}" does not have the same nested structure after one iteration.'
        for a, b in _pairs(one, other, problem):
            if a.dtype.base_dtype is not b.dtype.base_dtype:
                raise TypeError(
                    f'"{name}" has dtype {a.dtype.name} before the loop, but dtype {b.dtype.name} after one '
                    "iteration. TensorFlow control flow requires it stays the same."
                )
            if include_shapes and not _is_at_least(b.shape, a.shape):
                raise ValueError(
                    f'"{name}" has shape {a.shape} before the loop, but shape {b.shape} after one iteration. '
                    "TensorFlow control flow requires it stays the same or be more specific."
                )


def _is_at_least(shape, general):
    if general.rank is None:
        return True
    if general.rank != shape.rank:
        return False
    return all(a is None or a == b for a, b in zip(general.as_list(), shape.as_list(), strict=True))
