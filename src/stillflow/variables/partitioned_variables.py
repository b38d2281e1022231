"""Variables in parts: how wholes are cut, and the parts as one variable."""

from __future__ import annotations

import math
from collections.abc import Sequence

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.convert import register_conversion

# ---- How to cut -----------------------------------------------------------------------------------------------


@public("fixed_size_partitioner")
def fixed_size_partitioner(num_shards, axis=0):
    """Cuts into `num_shards` parts along `axis`, or as many as it has elements."""

    def partitioner(shape, **_):
        partitions = [1] * len(shape)
        partitions[axis] = min(num_shards, shape.dims[axis].value)
        return partitions

    return partitioner


@public("variable_axis_size_partitioner")
def variable_axis_size_partitioner(max_shard_bytes, axis=0, bytes_per_string_element=16, max_shards=None):
    """Cuts along `axis` so that no part exceeds `max_shard_bytes` where that is possible."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("Both max_shard_bytes and bytes_per_string_element must be positive.")
    if max_shards and max_shards < 1:
        raise ValueError("max_shards must be positive.")

    def partitioner(shape, dtype):
        if not isinstance(shape, TensorShape):
            raise ValueError(f"shape is not a TensorShape: {shape}")
        if not shape.is_fully_defined():
            raise ValueError(f"shape is not fully defined: {shape}")
        length = shape.dims[axis].value
        slice_bytes = shape.num_elements() / length * _element_bytes(dtype, bytes_per_string_element)
        slices_each = max(1, math.floor(max_shard_bytes / slice_bytes))
        parts = math.ceil(length / slices_each)
        partitions = [1] * shape.ndims
        partitions[axis] = min(max_shards, parts) if max_shards else parts
        return partitions

    return partitioner


@public("min_max_variable_partitioner")
def min_max_variable_partitioner(max_partitions=1, axis=0, min_slice_size=256 << 10, bytes_per_string_element=16):
    """Cuts along `axis` into parts of `min_slice_size` bytes at least, into `max_partitions` at most."""

    def partitioner(shape, dtype):
        if axis >= len(shape):
            raise ValueError(f"Can not partition variable along axis {axis} when shape is only {shape}")
        parts = math.ceil(shape.num_elements() * _element_bytes(dtype, bytes_per_string_element) / min_slice_size)
        partitions = [1] * len(shape)
        partitions[axis] = max(1, min(shape.dims[axis].value, max_partitions, parts))
        return partitions

    return partitioner


def _element_bytes(dtype, bytes_per_string_element):
    return bytes_per_string_element if dtype.base_dtype is dtypes.string else dtype.size


def call_partitioner(partitioner, shape, dtype):
    """How often `partitioner` cuts each axis, checked. Raises ValueError."""
    if not shape.is_fully_defined():
        raise ValueError(f"Shape of a new partitioned variable must be fully defined, but instead was {shape}.")
    if shape.ndims < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1, shape: {shape}")
    slicing = partitioner(shape=shape, dtype=dtype)
    if not isinstance(slicing, Sequence):
        raise ValueError(f"Partitioner must return a sequence, but saw: {slicing}")
    if len(slicing) != shape.ndims:
        raise ValueError(
            f"Partitioner returned a partition list that does not match the Variable's rank: {slicing} vs. {shape}"
        )
    if any(parts < 1 for parts in slicing):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {slicing}")
    if sum(parts > 1 for parts in slicing) > 1:
        raise ValueError(f"Can only slice a variable along one dimension: shape: {shape}, partitioning: {slicing}")
    return slicing


def slices(full_shape, slicing):
    """[(offset, shape)] of the parts; the first ones are one longer where it does not come out even."""
    axis = next((i for i, parts in enumerate(slicing) if parts > 1), 0)
    count = slicing[axis] if slicing[axis] > 1 else 1
    shortest, longer = divmod(full_shape[axis], count)
    offset = [0] * len(full_shape)
    found = []
    for i in range(count):
        shape = list(full_shape)
        shape[axis] = shortest + (i < longer)
        found.append((list(offset), shape))
        offset[axis] += shape[axis]
    return found


# ---- The parts as one -----------------------------------------------------------------------------------------


@public("python.ops.variables.PartitionedVariable")
class PartitionedVariable:
    """A variable in parts. Iterates over them; converted to a tensor it is their concatenation."""

    def __init__(self, name, shape, dtype, variable_list, partitions):
        if not isinstance(variable_list, (list, tuple)):
            raise TypeError(f"variable_list is not a list or tuple: {variable_list}")
        if not variable_list:
            raise ValueError("variable_list may not be empty")
        if not all(parts >= 1 for parts in partitions):
            raise ValueError(f"partition values must be positive: {partitions}")
        if len(shape) != len(partitions):
            raise ValueError(f"len(shape) != len(partitions): {shape} vs. {partitions}")
        self._variables = sorted(variable_list, key=lambda v: v._get_save_slice_info().var_offset)
        self._name = name
        self._shape = shape
        self._dtype = dtype
        self._partitions = partitions

    def __iter__(self):
        return iter(self._variables)

    def __len__(self):
        return len(self._variables)

    @property
    def name(self):
        return self._name

    @property
    def dtype(self):
        return self._dtype

    @property
    def shape(self):
        return self._shape

    def get_shape(self):
        return self._shape

    @property
    def op(self):
        return self.as_tensor().op

    def _get_variable_list(self):
        return self._variables

    def _get_partitions(self):
        return self._partitions

    def _partition_axis(self):
        return next((i for i, parts in enumerate(self._partitions) if parts > 1), 0)

    def as_tensor(self):
        """The whole, concatenated anew."""
        with get_default_graph().control_dependencies(None):
            if len(self._variables) == 1:
                with name_scope(None):
                    return ops.identity(self._variables[0], name=self._name)
            with name_scope(f"{self._name}/ConcatPartitions/"):
                whole = ops.concat(self._variables, self._partition_axis())
            with name_scope(None):
                return ops.identity(whole, name=self._name)

    def _apply(self, method, value, **options):
        if isinstance(value, PartitionedVariable):
            value = list(value)
        if not isinstance(value, list):
            axis = self._partition_axis()
            value = ops.split(value, [v.shape.as_list()[axis] for v in self._variables], axis=axis)
        return [getattr(v, method)(part, **options) for v, part in zip(self._variables, value, strict=True)]

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """A list of what sets each part; `value` is the whole, or a list of parts."""
        return self._apply("assign", value, use_locking=use_locking, name=name, read_value=read_value)

    def assign_add(self, value, use_locking=False, name=None, read_value=True):
        """A list of what adds to each part."""
        return self._apply("assign_add", value, use_locking=use_locking, name=name, read_value=read_value)

    def assign_sub(self, value, use_locking=False, name=None, read_value=True):
        """A list of what subtracts from each part."""
        return self._apply("assign_sub", value, use_locking=use_locking, name=name, read_value=read_value)


def _convert(variable, dtype=None, name=None, as_ref=False):
    if dtype is not None and not dtype.is_compatible_with(variable.dtype):
        raise ValueError(
            f"Incompatible type conversion requested to type '{dtype.name}' for variable of type "
            f"'{variable.dtype.name}'"
        )
    if as_ref:
        raise NotImplementedError("PartitionedVariable doesn't support being used as a reference.")
    return variable.as_tensor()


register_conversion(PartitionedVariable, _convert)
