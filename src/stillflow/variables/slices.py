"""Slices: the part of a partitioned variable that one of its variables holds, for initializers and checkpoints."""

from __future__ import annotations

from collections.abc import Sequence

from stillflow.formats import protobuf
from stillflow.graph.inner_functions import prepend_name_scope
from stillflow.names import public


@public("python.ops.variable_scope._PartitionInfo")
class PartitionInfo:
    """Which part of a whole an initializer is to make: what partitioned get_variable hands to initializers.

    Args:
      full_shape: the sizes of the whole, a list or tuple of int.
      var_offset: where the part begins in each of its dimensions.

    Raises:
      TypeError: for what is no list or tuple.
      ValueError: for lists of unequal length, and for a part that begins outside of the whole.
    """

    def __init__(self, full_shape, var_offset):
        _check_sequence("full_shape", full_shape)
        _check_sequence("var_offset", var_offset)
        if len(var_offset) != len(full_shape):
            raise ValueError(
                f"Expected equal length, but `var_offset` is of length {len(var_offset)} while full_shape is of "
                f"length {len(full_shape)}."
            )
        for offset, size in zip(var_offset, full_shape, strict=True):
            if not 0 <= offset < size:
                raise ValueError(
                    f"Expected 0 <= offset < shape but found offset={offset}, shape={size} for "
                    f"var_offset={var_offset}, full_shape={full_shape}"
                )
        self._full_shape = full_shape
        self._var_offset = var_offset

    @property
    def full_shape(self):
        return self._full_shape

    @property
    def var_offset(self):
        return self._var_offset

    def single_offset(self, shape):
        """Where a part of this shape begins along the axis that is cut; 0 if none is."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self._var_offset[axis]

    def single_slice_dim(self, shape):
        """The axis along which a part of this shape is cut, or None.

        Raises:
          TypeError: for a shape that is no list or tuple.
          ValueError: if there are several, and for a part that does not fit.
        """
        _check_sequence("shape", shape)
        if len(shape) != len(self._full_shape):
            raise ValueError(
                f"Expected equal length, but received shape={shape} of length {len(shape)} while "
                f"self.full_shape={self._full_shape} is of length {len(self._full_shape)}."
            )
        for i, (offset, size, whole) in enumerate(zip(self._var_offset, shape, self._full_shape, strict=True)):
            if offset + size > whole:
                raise ValueError(
                    f"With self.var_offset={self._var_offset}, a partition of shape={shape} would exceed "
                    f"self.full_shape={self._full_shape} in dimension {i}."
                )
        axes = [i for i, (size, whole) in enumerate(zip(shape, self._full_shape, strict=True)) if size != whole]
        if len(axes) > 1:
            raise ValueError(
                f"Cannot use single_slice_dim() with shape={shape} and self.full_shape={self._full_shape} since "
                f"slice dim could be either dimension {axes[0]} or {axes[1]}."
            )
        return axes[0] if axes else None


def _check_sequence(name, value):
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise TypeError(f"`{name}` must be a sequence (like tuple or list) instead of {type(value).__name__}")


class SaveSliceInfo:
    """Which part of a whole a variable is, as checkpoints write it: the whole under its own name, by slices."""

    def __init__(
        self, full_name=None, full_shape=None, var_offset=None, var_shape=None, save_slice_info_def=None,
        import_scope=None,
    ):  # fmt: skip
        """A part of shape `var_shape` that begins at `var_offset`, or the one that a SaveSliceInfoDef describes."""
        if save_slice_info_def is not None:
            proto = save_slice_info_def
            full_name = prepend_name_scope(proto.full_name, import_scope)
            full_shape, var_offset, var_shape = list(proto.full_shape), list(proto.var_offset), list(proto.var_shape)
        self.full_name = full_name
        self.full_shape = full_shape
        self.var_offset = var_offset
        self.var_shape = var_shape

    @property
    def spec(self):
        """ "4 3 0,2:0,3": the sizes of the whole, then offset and size of the part along each axis."""
        sizes = "".join(f"{size} " for size in self.full_shape)
        return sizes + ":".join(
            f"{offset},{size}" for offset, size in zip(self.var_offset, self.var_shape, strict=True)
        )

    def to_proto(self, export_scope=None):
        """The SaveSliceInfoDef message; None when the whole is not in `export_scope`."""
        prefix = f"{export_scope}/" if export_scope else ""
        if not self.full_name.startswith(prefix):
            return None
        return protobuf.message("SaveSliceInfoDef")(
            full_name=self.full_name.removeprefix(prefix),
            full_shape=list(self.full_shape),
            var_offset=list(self.var_offset),
            var_shape=list(self.var_shape),
        )
