"""What functions of tensors do with ragged tensors, and the operators."""

from __future__ import annotations

import inspect
from typing import Any

from stillflow import ops
from stillflow.composites.clip import clip_by_value
from stillflow.composites.strings import reduce_join
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops.dispatch import handles
from stillflow.ragged import arithmetic, arrays, concatenation, gathers, masks
from stillflow.ragged.elementwise import (
    handle_binary,
    handle_list,
    handle_unary,
    is_convertible,
)
from stillflow.ragged.indexing import get_item
from stillflow.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged

_UNARY = (
    "check_numerics identity ones_like zeros_like invert abs acos acosh angle asin asinh atan atanh cast ceil "
    "conj cos cosh digamma erf erfc exp expm1 floor imag is_finite is_inf is_nan lgamma log log1p log_sigmoid "
    "logical_not negative real reciprocal rint round rsqrt saturate_cast sign sin sinh sqrt square tan "
    "decode_compressed string_to_number string_to_hash_bucket as_string decode_base64 encode_base64 "
    "regex_full_match regex_replace string_strip unicode_script string_to_hash_bucket_fast "
    "string_to_hash_bucket_strong substr string_length"
)
_LISTS = "add_n string_join"
_BINARY = (
    "bitwise_and bitwise_or bitwise_xor left_shift right_shift add atan2 complex div_no_nan divide equal "
    "floordiv floor_mod greater greater_equal less less_equal logical_and logical_or logical_xor maximum "
    "minimum mul not_equal pow real_div squared_difference sub truediv truncate_div truncate_mod"
)

for _name in _UNARY.split():
    handle_unary(getattr(ops, _name))
handle_unary(clip_by_value)
for _name in _LISTS.split():
    handle_list(getattr(ops, _name))
for _name in _BINARY.split():
    handle_binary(getattr(ops, _name))


def _replace(function, ragged_function, names):
    """Hands a dispatched function over where the arguments of these names are tensors or ragged tensors.

    One of them must be ragged; a name in brackets is that of a list.
    """
    signature = inspect.signature(function)

    @handles(function)
    def _(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        found = False
        for name in names:
            value: Any = given.get(name.strip("[]"))
            is_list = name.startswith("[")
            if is_list and not isinstance(value, (list, tuple)):
                return NotImplemented
            for item in value if is_list else [value]:
                if is_ragged(item):
                    found = True
                elif not is_convertible(item):
                    return NotImplemented
        return ragged_function(**given) if found else NotImplemented


def _gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    axis = 0 if axis is None else axis
    return gathers.gather(params, indices, validate_indices, axis, batch_dims, name)


def _expand_dims(input, axis=None, name=None, dim=None):
    return arrays.expand_dims(input, dim if dim is not None else axis, name)


def _squeeze(input, axis=None, name=None, squeeze_dims=None):
    return arrays.squeeze(input, renamed("axis", axis, "squeeze_dims", squeeze_dims), name)


def _dynamic_partition(data, partitions, num_partitions, name=None):
    if not isinstance(num_partitions, int) or num_partitions < 0:
        raise TypeError("num_partitions must be a non-negative integer")
    result = masks.stack_dynamic_partitions(data, partitions, num_partitions, name)
    return [result[i] for i in range(num_partitions)]


def _reduction(function):
    """A reduction with the older names of its arguments."""

    def reduce(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
        axis = renamed("axis", axis, "reduction_indices", reduction_indices)
        return function(input_tensor, axis, renamed("keepdims", keepdims, "keep_dims", keep_dims), name)

    return reduce


@public("python.ops.ragged.ragged_string_ops.reduce_join")
def reduce_join_of_rows(
    inputs, axis=None, keep_dims=None, separator="", name=None, reduction_indices=None, keepdims=None
):
    """Strings joined along dimensions."""
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    inputs = convert_to_tensor_or_ragged_tensor(inputs)
    return arithmetic.reduced(
        reduce_join, ops.unsorted_segment_join, inputs, axis, keepdims, separator, name or "RaggedSegmentJoin"
    )


_replace(ops.batch_gather, gathers.batch_gather, ["params", "indices"])
_replace(ops.concat, concatenation.concat, ["[values]"])
_replace(ops.expand_dims, _expand_dims, ["input"])
_replace(ops.gather, _gather, ["params", "indices"])
_replace(ops.gather_nd, gathers.gather_nd, ["params", "indices"])
_replace(ops.one_hot, arrays.one_hot, ["indices"])
_replace(ops.rank, arrays.rank, ["input"])
_replace(ops.size, arrays.size, ["input"])
_replace(ops.squeeze, _squeeze, ["input"])
_replace(ops.stack, concatenation.stack, ["[values]"])
_replace(ops.tile, arrays.tile, ["input"])
_replace(ops.where, masks.where, ["condition", "x", "y"])
_replace(ops.dynamic_partition, _dynamic_partition, ["data", "partitions"])
for _kind in ("sum", "prod", "min", "max", "mean", "sqrt_n"):
    _of_segments = getattr(ops, f"unsorted_segment_{_kind}")
    _replace(_of_segments, getattr(arithmetic, f"segment_{_kind}"), ["data", "segment_ids"])
for _kind in ("sum", "prod", "min", "max", "mean", "any", "all"):
    _reduce = getattr(ops, f"reduce_{_kind}")
    _replace(_reduce, _reduction(getattr(arithmetic, f"reduce_{_kind}")), ["input_tensor"])
_replace(reduce_join, reduce_join_of_rows, ["inputs"])


# ---- Operators ----------------------------------------------------------------------------------------------------

_OPERATORS = {
    "add": ops.add, "sub": ops.sub, "mul": ops.mul, "div": ops.div, "truediv": ops.truediv, "floordiv": ops.floordiv,
    "mod": ops.floor_mod, "pow": ops.pow, "and": ops.logical_and, "or": ops.logical_or, "xor": ops.logical_xor,
}  # fmt: skip
_UNREFLECTED = {
    "lt": ops.less, "le": ops.less_equal, "gt": ops.greater, "ge": ops.greater_equal, "neg": ops.negative,
    "abs": ops.abs, "invert": ops.logical_not,
}  # fmt: skip


def _operator(function):
    return lambda self, *other: function(self, *other)


def _reflected(function):
    return lambda self, other: function(other, self)


def _no_boolean(_):
    raise TypeError("RaggedTensor may not be used as a boolean.")


def _install():
    """Gives ragged tensors the operators, which are functions that know of ragged tensors."""
    members = {f"__{name}__": _operator(function) for name, function in {**_OPERATORS, **_UNREFLECTED}.items()}
    members.update({f"__r{name}__": _reflected(function) for name, function in _OPERATORS.items()})
    members.update(__getitem__=get_item, __bool__=_no_boolean, __nonzero__=_no_boolean)
    for name, member in members.items():
        setattr(RaggedTensor, name, member)


handle_binary(ops.div)
_install()
