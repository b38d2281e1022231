"""Assertions about ranks: made while the graph is built where ranks are known, and by the graph where not."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_that, assert_type
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


@public("assert_rank", "debugging.assert_rank")
def assert_rank(x, rank, data=None, summarize=None, message=None, name=None):
    """An operation that fails unless `x` has this rank. Raises ValueError if it is known not to have it."""
    return _check(x, rank, "assert_rank", "", ops.equal, lambda a, b: a == b, data, summarize, message, name)


@public("assert_rank_at_least", "debugging.assert_rank_at_least")
def assert_rank_at_least(x, rank, data=None, summarize=None, message=None, name=None):
    """An operation that fails unless `x` has at least this rank. Raises ValueError if it is known to have a lower."""
    return _check(
        x, rank, "assert_rank_at_least", " at least", ops.greater_equal, lambda a, b: a >= b, data, summarize,
        message, name,
    )  # fmt: skip


def _check(x, rank, default_name, words, compare, holds, data, summarize, message, name):
    with name_scope(name, default_name, [x, rank, *(data or ())]):
        x = convert_to_tensor(x, name="x")
        rank = convert_to_tensor(rank, name="rank")
        message = message or ""
        if data is None:
            data = [message, f"Tensor {x._label} must have rank{words}", rank, "Received shape: ", ops.shape(x)]
        assert_type(rank, dtypes.int32)
        known = constant_value(rank)
        if known is not None and known.ndim:
            raise ValueError("Rank must be a scalar.")
        if known is not None and x._dims is not None:
            if not holds(len(x._dims), int(known)):
                raise ValueError(
                    f"{message}.  Tensor {x._label} must have rank{words} {int(known)}.  Received rank "
                    f"{len(x._dims)}, shape {x.shape}"
                )
            return ops.no_op(name="static_checks_determined_all_ok")
        return assert_that(_once_scalar([rank], compare(ops.rank(x), rank)), data, summarize)


@public("assert_rank_in", "debugging.assert_rank_in")
def assert_rank_in(x, ranks, data=None, summarize=None, message=None, name=None):
    """An operation that fails unless `x` has one of these ranks. Raises ValueError if it is known to have another."""
    with name_scope(name, "assert_rank_in", [x, *ranks, *(data or ())]):
        x = convert_to_tensor(x, name="x")
        ranks = tuple(convert_to_tensor(rank, name="rank") for rank in ranks)
        message = message or ""
        if data is None:
            data = [message, f"Tensor {x._label} must have rank in", *ranks, "Received shape: ", ops.shape(x)]
        for rank in ranks:
            assert_type(rank, dtypes.int32)
        known = [constant_value(rank) for rank in ranks]
        if any(value is not None and value.ndim for value in known):
            raise ValueError("Rank must be a scalar.")
        if x._dims is not None and all(value is not None for value in known):
            if len(x._dims) not in [int(value) for value in known]:
                raise ValueError(
                    f"{message}.  Tensor {x._label} must have rank in {tuple(int(value) for value in known)}.  "
                    f"Received rank {len(x._dims)}, shape {x.shape}"
                )
            return ops.no_op(name="static_checks_determined_all_ok")
        x_rank = ops.rank(x)
        fits = ops.equal(ranks[0], x_rank)
        others = [ops.equal(rank, x_rank) for rank in ranks[1:]]
        for other in others:
            fits = ops.logical_or(fits, other)
        return assert_that(_once_scalar(ranks, fits), data, summarize)


def _once_scalar(ranks, condition):
    """The condition, known after checks that the ranks which only a run tells are scalars, not vectors of one."""
    for rank in ranks:
        if constant_value(rank) is None:
            is_scalar = assert_rank(rank, 0, data=["Rank must be a scalar. Received rank: ", rank])
            condition = with_dependencies([is_scalar], condition)
    return condition
