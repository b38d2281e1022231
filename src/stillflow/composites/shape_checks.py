"""assert_shapes: symbolic sizes that several tensors share; and static checks, which add no node."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.checks import assert_that
from stillflow.composites.rank_checks import assert_rank, assert_rank_at_least, assert_rank_in
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph, require_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor

_ANYTHING = (None, ".")  # symbols for any size


class _Constraint:
    """A tensor, its sizes, and the symbols that they must agree with."""

    def __init__(self, tensor, symbols, message):
        if not (hasattr(symbols, "__iter__") or hasattr(symbols, "__getitem__")):
            raise ValueError(
                f"{message}.  Tensor {tensor._description}.  Specified shape must be an iterable.  An iterable has "
                f"the attribute `__iter__` or `__getitem__`.  Received specified shape: {symbols}"
            )
        symbols = tuple(symbols)
        for i, symbol in enumerate(symbols):
            if (symbol is Ellipsis or symbol == "*") and i > 0:
                raise ValueError(
                    f"{message}.  Tensor {tensor._description} specified shape index {i}.  Symbol `...` or `*` for a "
                    "variable number of unspecified dimensions is only allowed as the first entry"
                )
        self.tensor = tensor
        self.is_open = bool(symbols) and (symbols[0] is Ellipsis or symbols[0] == "*")
        self.sizes = _sizes(tensor)
        self.symbols = (symbols[1:] if self.is_open else symbols) or (1,)

    def rank_check(self, **options):
        rank = len(self.symbols)
        if self.is_open:
            return None if rank <= 1 else assert_rank_at_least(self.tensor, rank, **options)
        if rank <= 1:
            return assert_rank_in(self.tensor, [0, 1], **options)
        return assert_rank(self.tensor, rank, **options)


def _sizes(tensor):
    """The sizes of a tensor, as far as they are known; scalars of its shape where they are not."""
    shape = ops.shape(tensor)
    if tensor._dims is None:
        return shape
    if not tensor._dims:
        return (1,)
    return [shape[i] if size is None else size for i, size in enumerate(tensor._dims)]


def _is_known(size):
    if isinstance(size, Tensor) or size is None:
        return False
    try:
        int(size)
    except (TypeError, ValueError):
        return False
    return True


@public("debugging.assert_shapes")
def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """An operation that fails unless tensors have the sizes that symbols say, equal symbols meaning equal sizes.

    Args:
      shapes: {tensor: symbols} or pairs of them. A symbol is a number, a name such as "N", or None or "." for any
        size; the first may be `...` or "*" for any number of dimensions.
      data, summarize, message, name: as for the other checks.

    Raises ValueError if sizes are known not to agree, and for symbols of another form.
    """
    if isinstance(shapes, dict):
        shapes = shapes.items()
    message = message or ""
    shapes = [(tensor, symbols) for tensor, symbols in shapes if symbols is not None]
    with name_scope(name, "assert_shapes", [tensor for tensor, _ in shapes] + list(data or ())):
        tensors = [convert_to_tensor(tensor) for tensor, _ in shapes]
        constraints = [
            _Constraint(tensor, symbols, message) for tensor, (_, symbols) in zip(tensors, shapes, strict=True)
        ]
        options = {"data": data, "summarize": summarize, "message": message, "name": name}
        ranks = [constraint.rank_check(**options) for constraint in constraints]
        known: dict = {}  # symbol -> size, the tensor that has it, and where
        checks = []
        for constraint in constraints:
            for i, symbol in enumerate(constraint.symbols):
                if symbol not in _ANYTHING:
                    checks += _size_checks(constraint, i, symbol, known, data, summarize, message)
        with get_default_graph().control_dependencies([rank for rank in ranks if rank is not None]):
            return group(*checks)


def _size_checks(constraint, i, symbol, known, data, summarize, message):
    tensor = constraint.tensor
    axis = i - len(constraint.symbols) if constraint.is_open else i
    actual = constraint.sizes[axis]
    if _is_known(symbol):
        wanted, reason = int(symbol), "Specified explicitly"
    elif symbol in known:
        wanted, other, other_axis = known[symbol]
        reason = f"Specified by tensor {other._description} dimension {other_axis}"
    else:
        known[symbol] = actual, tensor, axis
        return []
    if _is_known(actual) and _is_known(wanted):
        if int(actual) != int(wanted):
            raise ValueError(
                f"{message}.  {reason}.  Tensor {tensor._description} dimension {axis} must have size {wanted}.  "
                f"Received size {actual}, shape {tensor.shape}"
            )
        return []
    condition = ops.equal(convert_to_tensor(actual), convert_to_tensor(wanted))
    if data is None:
        data = [
            message, reason, f"Tensor {tensor._description} dimension", axis, "must have size", wanted,
            "Received shape: ", ops.shape(tensor),
        ]  # fmt: skip
    return [assert_that(condition, data, summarize)]


# ---- Without nodes ----------------------------------------------------------------------------------------------


@public("assert_proper_iterable", "debugging.assert_proper_iterable")
def assert_proper_iterable(values):
    """See the facade."""
    if isinstance(values, (Tensor, SparseTensor, np.ndarray, bytes, str)):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


@public("assert_same_float_dtype", "debugging.assert_same_float_dtype", "contrib.framework.assert_same_float_dtype")
def assert_same_float_dtype(tensors=None, dtype=None):
    """The floating type that all tensors, and `dtype` if it is given, have; float32 without any.

    Raises ValueError if they have different types, or one that is not floating.
    """
    first = None
    for item in tensors or ():
        if item is None:
            continue
        found = item.dtype.base_dtype
        if dtype is None:
            dtype, first = found, item
        elif dtype != found:
            origin = "" if first is None else f" as {_name(first)}"
            raise ValueError(f"{_name(item)}, type={found}, must be of the same type ({dtype}){origin}.")
    if dtype is None:
        return dtypes.float32
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


def _name(item):
    return item.name if hasattr(item, "name") else str(item)


@public("add_check_numerics_ops")
def add_check_numerics_ops():
    """An operation that fails where any floating tensor of the graph, as it is now, has an infinity or a NaN.

    Raises ValueError if one of them belongs to a branch or a loop.
    """
    require_graph(
        "add_check_numerics_ops() is not compatible with eager execution. To check for Inf's and NaN's under eager "
        "execution, call tfe.seterr(inf_or_nan='raise') once before executing the checked operations."
    )
    graph = get_default_graph()
    last: list = []
    for op in graph.get_operations():
        for output in op.outputs:
            if output.dtype in (dtypes.float16, dtypes.float32, dtypes.float64):
                if op._control_flow_context is not None:
                    raise ValueError(
                        "`tf.add_check_numerics_ops() is not compatible with TensorFlow control flow operations such "
                        "as `tf.cond()` or `tf.while_loop()`."
                    )
                with graph.control_dependencies(last):
                    last = [ops.check_numerics(output, message=f"{op.name}:{output.value_index}")]
    return group(*last)
