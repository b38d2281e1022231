"""case: the result of the first function whose predicate is true."""

from __future__ import annotations

import collections
import functools

from stillflow import ops
from stillflow.composites.checks import assert_that
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond, smart_cond


@public("case")
def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """The result of the first function whose predicate is true when the graph runs.

    Args:
      pred_fn_pairs: a list of (bool scalar tensor, function) pairs, or a dictionary of them, which is gone through in
        the order of the tensors' names. The functions are as for `cond`.
      default: the function to take if no predicate is true; without it a run fails then.
      exclusive: whether a run fails if more than one predicate is true.
      strict: as for `cond`.
      name: the scope of the new nodes.

    Raises:
      TypeError: for what are no such pairs, and for results of different structure.
      ValueError: for results of different number or type.
    """
    return _case(functools.partial(cond, strict=strict), pred_fn_pairs, default, exclusive, name, False)


@public("python.framework.smart_cond.smart_case", "contrib.framework.smart_case")
def smart_case(pred_fn_pairs, default=None, exclusive=False, name="smart_case"):
    """Like case, but what is known of the predicates, which may be bools, is decided here."""
    return _case(smart_cond, pred_fn_pairs, default, exclusive, name, True)


def _case(choose, pred_fn_pairs, default, exclusive, name, allows_bools):
    if isinstance(pred_fn_pairs, dict):
        pred_fn_pairs = pairs_of_dict(pred_fn_pairs, exclusive)
    predicates, functions = _checked(pred_fn_pairs, allows_bools)
    with name_scope(name, "case", [predicates]):
        if default is None:
            default, predicates, functions = _last_as_default(predicates, functions)
        function = default
        for predicate, chosen in reversed(list(zip(predicates, functions, strict=True))):
            function = functools.partial(choose, predicate, true_fn=chosen, false_fn=function)
        if not exclusive:
            return function()
        with get_default_graph().control_dependencies(
            [_assert_at_most(predicates, 1, "Input error: exclusive=True")]
        ):
            return function()


@by_mode
def pairs_of_dict(pairs, exclusive):
    """The items of a dictionary in an order that does not change from run to run."""
    if isinstance(pairs, collections.OrderedDict):
        return list(pairs.items())
    return sorted(pairs.items(), key=lambda pair: pair[0].name)


def _checked(pairs, allows_bools):
    if not isinstance(pairs, (list, tuple)):
        raise TypeError("fns must be a list, tuple, or dict")
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple")
        predicate, function = pair
        if isinstance(predicate, Tensor):
            if predicate.dtype.base_dtype is not dtypes.bool_:
                raise TypeError(f"pred must be Tensor of type bool: {predicate.name}")
        elif not allows_bools:
            raise TypeError(f"pred must be a Tensor, got: {predicate}")
        elif not isinstance(predicate, bool):
            raise TypeError(f"pred must be a Tensor or bool, got: {predicate}")
        if not callable(function):
            raise TypeError(f"fn for pred {getattr(predicate, 'name', predicate)} must be callable.")
    predicates, functions = zip(*pairs, strict=True)
    return predicates, functions


def _last_as_default(predicates, functions):
    """The last function as the default, which fails unless its predicate is true."""
    *others, predicate = predicates
    last = len(others)

    def default():
        none_true = ("Input error: None of conditions evaluated as True:", ops.stack(predicates, name="preds_c"))
        message = (
            f"Implementation error: selected default action #{last} was called, but some of other predicates are "
            "True: "
        )
        checks = [_assert_at_most(others, 0, message), assert_that(predicate, none_true)]
        with get_default_graph().control_dependencies(checks):
            return functions[last]()

    return default, others, functions[:last]


def _assert_at_most(predicates, count, message):
    """An operation that fails if more predicates are true."""
    stacked = ops.stack(predicates, name="preds_c")
    true_count = ops.reduce_sum(ops.cast(stacked, dtypes.int32), name="num_true_conds")
    condition = ops.less_equal(true_count, ops.constant(count, name="n_true_conds"))
    names = ", ".join(getattr(predicate, "name", "?") for predicate in predicates)
    text = f"{message}: more than {count} conditions ({names}) evaluated as True:"
    return assert_that(condition, [text, stacked], summarize=len(predicates))
