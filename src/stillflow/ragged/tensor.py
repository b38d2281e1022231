"""RaggedTensor: rows of different lengths, as the values of all and splits that say where rows begin."""

from __future__ import annotations

from typing import Any

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor, session_for
from stillflow.graph.shape import TensorShape, as_shape
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.graph.type_spec import BatchableTypeSpec, register_type_spec_from_value_converter
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor, register_conversion
from stillflow.ragged import dense, rows
from stillflow.ragged.levels import Levels
from stillflow.ragged.segments import SPLITS_TYPES, positive_axis, row_splits_to_segment_ids
from stillflow.ragged.value import RaggedTensorValue


@public("RaggedTensor", "python.ops.ragged.ragged_tensor.RaggedTensor")
class RaggedTensor(Levels, CompositeTensor):
    """A tensor with rows of different lengths: row i is values[row_splits[i]:row_splits[i + 1]].

    Made by the class methods from_..., or by tf.ragged.constant. The values of a ragged tensor may be another one:
    then rows consist of rows. Functions of tensors such as tf.add, tf.concat and tf.reduce_sum take ragged tensors.

    Raises ValueError: it is not to be called.
    """

    # numpy must leave `array + tensor` to the tensor.
    __array_priority__ = 100

    from_value_rowids = classmethod(rows.from_value_rowids)
    from_row_splits = classmethod(rows.from_row_splits)
    from_row_lengths = classmethod(rows.from_row_lengths)
    from_row_starts = classmethod(rows.from_row_starts)
    from_row_limits = classmethod(rows.from_row_limits)
    from_nested_value_rowids = classmethod(rows.from_nested_value_rowids)
    from_nested_row_splits = classmethod(rows.from_nested_row_splits)
    from_nested_row_lengths = classmethod(rows.from_nested_row_lengths)
    from_tensor = classmethod(dense.from_tensor)
    from_sparse = classmethod(dense.from_sparse)
    _from_variant = classmethod(dense.from_variant)
    to_tensor = dense.to_tensor
    to_sparse = dense.to_sparse
    _to_variant = dense.to_variant

    def __init__(
        self, values, row_splits, cached_row_lengths=None, cached_value_rowids=None, cached_nrows=None, internal=False
    ):
        if not internal:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods instead (e.g., "
                "RaggedTensor.from_row_lengths())"
            )
        if not isinstance(row_splits, Tensor):
            raise TypeError(f"Row-partitioning argument must be a Tensor, got {row_splits!r}")
        if not isinstance(values, (RaggedTensor, Tensor)):
            raise TypeError(f"values must be a Tensor or RaggedTensor, got {values!r}")
        if row_splits.dtype not in SPLITS_TYPES:
            raise ValueError("Row-partitioning argument must be int32 or int64")
        row_splits.shape.assert_has_rank(1)
        values.shape.with_rank_at_least(1)
        row_splits.set_shape([None])
        if isinstance(values, RaggedTensor):
            assert row_splits.dtype == values.row_splits.dtype
        self._values = values
        self._row_splits: Any = row_splits
        for cached in (cached_row_lengths, cached_value_rowids, cached_nrows):
            if cached is not None and not isinstance(cached, Tensor):
                raise TypeError("Cached value must be a Tensor or None.")
            if cached is not None and cached.dtype not in SPLITS_TYPES:
                raise TypeError("Cached value must be int32 or int64.")
        self._cached_row_lengths = cached_row_lengths
        self._cached_value_rowids = cached_value_rowids
        self._cached_nrows = cached_nrows

    # ---- What it is made of ----------------------------------------------------------------------------------

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def shape(self):
        """What is known of the shape: None for the sizes of ragged dimensions."""
        row_count = self._row_splits.shape.dims[0].value
        outer = TensorShape([None if row_count is None else row_count - 1, None])
        return outer.concatenate(self._values.shape[1:])

    def get_shape(self):
        return self.shape

    @property
    def graph(self):
        return self._row_splits.graph

    @property
    def op(self):
        """The operation that makes the values."""
        return self.flat_values.op

    # ---- Rows ------------------------------------------------------------------------------------------------

    def value_rowids(self, name=None):
        """The row of each value."""
        if self._cached_value_rowids is not None:
            return self._cached_value_rowids
        with name_scope(name, "RaggedValueRowIds", [self]):
            return row_splits_to_segment_ids(self._row_splits)

    def nested_value_rowids(self, name=None):
        """value_rowids of all ragged dimensions, the outermost first."""
        with name_scope(name, "RaggedNestedValueRowIds", [self]):
            return tuple(level.value_rowids() for level in self._levels())

    def nrows(self, out_type=None, name=None):
        """How many rows there are, an integer of `out_type`, by default that of the splits."""
        out_type = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        if self._cached_nrows is not None:
            return ops.cast(self._cached_nrows, out_type)
        with name_scope(name, "RaggedNRows", [self]):
            return ops.shape(self._row_splits, out_type=out_type)[0] - 1

    def row_starts(self, name=None):
        """Where each row begins in the values."""
        with name_scope(name, "RaggedRowStarts", [self]):
            return self._row_splits[:-1]

    def row_limits(self, name=None):
        """Where each row ends in the values."""
        with name_scope(name, "RaggedRowLimits", [self]):
            return self._row_splits[1:]

    def row_lengths(self, axis=1, name=None):
        """The lengths of the rows along `axis`: ragged, too, below the first ragged dimension."""
        if self._cached_row_lengths is not None:
            return self._cached_row_lengths
        with name_scope(name, "RaggedRowLengths", [self]):
            axis = positive_axis(axis, self.shape.rank)
            if axis == 0:
                return self.nrows()
            if axis == 1:
                return self._row_splits[1:] - self._row_splits[:-1]
            if isinstance(self._values, RaggedTensor):
                return self.with_values(self._values.row_lengths(axis - 1))
            splits_dtype = self._row_splits.dtype
            shape = ops.shape(self._values, out_type=splits_dtype)
            return self.with_values(ops.ones(shape[: axis - 1], splits_dtype) * shape[axis - 1])

    def nested_row_lengths(self, name=None):
        """The lengths of rows in all ragged dimensions, the outermost first."""
        with name_scope(name, "RaggedNestedRowLengths", [self]):
            return tuple(level.row_lengths() for level in self._levels())

    def bounding_shape(self, axis=None, name=None, out_type=None):
        """The shape of the smallest dense tensor that has room for it, or its sizes along `axis`."""
        out_type = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        with name_scope(name, "RaggedBoundingBox", [self, axis]):
            nested_splits = self.nested_row_splits
            flat_values = self.flat_values
            if isinstance(axis, int) and axis == 0:
                return ops.shape(nested_splits[0], out_type=out_type)[0] - 1
            if isinstance(axis, int) and axis == 1:
                return ops.maximum(ops.reduce_max(self.row_lengths()), 0)
            splits_shape = ops.shape(self._row_splits, out_type=out_type)
            values_shape = ops.shape(flat_values, out_type=out_type)
            widths = [ops.maximum(ops.reduce_max(splits[1:] - splits[:-1]), 0) for splits in nested_splits]
            widths = [ops.cast(width, out_type) for width in widths]
            sizes = ops.concat([ops.stack([splits_shape[0] - 1, *widths]), values_shape[1:]], axis=0)
            return sizes if axis is None else ops.gather(sizes, axis)

    # ---- The same rows with something else -------------------------------------------------------------------

    def with_values(self, new_values):
        """Rows of the same lengths with other values. Raises ValueError for values that do not fit."""
        new_values.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(new_values.shape[:1])
        if isinstance(new_values, RaggedTensor) and self._row_splits.dtype != new_values.row_splits.dtype:
            raise ValueError(
                "self and new_values have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() to "
                "convert them to compatible dtypes."
            )
        cached = self._cached_row_lengths, self._cached_value_rowids, self._cached_nrows
        return RaggedTensor(new_values, self._row_splits, *cached, internal=True)

    def with_flat_values(self, new_values):
        """The same nested rows with other values. Raises ValueError for values that do not fit."""
        if isinstance(self._values, RaggedTensor):
            new_values = self._values.with_flat_values(new_values)
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype):
        """The same with splits of another type. Raises ValueError for one that is neither int32 nor int64."""
        dtype = dtypes.as_dtype(dtype)
        if dtype not in SPLITS_TYPES:
            raise ValueError("dtype must be int32 or int64")
        if self._row_splits.dtype == dtype:
            return self
        splits = ops.cast(self._row_splits, dtype)
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(dtype)
        lengths, rowids, count = (
            None if tensor is None else ops.cast(tensor, dtype)
            for tensor in (self._cached_row_lengths, self._cached_value_rowids, self._cached_nrows)
        )
        return RaggedTensor(values, splits, lengths, rowids, count, internal=True)

    # ---- Values ----------------------------------------------------------------------------------------------

    def eval(self, feed_dict=None, session=None):
        """A RaggedTensorValue, computed by `session` or the default session. Raises ValueError without one."""
        return session_for(self.graph, session, "evaluate tensor", "eval").run(self, feed_dict)

    def _is_eager(self):
        return all(hasattr(part, "numpy") for part in (self.flat_values, *self.nested_row_splits))

    def _eager_value(self):
        value = self.flat_values.numpy()
        for splits in reversed(self.nested_row_splits):
            value = RaggedTensorValue(value, splits.numpy())
        return value

    def to_list(self):
        """Lists of Python values, nested as the rows are. Raises ValueError unless executed eagerly."""
        if not self._is_eager():
            raise ValueError(
                "RaggedTensor.to_list() is only supported in eager mode; in graph mode, evaluate the RaggedTensor "
                "first and then use RaggedTensorValue.to_list()."
            )
        return self._eager_value().to_list()

    def __repr__(self):
        if self._is_eager():
            return f"<tf.RaggedTensor {self.to_list()}>"
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"

    def _as_graph_element(self):
        """What stands for it where one tensor is asked for."""
        return self.flat_values

    def consumers(self):
        """The operations that take one of its tensors."""
        return self._consumers()

    def _to_components(self):
        return [self.flat_values, *self.nested_row_splits]

    @property
    def _type_spec(self):
        return RaggedTensorSpec.from_value(self)

    def _shape_invariant_to_type_spec(self, shape):
        # Of a loop's variable, the shape of the whole is given.
        return RaggedTensorSpec(shape, self.dtype, self.ragged_rank, self._row_splits.dtype)


