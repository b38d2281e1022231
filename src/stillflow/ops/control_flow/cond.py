"""cond: one of two functions' results, by a predicate that is known when the graph runs."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes, nest
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.mode import by_mode
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Operation, Tensor
from stillflow.graph.shape_inference import constant_value, folded_value
from stillflow.names import public
from stillflow.ops.control_flow.context import CondContext
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.control_flow.summaries import with_summaries
from stillflow.ops.control_flow.tensor_array import as_tensor, with_arrays
from stillflow.ops.convert import convert_to_tensor


@public("cond")
@by_mode
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

    Executed eagerly, `pred` may be whatever is true or false; one function is called, and returns what it likes.
    """
    true_fn = _function(true_fn, fn1, "true_fn", "fn1")
    false_fn = _function(false_fn, fn2, "false_fn", "fn2")
    for function, argument in ((true_fn, "true_fn"), (false_fn, "false_fn")):
        if not callable(function):
            raise TypeError(f"{argument} must be callable.")
    with name_scope(name, "cond", [pred]):
        result = choose(pred, true_fn, false_fn, strict)
        return result if strict else _only(result)


@by_mode
def choose(pred, true_fn, false_fn, strict):
    """cond, in a scope of its own and with functions that have been checked."""
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool")
    on_false, on_true = ops.switch(pred, pred)
    pivots = ops.identity(on_true, name="switch_t"), ops.identity(on_false, name="switch_f")
    pred = ops.identity(pred, name="pred_id")
    for tensor in (on_false, on_true, *pivots, pred):
        tensor.graph.prevent_fetching(tensor.op)
    true = _Branch(pred, pivots[0], 1, true_fn, "true_fn")
    false = _Branch(pred, pivots[1], 0, false_fn, "false_fn")
    if not strict:
        true.original = _only(true.original)
        false.original = _only(false.original)
    _make_alike(true, false)
    merged = with_arrays(nest.flatten(true.original, expand_composites=True), _merged(true, false))
    if true.context.outer_context is None:
        for branch in (true, false):
            get_default_graph().add_to_collection(GraphKeys.COND_CONTEXT, branch.context)
    return nest.pack_sequence_as(true.original, merged, expand_composites=True)


def _function(function, old, name, old_name):
    if old is not None:
        if function is not None:
            raise TypeError(f"cond(): {name} and {old_name} may not be set simultaneously.")
        return old
    if function is None:
        raise TypeError(f"cond(): {name} argument required")
    return function


class _Branch:
    """A branch that has been built: what its function returned, and the tensors that stand for that."""

    def __init__(self, pred, pivot, branch, function, name):
        self.context = CondContext(pred, pivot, branch)
        with self.context:
            self.original = with_summaries(function)
            if self.original is None:
                raise ValueError(f"{name} must have a return value.")
            self.results = nest.map_structure(self._result, self.original, expand_composites=True)
            if not isinstance(self.results, (list, tuple)):
                self.results = [self.results]
            self.context.ExitResult(self.tensors)

    def _result(self, value):
        if isinstance(value, Operation):
            return with_dependencies([value], self.context.pivot)
        return self.context.AddResult(convert_to_tensor(as_tensor(value)))

    @property
    def tensors(self):
        return nest.flatten(self.results, expand_composites=True)


def _only(result):
    """The item of a list or tuple of one; anything else as it is."""
    return result[0] if isinstance(result, (list, tuple)) and len(result) == 1 else result


def _make_alike(true, false):
    """Raises unless both branches return the same structure; indices of IndexedSlices may differ in type."""
    try:
        nest.assert_same_structure(true.original, false.original, expand_composites=True)
    except (TypeError, ValueError):
        nest.map_structure(_make_indices_alike, true.original, false.original)
        nest.map_structure(_make_indices_alike, true.results, false.results)
        try:
            nest.assert_same_structure(true.original, false.original, expand_composites=True)
        except TypeError as error:
            raise TypeError(f"Incompatible return types of true_fn and false_fn: {error}") from None
        except ValueError as error:
            raise ValueError(f"Incompatible return values of true_fn and false_fn: {error}") from None


def _make_indices_alike(a, b):
    if isinstance(a, IndexedSlices) and isinstance(b, IndexedSlices) and a.indices.dtype is not b.indices.dtype:
        a._indices = ops.cast(a.indices, dtypes.int64)
        b._indices = ops.cast(b.indices, dtypes.int64)


def _merged(true, false):
    pairs = list(zip(false.tensors, true.tensors, strict=True))
    if not pairs:
        raise ValueError("true_fn and false_fn must return at least one result.")
    for on_false, on_true in pairs:
        if on_true.dtype.base_dtype is not on_false.dtype.base_dtype:
            raise ValueError(
                "Outputs of true_fn and false_fn must have the same type: "
                f"{on_true.dtype.name}, {on_false.dtype.name}"
            )
    return [ops.merge(list(pair))[0] for pair in pairs]


# ---- Predicates that may be known -----------------------------------------------------------------------------


@public("python.framework.smart_cond.smart_constant_value", "contrib.framework.smart_constant_value")
def smart_constant_value(pred):
    """The bool that a predicate is known to be, or None.

    Raises TypeError unless `pred` is a tensor, a bool, 0 or 1.
    """
    if isinstance(pred, Tensor):
        value = constant_value(pred)
        value = folded_value(pred) if value is None else value
        return None if value is None else bool(value)
    if isinstance(pred, (bool, int, np.bool_, np.integer)) and pred in (0, 1):
        return bool(pred)
    raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}")


@public("python.framework.smart_cond.smart_cond", "contrib.framework.smart_cond")
def smart_cond(pred, true_fn=None, false_fn=None, name=None):
    """Like cond, but calls only one of the functions if it is known which."""
    for function, argument in ((true_fn, "true_fn"), (false_fn, "false_fn")):
        if not callable(function):
            raise TypeError(f"`{argument}` must be callable.")
    value = smart_constant_value(pred)
    if value is None:
        return cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if value else false_fn()
