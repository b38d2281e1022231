"""if: Python's, or a tf.cond if the condition is a tensor."""

from __future__ import annotations

from stillflow import ops
from stillflow.autograph.operators.checks import check_same_branches
from stillflow.autograph.operators.values import is_dense_tensor, is_undefined, is_undefined_return
from stillflow.functions.effects import Block, after_earlier, carry
from stillflow.graph import nest
from stillflow.ops.control_flow.cond import cond as graph_cond


def if_stmt(cond, body, orelse, get_state, set_state, names):
    """Runs one of two functions; of a tensor, adds both as branches of a tf.cond.

    Args:
      cond: the condition.
      body, orelse: functions without arguments or results, which change variables of the function around them.
      get_state, set_state: give and set the values of those that are used afterwards.
      names: what these are called.

    Raises:
      ValueError: if a variable has no value after one of the branches.
      TypeError: if it is of another type or form.
    """
    if not is_dense_tensor(cond):
        return body() if cond else orelse()
    return _graph_if(cond, body, orelse, get_state, set_state, names)


def _graph_if(cond, body, orelse, get_state, set_state, names):
    before = get_state()
    results: list = [None, None]
    blocks: list = []

    def branch(index, function, text):
        def run():
            set_state(before)
            block = Block()
            blocks.append(block)
            function()
            values = get_state()
            set_state(before)
            _check_defined(values, names, text)
            results[index] = values
            other = results[1 - index]
            if other is not None:
                check_same_branches(results[0], results[1], names)
            leaves = [_inside(leaf) for leaf in nest.flatten(values, True) if leaf is not None]
            return block.result(leaves or [ops.constant(1)])

        return run

    with after_earlier():
        found = graph_cond(cond, branch(0, body, "if"), branch(1, orelse, "else"))
    carry(found, blocks)
    leaves = nest.flatten(results[0], True)
    taken = iter(found if isinstance(found, (list, tuple)) else [found])
    values = [None if leaf is None else next(taken) for leaf in leaves]
    set_state(nest.pack_sequence_as(results[0], values, True))


def _inside(value):
    """A value that a branch may return: of an executed tensor, a node."""
    return ops.identity(value) if getattr(value, "_value", None) is not None else value


def _check_defined(values, names, branch):
    undefined = tuple(name for name, value in zip(names, values, strict=True) if is_undefined(value))
    if undefined:
        raise ValueError(
            f"The following symbols must also be initialized in the {branch} branch: {undefined}. Alternatively, you "
            "may initialize them before the if statement."
        )
    if any(is_undefined_return(value) for value in values):
        raise ValueError(
            f"A value must also be returned from the {branch} branch. If a value is returned from one branch of a "
            "conditional a value must be returned from all branches."
        )


def if_exp(cond, body, orelse):
    """`body() if cond else orelse()`."""
    if not is_dense_tensor(cond):
        return body() if cond else orelse()
    return graph_cond(cond, body, orelse)
