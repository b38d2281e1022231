"""StridedSlice: the part of an array that Python's `array[index, begin:end:stride, ..., newaxis]` names."""

from __future__ import annotations

import sys

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import Dimension
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.convert import widened
from stillflow.ops.registry import define_op

_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
_MASK_ATTRS = "; ".join(f"{name}: int = 0" for name in _MASKS)
_MASK_NAMES = ", ".join(_MASKS)

strided_slice_op = define_op(
    "StridedSlice(input: T, begin: Index, end: Index, strides: Index) -> (output: T)",
    f"T: type; Index: {{int32, int64}}; {_MASK_ATTRS}",
    kernel=f"strided_slice(input, begin, end, strides | {_MASK_NAMES})",
    traits="moves_elements",
)
strided_slice_grad = define_op(
    "StridedSliceGrad(shape: Index, begin: Index, end: Index, strides: Index, dy: T) -> (output: T)",
    f"T: type; Index: {{int32, int64}}; {_MASK_ATTRS}",
    kernel=f"strided_slice_grad(shape, begin, end, strides, dy | {_MASK_NAMES})",
)
strided_slice_assign = define_op(
    "StridedSliceAssign(ref: Ref(T), begin: Index, end: Index, strides: Index, value: T) -> (output_ref: Ref(T))",
    f"T: type; Index: {{int32, int64}}; {_MASK_ATTRS}",
    kernel=f"strided_slice_assign(ref, begin, end, strides, value | {_MASK_NAMES})",
    differentiable=None,
)
resource_strided_slice_assign = define_op(
    "ResourceStridedSliceAssign(ref: resource, begin: Index, end: Index, strides: Index, value: T) -> ()",
    f"T: type; Index: {{int32, int64}}; {_MASK_ATTRS}",
    kernel=f"strided_slice_assign(ref, begin, end, strides, value | {_MASK_NAMES})",
    stateful=True,
    differentiable=False,
)
tensor_strided_slice_update = define_op(
    "TensorStridedSliceUpdate(input: T, begin: Index, end: Index, strides: Index, value: T) -> (output: T)",
    f"T: type; Index: {{int32, int64}}; {_MASK_ATTRS}",
    kernel=f"strided_slice_update(input, begin, end, strides, value | {_MASK_NAMES})",
    differentiable=None,
)


@tensor_strided_slice_update.shape_rule
def _(context):
    return context.shapes[0]


# ---- What a specification means -----------------------------------------------------------------------------

NEW_AXIS = "new axis"  # an entry of _entries that makes a dimension of size 1


def _entries(rank, count, masks):
    """For each dimension of the input, and each new one: the number of its entry, or None if there is none.

    Returns [(dimension or NEW_AXIS, entry or None)] in the order of the result.
    """
    ellipsis = masks["ellipsis_mask"] & ((1 << count) - 1)
    if ellipsis & (ellipsis - 1):
        raise ShapeError("Multiple ellipses in slice spec not allowed")
    ellipsis_at = ellipsis.bit_length() - 1 if ellipsis else count  # without one, at the end
    entries_after = sum(not masks["new_axis_mask"] >> i & 1 for i in range(ellipsis_at + 1, count))
    result: list = []
    dimension = 0
    for i in range(max(count, ellipsis_at + 1)):
        if i == ellipsis_at:
            while dimension < rank - entries_after:
                result.append((dimension, None))
                dimension += 1
        elif masks["new_axis_mask"] >> i & 1:
            result.append((NEW_AXIS, i))
        elif dimension == rank:
            raise ShapeError(f"Index out of range using input dim {dimension}; input has only {rank} dims")
        else:
            result.append((dimension, i))
            dimension += 1
    return result


def _bounds(begin, end, stride, size, is_open):
    """Where a range begins and ends in a dimension of that size; `is_open` for each end that is not given."""
    least, most = (0, size) if stride > 0 else (-1, size - 1)
    full = (least, most) if stride > 0 else (most, least)

    def place(value, which):
        if is_open[which]:
            return full[which]
        return min(max(value + size if value < 0 else value, least), most)

    return place(begin, 0), place(end, 1)


