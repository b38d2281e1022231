"""tf.*: what decides when the graph runs which of its nodes run."""

from __future__ import annotations

from stillflow.composites import case as cases
from stillflow.composites import cond as conds

__all__ = ["case", "cond"]


def cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None):
    """true_fn() if `pred` is true, else false_fn(): only the nodes that one of them has made run.

    Args:
      pred: a bool scalar tensor.
      true_fn, false_fn: functions without arguments that return tensors, operations, or nested structures of
        tensors: both the same structure, of the same types. They are called once each, here. Nodes made outside of
        them run whatever `pred` is.
      strict: whether a list or tuple of one tensor is returned as such, and not as the tensor.
      name: the scope of the new nodes.
      fn1, fn2: the old names of `true_fn` and `false_fn`.

    Raises:
      TypeError: for a Python bool, for what cannot be called, and for results of different structure.
      ValueError: for results of different number or type, and if there are none.
    """
    return conds.cond(pred, true_fn, false_fn, strict, name, fn1, fn2)


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
    return cases.case(pred_fn_pairs, default, exclusive, strict, name)