def of_parts(tensors):
    """The ragged tensor of flat values and nested splits; the values themselves without splits."""
    result, *splits = tensors
    for each in reversed(splits):
        result = RaggedTensor(result, each, internal=True)
    return result


@public("RaggedTensorSpec", "python.ops.ragged.ragged_tensor.RaggedTensorSpec")
class RaggedTensorSpec(BatchableTypeSpec):
    """A RaggedTensor of types and, as far as it is known, of a shape. A variant carries it.

    Args:
      shape: a TensorShape or what converts to one, with None for ragged dimensions; None for unknown.
      dtype: the type of the values.
      ragged_rank: how many dimensions are ragged, an int; by default all but the first.
      row_splits_dtype: int32 or int64.

    Raises:
      ValueError: without a shape of known rank and `ragged_rank`, and if that is not less than the rank.
      TypeError: if `ragged_rank` is no int.
    """

    __slots__ = ("_dtype", "_ragged_rank", "_row_splits_dtype", "_shape")
    CLASS_IN_MESSAGES = "RAGGED_TENSOR_SPEC"

    def __init__(self, shape=None, dtype=dtypes.float32, ragged_rank=None, row_splits_dtype=dtypes.int64):
        self._shape = as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError("ragged_rank must be an int")
        if rank is not None and ragged_rank >= rank:
            raise ValueError("ragged_rank must be less than rank.")
        self._ragged_rank = ragged_rank

    @classmethod
    def from_value(cls, value):
        """The specification of a RaggedTensor or RaggedTensorValue."""
        return cls(value.shape, value.values.dtype, value.ragged_rank, value.row_splits.dtype)

    @property
    def value_type(self):
        return RaggedTensor if self._ragged_rank > 0 else Tensor

    def _serialize(self):
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    @property
    def _component_specs(self):
        if self._ragged_rank == 0:
            return [TensorSpec(self._shape, self._dtype)]
        values_shape = TensorShape([None]).concatenate(self._shape[self._ragged_rank + 1 :])
        row_count = None if self._shape.rank is None else self._shape.dims[0].value
        return [
            TensorSpec(values_shape, self._dtype),
            TensorSpec([None if row_count is None else row_count + 1], self._row_splits_dtype),
            *[TensorSpec([None], self._row_splits_dtype)] * (self._ragged_rank - 1),
        ]

    def _to_components(self, value):
        return [value.flat_values, *value.nested_row_splits] if is_ragged(value) else [value]

    def _from_components(self, components):
        """A RaggedTensor of tensors, a RaggedTensorValue of arrays."""
        if not all(isinstance(part, np.ndarray) for part in components):
            return of_parts([convert_to_tensor(part) for part in components])
        value, *splits = components
        for each in reversed(splits):
            value = RaggedTensorValue(value, each)
        return value

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value):
        return [value._to_variant(batched_input=False)]

    def _to_batched_tensor_list(self, value):
        return [value._to_variant(batched_input=True)]

    def _from_compatible_tensor_list(self, tensor_list):
        if self._ragged_rank <= 0:
            raise ValueError(f"ragged_rank must be non-negative; got {self._ragged_rank}.")
        result = RaggedTensor._from_variant(tensor_list[0], self._dtype, self._ragged_rank)
        if self._shape.rank is not None:
            row_count = self._shape.dims[0].value
            if row_count is not None:
                result.row_splits.set_shape([row_count + 1])
            result.flat_values.set_shape(TensorShape([None]).concatenate(self._shape[1 + self._ragged_rank :]))
        return result

    def _batch(self, batch_size):
        return RaggedTensorSpec(
            TensorShape([batch_size]).concatenate(self._shape), self._dtype, self._ragged_rank + 1
        )

    def _unbatch(self):
        # A ragged rank below 1 is no value's, but what is batched again is one.
        return RaggedTensorSpec(self._shape[1:], self._dtype, self._ragged_rank - 1)

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        return self._shape

    def _to_legacy_output_classes(self):
        return self