def _length(begin, end, stride):
    return max(-((begin - end) // stride), 0)


def _resolve(dims, count, begin, end, strides, masks):
    """[(dimension, size of the result or None if it has none there, Python index or None if unknown)].

    `begin` and `end` are lists, or None when they are unknown.
    """
    resolved: list = []
    for dimension, i in _entries(len(dims), count, masks):
        if dimension is NEW_AXIS:
            resolved.append((NEW_AXIS, 1, None))
        elif i is None:
            resolved.append((dimension, dims[dimension], slice(None)))
        else:
            resolved.append(
                (dimension, *_resolve_entry(dimension, i, dims[dimension], begin, end, strides[i], masks))
            )
    return resolved


def _resolve_entry(dimension, i, size, begin, end, stride, masks):
    if stride == 0:
        raise ShapeError(f"strides[{dimension}] must be non-zero")
    shrinks = masks["shrink_axis_mask"] >> i & 1
    if shrinks and stride < 0 and size is not None:
        raise ShapeError("only stride 1 allowed on non-range indexing.")
    is_open = masks["begin_mask"] >> i & 1, masks["end_mask"] >> i & 1
    if shrinks:
        if begin is None or size is None:
            return "shrunk", None
        index = begin[i] + size if begin[i] < 0 else begin[i]
        if not 0 <= index < size:
            raise ShapeError(f"slice index {index} of dimension {dimension} out of bounds.")
        return "shrunk", index
    if size is None or (not all(is_open) and (begin is None or end is None)):
        return None, None
    first, last = _bounds(begin[i] if begin else 0, end[i] if end else 0, stride, size, is_open)
    return _length(first, last, stride), slice(first, None if last < 0 else last, stride)


def _known_list(value):
    return None if value is None else value.ravel().tolist()


@strided_slice_op.shape_rule
def _(context):
    dims, *specification = context.shapes
    shape: tuple = (None,)
    for part in specification:
        shape = plain.merged(shape, plain.with_rank(part, 1))
    strides = _known_list(context.value(3))
    if dims is None or shape[0] is None or strides is None:
        return None
    begin, end = _known_list(context.value(1)), _known_list(context.value(2))
    resolved = _resolve(dims, shape[0], begin, end, strides, context.attrs)
    return tuple(size for _, size, _ in resolved if size != "shrunk")


@strided_slice_op.folded_value
def _(context):
    value, begin, end, strides = (context.value(i) for i in range(4))
    if any(part is None for part in (value, begin, end, strides)):
        return None
    try:
        resolved = _resolve(value.shape, begin.size, begin.tolist(), end.tolist(), strides.tolist(), context.attrs)
    except ShapeError:
        return None
    index = tuple(None if dimension is NEW_AXIS else part for dimension, _, part in resolved)
    return np.asarray(value[index])


@strided_slice_op.partial_value
def _(context):
    """A range of a vector that is known in part."""
    begin, end, strides = (context.value(i) for i in (1, 2, 3))
    if begin is None or end is None or strides is None or begin.size != 1 or strides[0] < 0:
        return None
    if any(context.attrs[name] for name in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")):
        return None
    whole = context.partial_value(0)
    if not isinstance(whole, tuple):
        return None
    ((_, _, part),) = _resolve((len(whole),), 1, begin.tolist(), end.tolist(), strides.tolist(), context.attrs)
    return whole[part]


@strided_slice_grad.shape_rule
def _(context):
    shape = plain.with_rank(context.shapes[0], 1)
    sizes = context.partial_value(0)
    if sizes is None:
        return None if shape[0] is None else (None,) * shape[0]
    return tuple(None if size is None or size < 0 else size for size in sizes)


@strided_slice_assign.shape_rule
def _(context):
    return context.shapes[0]


# ---- Functions ----------------------------------------------------------------------------------------------


@public("strided_slice")
def strided_slice(
    input_, begin, end, strides=None, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0,
    shrink_axis_mask=0, var=None, name=None,
):  # fmt: skip
    """The part of `input_` that goes from `begin` to `end` in steps of `strides`, all integer vectors.

    Bit i of a mask says of entry i: the beginning, or the end, is not given; the entry stands for all dimensions
    that no other one names; it makes a new dimension; it is a single index whose dimension goes away. The
    result's `assign(value, name=None)` sets that part of the variable `var`.

    Raises ValueError for a stride of 0 or an index out of range, where they are known.
    """
    if strides is None:
        strides = ops.ones_like(begin)
    masks = {
        "begin_mask": begin_mask,
        "end_mask": end_mask,
        "ellipsis_mask": ellipsis_mask,
        "new_axis_mask": new_axis_mask,
        "shrink_axis_mask": shrink_axis_mask,
    }
    result = strided_slice_op(input_, begin, end, strides, name=name, **masks)

    def assign(val, name=None, default_name=name):
        if var is None:
            raise ValueError("Sliced assignment is only supported for variables")
        name = f"{default_name}_assign" if name is None else name
        return var._strided_slice_assign(begin, end, strides, val, name, **masks)

    result.assign = assign
    return result


_INDEX_TYPES = (dtypes.int32, dtypes.int64)
_WRONG_INDEX = public("python.ops.array_ops._SLICE_TYPE_ERROR")(
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are "
    "valid indices"
)


def _check_index(index):
    if isinstance(index, (int, np.integer, Dimension)):
        return
    dtype = getattr(index, "dtype", None)
    is_scalar = dtype is not None and not (index.shape and len(index.shape) == 1)
    if not is_scalar or dtypes.as_dtype(dtype).base_dtype not in _INDEX_TYPES:
        raise TypeError(f"{_WRONG_INDEX}, got {index!r}")


class _Specification:
    """Entries of an index, collected in order."""

    def __init__(self):
        self.begin, self.end, self.strides = [], [], []
        self.masks = dict.fromkeys(_MASKS, 0)

    def add(self, entry):
        if isinstance(entry, slice):
            self._add_range(entry)
        elif entry is Ellipsis or entry is None:
            self._mark("ellipsis_mask" if entry is Ellipsis else "new_axis_mask")
            self._append(0, 0, 1)
        else:
            _check_index(entry)
            entry = widened(entry)
            self._mark("shrink_axis_mask")
            self._append(entry, entry + 1, 1)

    def _add_range(self, entry):
        begin, end = (self._end_of_range(*side) for side in ((entry.start, "begin_mask"), (entry.stop, "end_mask")))
        if entry.step is not None:
            _check_index(entry.step)
        self._append(*map(widened, (begin, end, 1 if entry.step is None else entry.step)))

    def _end_of_range(self, value, mask):
        is_open = value.value is None if isinstance(value, Dimension) else value is None
        if is_open or (not isinstance(value, Tensor) and value == sys.maxsize):
            self._mark(mask)
            return 0
        _check_index(value)
        return value

    def _mark(self, mask):
        self.masks[mask] |= 1 << len(self.begin)

    def _append(self, begin, end, stride):
        self.begin.append(begin)
        self.end.append(end)
        self.strides.append(stride)

    def packed(self):
        """Three vectors of one type."""
        if not self.begin:
            empty = ops.constant([], dtypes.int32)
            return [empty] * 3
        vectors = [ops.stack(part) for part in (self.begin, self.end, self.strides)]
        if any(vector.dtype is dtypes.int64 for vector in vectors):
            vectors = [v if v.dtype is dtypes.int64 else ops.cast_op(v, DstT=dtypes.int64) for v in vectors]
        return vectors


def _is_mask(index):
    if isinstance(index, Tensor):
        return index.dtype is dtypes.bool_
    return isinstance(index, bool) or (isinstance(index, np.ndarray) and index.dtype == bool)


newaxis = public("newaxis", "python.ops.array_ops.newaxis")(None)


def get_item(tensor, index, var=None):
    """tensor[index], for ints, ranges, `...`, None, scalar integer tensors, tuples of them, and bool masks.

    Raises:
      TypeError: for anything else.
      ValueError: if an index is known to be out of range.
    """
    if _is_mask(index):
        return ops.boolean_mask(tensor, index)
    specification = _Specification()
    for entry in index if isinstance(index, (list, tuple)) else [index]:
        specification.add(entry)
    inputs = [tensor, *specification.begin, *specification.end, *specification.strides]
    with name_scope(None, "strided_slice", inputs) as scope:
        begin, end, strides = specification.packed()
        return strided_slice(tensor, begin, end, strides, var=var, name=scope, **specification.masks)


# ---- Gradients ----------------------------------------------------------------------------------------------


def _masks_of(op):
    return {name: op._attrs[name] for name in _MASKS}


@strided_slice_op.gradient
def _(op, grad):
    source, begin, end, strides = op._inputs
    shape = ops.shape(source, out_type=begin.dtype)
    return strided_slice_grad(shape, begin, end, strides, grad, **_masks_of(op)), None, None, None


@strided_slice_grad.gradient
def _(op, grad):
    _, begin, end, strides, _ = op._inputs
    return None, None, None, None, strided_slice(grad, begin, end, strides, **_masks_of(op))
