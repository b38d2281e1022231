"""switch_case: the result of the function of a number."""

from __future__ import annotations

import functools

from stillflow import ops
from stillflow.functions.branches import indexed_case
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond


@public("switch_case")
def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """The result of the function of that number.

    Args:
      branch_index: an integer scalar.
      branch_fns: functions without arguments: a list, or their numbers and them in a dictionary or a list of pairs.
      default: the function for other numbers; by default the last.
      name: the scope of the new nodes.

    Raises:
      TypeError: for an index that is no integer tensor, and for what are no such functions.
      ValueError: for no functions, and for numbers other than those from 0 on.
    """
    functions = _numbered(branch_index, branch_fns)
    if default is not None:
        functions.append(default)
    with name_scope(name, "case", [branch_index]):
        return choose_by_number(branch_index, functions)


@by_mode
def choose_by_number(branch_index, functions):
    """The result of the function of that number, of the last one for numbers that none has.

    It is a node Case; in functions, whose branches are Switch and Merge nodes or nodes If, a chain of conditions.
    """
    if not get_default_graph().building_function:
        return indexed_case(branch_index, functions)
    function = functions[-1]
    for number in reversed(range(len(functions) - 1)):
        is_chosen = functools.partial(ops.equal, branch_index, ops.constant(number, branch_index.dtype))
        function = functools.partial(_choose, is_chosen, functions[number], function)
    return function()


def _choose(is_chosen, chosen, others):
    return cond(is_chosen(), true_fn=chosen, false_fn=others)


def _numbered(branch_index, branch_fns):
    """The functions in the order of their numbers."""
    if not isinstance(branch_index, Tensor):
        raise TypeError(f"branch_index must a Tensor, got {type(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise TypeError(f"branch_index must an integer Tensor, got {branch_index.dtype}")
    if not branch_fns:
        raise ValueError("Must provide at least one item in branch_fns")
    if not isinstance(branch_fns, (list, tuple, dict)):
        raise TypeError("branch_fns must be a list, tuple, or dict")
    pairs = list(branch_fns.items() if isinstance(branch_fns, dict) else branch_fns)
    if all(callable(function) for function in pairs):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in branch_fns must be a 2-tuple")
        number, function = pair
        if not isinstance(number, int):
            raise TypeError(f"key must be a Python `int`, got {type(number)}")
        if not callable(function):
            raise TypeError(f"fn for key {number} must be callable.")
    numbers = sorted(number for number, _ in pairs)
    if numbers != list(range(len(pairs))):
        found = ",".join(map(str, numbers))
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(pairs)}) but found {{{found}}}"
        )
    return [function for _, function in sorted(pairs, key=lambda pair: pair[0])]
