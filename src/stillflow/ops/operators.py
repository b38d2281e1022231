"""The operators of tensors: x + y, x @ y, -x, x < y, and so on."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.equality import differs, equals
from stillflow.ops.sparse_tensor import SparseTensor, parts


def _binary(name, function):
    """The operator and its reflection; the operand that is no tensor takes the type of the other."""

    def operator(x, y):
        with name_scope(None, name, [x, y]) as scope:
            if not isinstance(y, (Tensor, SparseTensor)):
                try:
                    y = convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")
                except TypeError:
                    # It may know how to combine itself with a tensor.
                    if hasattr(type(y), f"__r{name}__"):
                        return NotImplemented
                    raise
            return function(x, y, name=scope)

    def reflected(y, x):
        with name_scope(None, name, [x, y]) as scope:
            x = convert_to_tensor(x, dtype=y.dtype.base_dtype, name="x")
            return function(x, y, name=scope)

    return operator, reflected


def _add(x, y, name):
    return (ops.add if x.dtype.base_dtype is dtypes.string else ops.add_v2)(x, y, name=name)


def _multiply(x, y, name):
    if not isinstance(y, SparseTensor):
        return ops.mul(x, y, name=name)
    return SparseTensor(y.indices, ops.sparse_dense_cwise_mul(*parts(y), x, name=name), y.dense_shape)


def _sparse(name, function):
    """The operator of a sparse tensor and a dense one."""

    def operator(sparse, y):
        with name_scope(None, name, [sparse, y]) as scope:
            y = convert_to_tensor(y, sparse.dtype.base_dtype, name="y")
            return SparseTensor(sparse.indices, function(*parts(sparse), y, name=scope), sparse.dense_shape)

    return operator


def _sparse_true_division(indices, values, shape, y, name):
    with name_scope(name, "truediv", [indices, values, shape, y]) as scope:
        values, y = ops.quotient_operands(values, y, "sp_values")
        return ops.sparse_dense_cwise_div(indices, values, shape, y, name=scope)


# Named as in `ops`, so that importing this module imports no op.
_WITH_REFLECTION = {
    "sub": "sub",
    "div": "div",
    "truediv": "truediv",
    "floordiv": "floordiv",
    "mod": "floor_mod",
    "pow": "pow",
    "and": "logical_and",
    "or": "logical_or",
    "xor": "logical_xor",
    "matmul": "matmul",
}
_PLAIN = {
    "__lt__": "less",
    "__le__": "less_equal",
    "__gt__": "greater",
    "__ge__": "greater_equal",
    "__neg__": "negative",
    "__abs__": "abs",
    "__invert__": "logical_not",
}


def _named(builder):
    return lambda *operands, **options: getattr(ops, builder)(*operands, **options)


def _overload(symbol, function):
    operator, reflected = _binary(symbol, function)
    Tensor._override_operator(f"__{symbol}__", operator)
    Tensor._override_operator(f"__r{symbol}__", reflected)


def _get_item(tensor, index, var=None):
    return ops.get_item(tensor, index, var)


def install():
    """Gives tensors their operators."""
    _overload("add", _add)
    _overload("mul", _multiply)
    SparseTensor._override_operator("__mul__", _sparse("mul", _named("sparse_dense_cwise_mul")))
    SparseTensor._override_operator("__div__", _sparse("div", _named("sparse_dense_cwise_div")))
    SparseTensor._override_operator("__truediv__", _sparse("truediv", _sparse_true_division))
    for symbol, builder in _WITH_REFLECTION.items():
        _overload(symbol, _named(builder))
    for operator, builder in _PLAIN.items():
        Tensor._override_operator(operator, _named(builder))
    Tensor._override_operator("__getitem__", _get_item)
    Tensor._override_operator("__eq__", equals)
    Tensor._override_operator("__ne__", differs)
