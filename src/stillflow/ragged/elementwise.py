"""Functions of each value: applied to the flat values, with rows of operands broadcast to each other."""

from __future__ import annotations

import inspect

from stillflow.composites import checks
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.dispatch import handles
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.ragged import shapes
from stillflow.ragged.tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)


@public("python.ops.ragged.ragged_util.assert_splits_match")
def assert_splits_match(nested_splits_lists):
    """Assertions that the splits in all lists are those in the first. Raises ValueError if they are more or fewer."""
    message = "Inputs must have identical ragged splits"
    first, *others = nested_splits_lists
    if any(len(splits) != len(first) for splits in others):
        raise ValueError(message)
    return [
        checks.assert_equal(one, other, message=message)
        for splits in others
        for one, other in zip(first, splits, strict=True)
    ]


@public("ragged.map_flat_values")
def map_flat_values(op, *args, **kwargs):
    """What `op` makes of the flat values of the ragged tensors among its arguments, in their rows.

    All ragged arguments must have the same rows, and `op` a value for each of theirs. Without any it is just called.

    Raises ValueError for ragged tensors of different ranks or types of splits.
    """
    found: list = []
    flat_args = _with_flat_values(args, found)
    flat_kwargs = _with_flat_values(kwargs, found)
    if not found:
        return op(*args, **kwargs)
    if len({splits[0].dtype for splits in found}) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() to "
            "convert them to compatible dtypes."
        )
    with get_default_graph().control_dependencies(assert_splits_match(found)):
        values = op(*flat_args, **flat_kwargs)
        return RaggedTensor.from_nested_row_splits(values, found[0], validate=False)


def _with_flat_values(value, found):
    """Arguments with flat values in the place of ragged tensors, whose splits are added to `found`."""
    if is_ragged(value):
        value = convert_to_tensor_or_ragged_tensor(value)
        found.append(value.nested_row_splits)
        return value.flat_values
    if isinstance(value, (list, tuple)):
        return type(value)([_with_flat_values(item, found) for item in value])
    if isinstance(value, dict):
        return {key: _with_flat_values(item, found) for key, item in value.items()}
    return value


# ---- Handlers of functions of tensors ---------------------------------------------------------------------------


def parameter_names(function):
    """The names of its positional arguments."""
    return [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]


def _taken(names, args, kwargs):
    """The values of the first arguments, and the others' as (args, kwargs)."""
    kwargs = dict(kwargs)
    values = list(args[: len(names)])
    values += [kwargs.pop(name, None) for name in names[len(values) :]]
    return values, args[len(names) :], kwargs


def handle_unary(function):
    """Applies a dispatched function to the flat values of its first argument."""
    names = parameter_names(function)[:1]

    @handles(function)
    def _(*args, **kwargs):
        (x,), args, kwargs = _taken(names, args, kwargs)
        if not is_ragged(x):
            return NotImplemented
        x = convert_to_tensor_or_ragged_tensor(x)
        return x.with_flat_values(function(x.flat_values, *args, **kwargs))


def is_convertible(value):
    """Whether it may be a tensor."""
    if isinstance(value, SparseTensor):
        return False
    try:
        return value is None or convert_to_tensor(value) is not None
    except (TypeError, ValueError):
        return False


def handle_list(function):
    """Applies a dispatched function of a list to the flat values of its items, which have the same rows."""
    names = parameter_names(function)[:1]

    @handles(function)
    def _(*args, **kwargs):
        (items,), args, kwargs = _taken(names, args, kwargs)
        if not isinstance(items, (list, tuple)) or not any(is_ragged(item) for item in items):
            return NotImplemented
        if not all(is_ragged(item) or is_convertible(item) for item in items):
            return NotImplemented
        items = [convert_to_tensor_or_ragged_tensor(item) if is_ragged(item) else item for item in items]
        items = match_row_splits_dtypes(*items)
        splits = [item.nested_row_splits for item in items if is_ragged(item)]
        values = [item.flat_values if is_ragged(item) else item for item in items]
        with get_default_graph().control_dependencies(assert_splits_match(splits)):
            result = function(values, *args, **kwargs)
            return RaggedTensor.from_nested_row_splits(result, splits[0], validate=False)


def handle_binary(function):
    """Applies a dispatched function to the flat values of its first two arguments, broadcast to each other."""
    names = parameter_names(function)[:2]

    @handles(function)
    def _(*args, **kwargs):
        (x, y), args, kwargs = _taken(names, args, kwargs)
        if not (is_ragged(x) or is_ragged(y)):
            return NotImplemented
        try:
            x, y = (
                convert_to_tensor_or_ragged_tensor(
                    value, preferred_dtype=None if is_ragged(value) else other.dtype, name=name
                )
                for value, other, name in ((x, y, names[0]), (y, x, names[1]))
            )
        except (TypeError, ValueError):
            return NotImplemented
        x, y = _broadcast(*match_row_splits_dtypes(x, y))
        flat = [value.flat_values if is_ragged(value) else value for value in (x, y)]
        result = function(*flat, *args, **kwargs)
        return (x if is_ragged(x) else y).with_flat_values(result)


def _broadcast(x, y):
    """Two operands with the same rows, where one has dimensions that are ragged in the other."""
    if not (is_ragged(x) and is_ragged(y)):
        ragged, dense = (x, y) if is_ragged(x) else (y, x)
        rank, dense_rank = ragged.flat_values.shape.rank, dense.shape.rank
        if dense_rank == 0 or (None not in (rank, dense_rank) and dense_rank < rank):
            return x, y
    of_tensor = shapes.RaggedTensorDynamicShape.from_tensor
    shape = shapes.broadcast_dynamic_shape(of_tensor(x), of_tensor(y))
    return (
        shapes.broadcast_to(x, shape, broadcast_inner_dimensions=False),
        shapes.broadcast_to(y, shape, broadcast_inner_dimensions=False),
    )