register_type_spec_from_value_converter(RaggedTensorValue, RaggedTensorSpec.from_value)


def _refuse(value, dtype, name, as_ref):
    """A ragged tensor is no tensor, nor does one become it without being asked."""
    raise TypeError(
        f"Failed to convert object of type {type(value)} to Tensor. Contents: {value}. Consider casting elements to "
        "a supported type."
    )


register_conversion((RaggedTensor, RaggedTensorValue), _refuse, priority=0)


@public("python.ops.ragged.ragged_tensor.is_ragged")
def is_ragged(value):
    """Whether it is a RaggedTensor or a RaggedTensorValue."""
    return isinstance(value, (RaggedTensor, RaggedTensorValue))


@public("python.ops.ragged.ragged_tensor.match_row_splits_dtypes")
def match_row_splits_dtypes(*tensors, return_dtype=False):
    """The tensors, if the ragged ones among them have splits of one type; with that type if `return_dtype`.

    Raises ValueError if they have not.
    """
    found = {tensor.row_splits.dtype for tensor in tensors if isinstance(tensor, RaggedTensor)}
    if len(found) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() to "
            "convert them to compatible dtypes."
        )
    return (found.pop() if found else dtypes.int64, tensors) if return_dtype else tensors


@public("python.ops.ragged.ragged_tensor.convert_to_tensor_or_ragged_tensor")
def convert_to_tensor_or_ragged_tensor(value, dtype=None, preferred_dtype=None, name=None):
    """A ragged tensor for a RaggedTensor or a RaggedTensorValue, a tensor for anything else.

    Raises ValueError if a ragged tensor is not of `dtype`.
    """
    if isinstance(value, RaggedTensor):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for RaggedTensor with dtype "
                f"{value.dtype.name}: {value!r}"
            )
        return value
    if isinstance(value, RaggedTensorValue):
        with name_scope(name, "ConvertToTensorOrRaggedTensor", []):
            flat_values = convert_to_tensor(value.flat_values, dtype, "flat_values", preferred_dtype)
            return RaggedTensor.from_nested_row_splits(flat_values, value.nested_row_splits, validate=False)
    return convert_to_tensor(value, dtype, name, preferred_dtype)
