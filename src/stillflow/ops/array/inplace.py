"""Rows of tensors set or added to, and tensors without contents: tensorflow.python.ops.inplace_ops.

TensorFlow writes into the memory of the operand, which whoever else reads it may or may not see. Here the operand
keeps its value: the result takes its memory where nobody else reads it, and is a copy otherwise.
"""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.registry import define_op
from stillflow.platform.deprecation import deprecated


def _define(name, operation):
    return define_op(
        f"{name}(x: T, i: int32, v: T) -> (y: T)",
        "T: type",
        kernel=f"update_rows(x, i, v | '{operation}')",
        differentiable=None,
    )


_inplace_update = _define("InplaceUpdate", "set")
_inplace_add = _define("InplaceAdd", "add")
_inplace_sub = _define("InplaceSub", "sub")
_deep_copy = define_op(
    "DeepCopy(x: T) -> (y: T)", "T: type", kernel="identity_n(x)", stateful=True, differentiable=None
)
_empty = define_op(
    "Empty(shape: int32) -> (output: dtype)",
    "dtype: type; init: bool = false",
    kernel="zeros(shape | dtype)",
    stateful=True,
    differentiable=None,
)


@_inplace_update.shape_rule
@_inplace_add.shape_rule
@_inplace_sub.shape_rule
@_deep_copy.shape_rule
def _(context):
    return context.shapes[0]


@_empty.shape_rule
def _(context):
    return plain.spelled(context, 0)


def _apply(op, x, i, v):
    """Applies the op.

    Args:
      op: one of the three.
      x: a tensor.
      i: None for all of x, one row (`v` is then of one dimension less than x), or a vector of rows, of which negative
        ones count from the end.
      v: a tensor with a row for each of `i`.

    Raises:
      InvalidArgumentError: when the graph runs, if the shapes of x, i and v do not belong together.
    """
    x = convert_to_tensor(x)
    v = convert_to_tensor(v, x.dtype)
    if i is None:
        return ops.reshape(op(ops.reshape(x, [1, -1]), [0], ops.reshape(v, [1, -1])), ops.shape(x))
    i = ops.cast(i, dtypes.int32)
    if i.shape.ndims == 0:
        return op(x, ops.reshape(i, [1]), ops.expand_dims(v, 0))
    return op(x, i, v)


def _deprecated(kind):
    replacement = f"tf.tensor_scatter_nd_{kind}"
    return deprecated(
        None,
        f"Prefer {replacement}, which offers the same functionality with well-defined read-write semantics.",
    )


@public("python.ops.inplace_ops.alias_inplace_update")
@_deprecated("update")
def alias_inplace_update(x, i, v):
    """x with the rows `i` set to `v`: see _apply."""
    return _apply(_inplace_update, x, i, v)


@public("python.ops.inplace_ops.inplace_update")
@_deprecated("update")
def inplace_update(x, i, v):
    """x with the rows `i` set to `v`, in a copy: see _apply."""
    return _apply(_inplace_update, _deep_copy(x), i, v)


@public("python.ops.inplace_ops.alias_inplace_add")
@_deprecated("add")
def alias_inplace_add(x, i, v):
    """x with the rows `i` increased by `v`: see _apply."""
    return _apply(_inplace_add, x, i, v)


@public("python.ops.inplace_ops.inplace_add")
@_deprecated("add")
def inplace_add(x, i, v):
    """x with the rows `i` increased by `v`, in a copy: see _apply."""
    return _apply(_inplace_add, _deep_copy(x), i, v)


@public("python.ops.inplace_ops.alias_inplace_sub")
@_deprecated("sub")
def alias_inplace_sub(x, i, v):
    """x with the rows `i` reduced by `v`: see _apply."""
    return _apply(_inplace_sub, x, i, v)


@public("python.ops.inplace_ops.inplace_sub")
@_deprecated("sub")
def inplace_sub(x, i, v):
    """x with the rows `i` reduced by `v`, in a copy: see _apply."""
    return _apply(_inplace_sub, _deep_copy(x), i, v)


@public("python.ops.inplace_ops.empty")
def empty(shape, dtype, init=False, name=None):
    """A tensor whose contents do not matter; they are zeros here, with and without `init`.

    Raises InvalidArgumentError when the graph runs if the shape is no vector of int32.
    """
    return _empty(shape, dtype=dtype, init=init, name=name)


@public("python.ops.inplace_ops.empty_like")
def empty_like(x, init=None):
    """A tensor of the shape and type of `x` whose contents do not matter."""
    x = convert_to_tensor(x)
    return _empty(ops.shape(x), dtype=x.dtype, init=init)
