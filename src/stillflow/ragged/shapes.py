"""Shapes of ragged tensors as tensors, and broadcasting: sizes of uniform dimensions, row lengths of the others."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import checks
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ragged.arrays import tile
from stillflow.ragged.segments import SPLITS_TYPES, as_int_tensor, lengths_to_splits, repeat_ranges
from stillflow.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor


@public("python.ops.ragged.ragged_tensor_shape.RaggedTensorDynamicShape")
class RaggedTensorDynamicShape:
    """The shape of a ragged tensor.

    Args:
      partitioned_dim_sizes: for each dimension down to the last ragged one: its size, or the lengths of its rows. The
        first is uniform, the last is ragged.
      inner_dim_sizes: a vector of the sizes of the others.
      dim_size_dtype: int32 or int64; by default that of the lengths.

    Raises ValueError for sizes of unknown or other ranks, and lengths of different types.
    """

    def __init__(self, partitioned_dim_sizes, inner_dim_sizes, dim_size_dtype=None):
        assert isinstance(partitioned_dim_sizes, (list, tuple))
        with name_scope(None, "RaggedTensorDynamicShape", (partitioned_dim_sizes, inner_dim_sizes)):
            sizes = tuple(
                convert_to_tensor(size, name=f"partitioned_dimension_size_{i}")
                for i, size in enumerate(partitioned_dim_sizes)
            )
            inner = convert_to_tensor(inner_dim_sizes, name="inner_dim_sizes")
            for axis, size in enumerate(sizes):
                if size.shape.rank is None:
                    raise ValueError(f"rank of partitioned_dim_sizes[{axis}] is unknown")
                size.shape.with_rank_at_most(1)
            if sizes and sizes[0].shape.rank == 1:
                raise ValueError("outermost partitioned dimension must be uniform")
            if sizes and sizes[-1].shape.rank == 0:
                raise ValueError("innermost partitioned dimension must be ragged")
            inner.shape.assert_has_rank(1)
            if dim_size_dtype is None:
                found = {size.dtype for size in sizes if size.shape.rank == 1}
                if len(found) > 1:
                    raise ValueError("partitioned_dim_sizes must have matching dtypes")
                dim_size_dtype = found.pop() if found else dtypes.int64
            self._partitioned_dim_sizes = tuple(ops.cast(size, dim_size_dtype) for size in sizes)
            self._inner_dim_sizes = ops.cast(inner, dim_size_dtype)

    def __repr__(self):
        return (
            f"RaggedTensorDynamicShape(partitioned_dim_sizes={self._partitioned_dim_sizes!r}, "
            f"inner_dim_sizes={self._inner_dim_sizes!r})"
        )

    @staticmethod
    def from_dim_sizes(dim_sizes):
        """The shape of a size, or row lengths, for each dimension. Raises ValueError for other ranks."""
        with name_scope(None, "RaggedTensorDynamicShapeFromDimensionSizes", [dim_sizes]):
            sizes = tuple(
                convert_to_tensor(size, preferred_dtype=dtypes.int64, name="dim_sizes") for size in dim_sizes
            )
            ranks = [size.shape.rank for size in sizes]
            if any(rank not in (0, 1) for rank in ranks):
                raise ValueError("Each dim_size must be a scalar or a vector")
            count = max((axis + 1 for axis, rank in enumerate(ranks) if rank == 1), default=0)
            return RaggedTensorDynamicShape(sizes[:count], sizes[count:])

    @classmethod
    def from_tensor(cls, rt_input, dim_size_dtype=None):
        """The shape of a tensor or ragged tensor."""
        with name_scope(None, "RaggedTensorDynamicShapeFromTensor", [rt_input]):
            rt_input = convert_to_tensor_or_ragged_tensor(rt_input)
            if not isinstance(rt_input, RaggedTensor):
                return cls([], ops.shape(rt_input))
            sizes = (rt_input.nrows(), *rt_input.nested_row_lengths())
            return cls(sizes, ops.shape(rt_input.flat_values)[1:], dim_size_dtype)

    # ---- What it says ----------------------------------------------------------------------------------------

    def dimension_size(self, axis):
        """The size of a dimension, or the lengths of its rows. Raises TypeError for an axis that is no integer."""
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        count = len(self._partitioned_dim_sizes)
        return self._partitioned_dim_sizes[axis] if axis < count else self._inner_dim_sizes[axis - count]

    def is_ragged(self, axis):
        """Whether the rows of a dimension may have different lengths. Raises TypeError and ValueError for no axis."""
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        if axis < 0:
            raise ValueError("Negative axis values are not supported")
        rank = self.rank
        if rank is not None and axis >= rank:
            raise ValueError(f"Expected axis={axis} < rank={rank}")
        sizes = self._partitioned_dim_sizes
        return 0 < axis < len(sizes) and sizes[axis].shape.rank == 1

    @property
    def rank(self):
        """The number of dimensions, or None."""
        inner = self.num_inner_dimensions
        return None if inner is None else len(self._partitioned_dim_sizes) + inner

    @property
    def partitioned_dim_sizes(self):
        return self._partitioned_dim_sizes

    @property
    def inner_dim_sizes(self):
        return self._inner_dim_sizes

    @property
    def num_partitioned_dimensions(self):
        return len(self._partitioned_dim_sizes)

    @property
    def num_inner_dimensions(self):
        return dimension_value(self._inner_dim_sizes.shape[0])

    @property
    def dim_size_dtype(self):
        return self._inner_dim_sizes.dtype

    def num_slices_in_dimension(self, axis):
        """How many values there are when all dimensions down to `axis` count as one."""
        if axis < 0:
            return ops.constant(1, dtype=self.dim_size_dtype)
        if self.is_ragged(axis):
            return ops.reduce_sum(self._partitioned_dim_sizes[axis])
        return self.dimension_size(axis) * self.num_slices_in_dimension(axis - 1)

    # ---- Broadcasting ----------------------------------------------------------------------------------------

    def with_dim_size_dtype(self, dtype):
        """The same in another type. Raises ValueError for one that is neither int32 nor int64."""
        if dtype not in SPLITS_TYPES:
            raise ValueError("dtype must be int32 or int64")
        if self.dim_size_dtype == dtype:
            return self
        sizes = [ops.cast(size, dtype) for size in self._partitioned_dim_sizes]
        return RaggedTensorDynamicShape(sizes, ops.cast(self._inner_dim_sizes, dtype))

    def broadcast_to_rank(self, rank):
        """The shape with dimensions of size 1 in front. Raises ValueError for a smaller, or unknown, rank."""
        if self.rank is None:
            raise ValueError("Unable to broadcast: self.rank is unknown")
        added = rank - self.rank
        if added < 0:
            raise ValueError(f"Unable to broadcast: rank={rank} must be greater than self.rank={self.rank}.")
        if added == 0:
            return self
        if self._partitioned_dim_sizes:
            return RaggedTensorDynamicShape((1,) * added + self._partitioned_dim_sizes, self._inner_dim_sizes)
        ones = ops.ones([added], self.dim_size_dtype)
        return RaggedTensorDynamicShape([], ops.concat([ones, self._inner_dim_sizes], axis=0))

    def broadcast_dimension(self, axis, lengths):
        """The shape with the size, or row lengths, `lengths` in a dimension that has them or is 1.

        Raises:
          TypeError: for lengths that are no integers.
          ValueError: for lengths that are neither a scalar nor a vector, and a ragged outermost dimension.
          InvalidArgumentError: if sizes do not fit, when it runs.
        """
        lengths = as_int_tensor(lengths, "lengths", self.dim_size_dtype)
        if lengths.shape.rank is None:
            raise ValueError("lengths must have a known rank.")
        if lengths.shape.rank > 1:
            raise ValueError("lengths must be a scalar or vector")
        with get_default_graph().control_dependencies([self._assert_broadcasts(axis, lengths)]):
            if axis < self.num_partitioned_dimensions:
                if self.is_ragged(axis):
                    return RaggedTensorDynamicShape(self._partitioned_dim_sizes, ops.identity(self._inner_dim_sizes))
                return self._with_partitioned_size(axis, lengths)
            if lengths.shape.rank == 0:
                return self._with_inner_size(axis, lengths)
            if axis == 0:
                raise ValueError("Unable to broadcast: outermost dimension must be uniform.")
            return self._with_ragged_inner(axis, lengths)

    def _assert_broadcasts(self, axis, lengths):
        size = self.dimension_size(axis)
        is_scalar = lengths.shape.rank == 0
        if self.is_ragged(axis):
            fits = ops.equal(lengths, 1) if is_scalar else ops.reduce_all(ops.equal(lengths, size))
        elif is_scalar:
            fits = ops.logical_or(ops.logical_or(ops.equal(lengths, 1), ops.equal(size, 1)), ops.equal(size, lengths))
        else:
            fits = ops.equal(size, 1)
        message = [
            "Unable to broadcast: dimension size mismatch in dimension",
            axis,
            "lengths=",
            lengths,
            "dim_size=",
        ]
        return checks.assert_that(fits, [*message, size], summarize=10)

    def _with_partitioned_size(self, axis, lengths):
        size = self.dimension_size(axis)
        sizes = list(self._partitioned_dim_sizes[:axis])
        if lengths.shape.rank == 0:
            is_one = ops.equal(size, 1)
            repeats = ops.where(is_one, lengths, ops.ones_like(lengths))
            lengths = ops.where(is_one, lengths, size)
            splits = ops.stack([0, self.num_slices_in_dimension(axis)])
        else:
            splits = ops.range(ops.size(lengths, out_type=self.dim_size_dtype) + 1)
            repeats = lengths
        sizes.append(lengths)
        for inner in self._partitioned_dim_sizes[axis + 1 :]:
            if inner.shape.rank == 0:
                sizes.append(inner)
                splits *= inner
            else:
                sizes.append(repeat_ranges(inner, splits, repeats))
                splits = ops.gather(lengths_to_splits(inner), splits)
        return RaggedTensorDynamicShape(sizes, self._inner_dim_sizes)

    def _with_inner_size(self, axis, length):
        size = self.dimension_size(axis)
        place = axis - self.num_partitioned_dimensions
        own = self._inner_dim_sizes
        broadcast = ops.where(ops.equal(size, 1), length, size)
        inner = ops.concat([own[:place], [broadcast], own[place + 1 :]], axis=0)
        return RaggedTensorDynamicShape(self._partitioned_dim_sizes, inner)

    def _with_ragged_inner(self, axis, lengths):
        place = axis - self.num_partitioned_dimensions
        before = tuple(self._inner_dim_sizes[i] for i in range(place))
        sizes = (*self._partitioned_dim_sizes, *before, lengths)
        return RaggedTensorDynamicShape(sizes, self._inner_dim_sizes[place + 1 :])


@public("python.ops.ragged.ragged_tensor_shape.broadcast_dynamic_shape")
def broadcast_dynamic_shape(shape_x, shape_y):
    """The shape that both broadcast to.

    Raises:
      TypeError: for what is no RaggedTensorDynamicShape.
      ValueError: for unknown ranks.
    """
    for name, shape in (("shape_x", shape_x), ("shape_y", shape_y)):
        if not isinstance(shape, RaggedTensorDynamicShape):
            raise TypeError(f"{name} must be a RaggedTensorDynamicShape")
    if shape_x.rank is None or shape_y.rank is None:
        raise ValueError("Unable to broadcast: unknown rank")
    rank = max(shape_x.rank, shape_y.rank)
    shape_x, shape_y = shape_x.broadcast_to_rank(rank), shape_y.broadcast_to_rank(rank)
    for axis in range(rank):
        shape_x = shape_x.broadcast_dimension(axis, shape_y.dimension_size(axis))
        shape_y = shape_y.broadcast_dimension(axis, shape_x.dimension_size(axis))
    return shape_x


@public("python.ops.ragged.ragged_tensor_shape.broadcast_to")
def broadcast_to(rt_input, shape, broadcast_inner_dimensions=True):
    """A tensor or ragged tensor with values repeated so that it has a shape.

    Args:
      rt_input: of sizes that are those of the shape, or 1.
      shape: a RaggedTensorDynamicShape.
      broadcast_inner_dimensions: whether dimensions below the last ragged one are, too.

    Raises:
      TypeError: for what is no RaggedTensorDynamicShape.
      ValueError: for ranks that do not fit or are unknown.
    """
    if not isinstance(shape, RaggedTensorDynamicShape):
        raise TypeError("shape must be a RaggedTensorDynamicShape")
    rt_input = convert_to_tensor_or_ragged_tensor(rt_input)
    if shape.num_partitioned_dimensions != 0:
        return _broadcast_to_ragged(rt_input, shape, broadcast_inner_dimensions)
    if isinstance(rt_input, RaggedTensor):
        raise ValueError("Incompatible with shape: ragged rank mismatch")
    return ops.broadcast_to(rt_input, shape.inner_dim_sizes) if broadcast_inner_dimensions else rt_input


def _check_ranks(rt_input, shape):
    is_ragged = isinstance(rt_input, RaggedTensor)
    if is_ragged and rt_input.row_splits.dtype != shape.dim_size_dtype:
        raise ValueError(
            "rt_input and dst_shape have different row_split dtypes; use RaggedTensor.with_row_splits_dtype() or "
            "RaggedTensorDynamicShape.with_dim_size_dtype() to convert to a compatible dtype."
        )
    if rt_input.shape.rank is None or shape.rank is None:
        raise ValueError("Unable to broadcast: unknown rank")
    if rt_input.shape.rank > shape.rank:
        raise ValueError("Incompatible with shape: rank mismatch")
    if is_ragged and rt_input.ragged_rank >= shape.num_partitioned_dimensions:
        raise ValueError("Incompatible with shape: ragged rank mismatch")


def _broadcast_to_ragged(rt_input, shape, broadcast_inner_dimensions):
    _check_ranks(rt_input, shape)
    own = RaggedTensorDynamicShape.from_tensor(rt_input).broadcast_to_rank(shape.rank)
    rt_input = _with_rank(rt_input, shape)
    dtype, count = shape.dim_size_dtype, shape.num_partitioned_dimensions
    # All partitioned dimensions become ragged ones.
    if isinstance(rt_input, RaggedTensor):
        missing = rt_input.flat_values.shape.rank - 1 - shape.num_inner_dimensions
        if missing > 0:
            values = RaggedTensor.from_tensor(rt_input.flat_values, ragged_rank=missing, row_splits_dtype=dtype)
            rt_input = rt_input.with_flat_values(values)
    else:
        rt_input = RaggedTensor.from_tensor(rt_input, ragged_rank=count - 1, row_splits_dtype=dtype)
    multiples: list = [1] * shape.rank
    for axis in range(count):
        if not own.is_ragged(axis) and not shape.is_ragged(axis):
            multiples[axis] = _multiple(own, shape, axis)
    if broadcast_inner_dimensions:
        for axis in range(count, shape.rank):
            multiples[axis] = _multiple(own, shape, axis)
    if any(not isinstance(multiple, int) or multiple != 1 for multiple in multiples):
        rt_input = tile(rt_input, ops.stack([ops.cast(multiple, dtype) for multiple in multiples]))
    for axis in range(count):
        if not own.is_ragged(axis) and shape.is_ragged(axis):
            rt_input = _tile_axis(rt_input, axis, shape.dimension_size(axis), dtype)
    return rt_input


def _multiple(own, shape, axis):
    """How often values are repeated along a uniform dimension: not at all, or as often as the shape says."""
    size, wanted = own.dimension_size(axis), shape.dimension_size(axis)
    if constant_value(size) not in (1, None) or constant_value(wanted) == 1:
        return 1
    size = ops.cast(size, shape.dim_size_dtype)
    return ops.where(ops.equal(size, 1), wanted, ops.ones_like(wanted))


def _with_rank(rt_input, shape):
    """Dimensions of size 1 in front, so that there are as many as in the shape."""
    if shape.rank == rt_input.shape.rank:
        return rt_input
    if rt_input.shape.rank < shape.num_inner_dimensions + 1:
        rt_input = ops.reshape(rt_input, ops.concat([[-1], shape.inner_dim_sizes], axis=0))
    for _ in range(shape.rank - rt_input.shape.rank):
        if isinstance(rt_input, RaggedTensor):
            count = rt_input.nrows()
        else:
            count = ops.shape(rt_input, out_type=shape.dim_size_dtype)[0]
        rt_input = RaggedTensor.from_row_lengths(rt_input, [count], validate=False)
    return rt_input


def _tile_axis(rt_input, axis, repeats, splits_dtype):
    """Repeats the values of each row of a dimension as often as `repeats` says for it."""
    if not isinstance(rt_input, RaggedTensor):
        rt_input = RaggedTensor.from_tensor(rt_input, ragged_rank=1, row_splits_dtype=splits_dtype)
    if axis > 1:
        return rt_input.with_values(_tile_axis(rt_input.values, axis - 1, repeats, splits_dtype))
    nested_splits, nested_lengths = rt_input.nested_row_splits, rt_input.nested_row_lengths()
    splits = nested_splits[0]
    lengths = [repeats]
    for inner_splits, inner_lengths in zip(nested_splits[1:], nested_lengths[1:], strict=True):
        lengths.append(repeat_ranges(inner_lengths, splits, repeats))
        splits = ops.gather(inner_splits, splits)
    values = repeat_ranges(rt_input.flat_values, splits, repeats)
    return RaggedTensor.from_nested_row_lengths(values, lengths, validate=False)
