"""tf.*: what decides when the graph runs which of its nodes run."""

from __future__ import annotations

from stillflow.composites import case as cases
from stillflow.composites import functional
from stillflow.ops.control_flow import cond as conds
from stillflow.ops.control_flow import while_loop as loops
from stillflow.ops.control_flow.tensor_array import TensorArray

__all__ = ["TensorArray", "case", "cond", "foldl", "foldr", "map_fn", "scan", "while_loop"]


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


def while_loop(
    cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False,
    name=None, maximum_iterations=None, return_same_structure=False,
):  # fmt: skip
    """What `loop_vars` are after `body` has run as long as `cond` holds.

    Args:
      cond: a function of the variables that returns a bool scalar tensor.
      body: a function of the variables that returns them for the next round, in the same structure.
      loop_vars: a list or tuple: tensors, TensorArrays, and nested structures of them.
      shape_invariants: what is known of the variables' shapes in every round; by default what is known at first.
      parallel_iterations, swap_memory: kept on the nodes.
      back_prop: whether gradients go through the loop.
      name: the scope of the new nodes.
      maximum_iterations: an integer scalar: no more rounds than that.
      return_same_structure: whether one variable is returned in a list.

    Raises:
      TypeError: for what cannot be called, and for results of another structure.
      ValueError: without variables, and for shapes that change though they must not.
    """
    return loops.while_loop(
        cond, body, loop_vars, shape_invariants, parallel_iterations, back_prop, swap_memory, name,
        maximum_iterations, return_same_structure,
    )  # fmt: skip


def map_fn(
    fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True, name=None
):
    """fn(part) for the parts of `elems` along their first dimension, side by side.

    Args:
      fn: a function of a part, or of a structure of parts as `elems` is one of tensors.
      elems: a tensor, or a structure of tensors with as many parts each.
      dtype: the types that `fn` returns, if they are not those of `elems`; their structure is the result's.
      parallel_iterations, swap_memory: kept on the nodes.
      back_prop: whether gradients go through it.
      infer_shape: whether all results have one shape.
      name: the scope of the new nodes.

    Raises:
      TypeError: for what cannot be called, and for results of another structure.
      ValueError: for scalars.
    """
    return functional.map_fn(fn, elems, dtype, parallel_iterations, back_prop, swap_memory, infer_shape, name)


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """fn(...fn(fn(initializer, first part), second part)..., last part) for the parts of `elems`.

    Without `initializer` it begins with the first part. Other arguments are as for `map_fn`. Raises TypeError for
    what cannot be called.
    """
    return functional.foldl(fn, elems, initializer, parallel_iterations, back_prop, swap_memory, name)


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """Like `foldl`, from the last part to the first."""
    return functional.foldr(fn, elems, initializer, parallel_iterations, back_prop, swap_memory, name)


def scan(
    fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True,
    reverse=False, name=None,
):  # fmt: skip
    """All that `foldl` comes by: fn(before, part) for each part of `elems`, side by side.

    Without `initializer` it begins with the first part, which is the first result; with `reverse` it goes from the
    last part to the first. Other arguments are as for `map_fn`. Raises TypeError for what cannot be called, and for
    results of another structure than `initializer`, or `elems` without one.
    """
    return functional.scan(
        fn, elems, initializer, parallel_iterations, back_prop, swap_memory, infer_shape, reverse, name
    )
