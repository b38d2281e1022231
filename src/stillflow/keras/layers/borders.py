"""ZeroPadding1D to ZeroPadding3D and Cropping1D to Cropping3D: borders added and taken away."""

from __future__ import annotations

from stillflow.graph.shape import TensorShape
from stillflow.keras.backend.shaping import spatial_2d_padding, spatial_3d_padding, temporal_padding
from stillflow.layers.core.data_formats import normalized_data_format, normalized_tuple
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.layer import Layer
from stillflow.names import public

_NUMBERS = {2: "two elements", 3: "3 elements"}
_AXES = {2: ("height", "width"), 3: ("dim1", "dim2", "dim3")}
_ORDINALS = ("1st", "2nd", "3rd")


def _widths(value, rank, name):
    """A pair of each axis, of one number for all, one of each axis, or pairs. Raises ValueError for anything else."""
    if isinstance(value, int):
        return ((value, value),) * rank
    if not hasattr(value, "__len__"):
        verb = {"padding": "pad", "cropping": "crop"}[name]
        symmetric = ", ".join(f"symmetric_{axis}_{verb}" for axis in _AXES[rank])
        sides = (
            (("top", "bottom"), ("left", "right")) if rank == 2 else [(f"left_{a}", f"right_{a}") for a in _AXES[3]]
        )
        pairs = ", ".join(f"({before}_{verb}, {behind}_{verb})" for before, behind in sides)
        raise ValueError(
            f"`{name}` should be either an int, a tuple of {rank} ints ({symmetric}), or a tuple of {rank} tuples of "
            f"2 ints ({pairs}). Found: {value}"
        )
    if len(value) != rank:
        raise ValueError(f"`{name}` should have {_NUMBERS[rank]}. Found: {value}")
    return tuple(
        normalized_tuple(each, 2, f"{ordinal} entry of {name}")
        for each, ordinal in zip(value, _ORDINALS, strict=False)
    )


class _Borders(Layer):
    """Layers that change the lengths of spatial axes by a number before and one behind.

    Raises ValueError for numbers that are no integers, or not as many as there are axes.
    """

    _rank = 0
    _argument = ""
    padding: tuple
    cropping: tuple

    def __init__(self, widths, data_format, **kwargs):
        super().__init__(**kwargs)
        self.data_format = normalized_data_format(data_format)
        setattr(self, self._argument, _widths(widths, self._rank, self._argument))
        self.input_spec = InputSpec(ndim=self._rank + 2)

    @property
    def _first_axis(self):
        return 2 if self.data_format == "channels_first" else 1

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        sign = 1 if self._argument == "padding" else -1
        for axis, (before, behind) in enumerate(getattr(self, self._argument), self._first_axis):
            if sizes[axis] is not None:
                sizes[axis] += sign * (before + behind)
        return TensorShape(sizes)

    def get_config(self):
        return {
            **super().get_config(), self._argument: getattr(self, self._argument), "data_format": self.data_format,
        }  # fmt: skip


class _OfSequences(Layer):
    """Such layers of sequences, which have one axis and one format."""

    _argument = ""
    padding: tuple
    cropping: tuple

    def __init__(self, widths, **kwargs):
        super().__init__(**kwargs)
        setattr(self, self._argument, normalized_tuple(widths, 2, self._argument))
        self.input_spec = InputSpec(ndim=3)

    def compute_output_shape(self, input_shape):
        batch, steps, features = TensorShape(input_shape).as_list()
        sign = 1 if self._argument == "padding" else -1
        if steps is not None:
            steps += sign * sum(getattr(self, self._argument))
        return TensorShape([batch, steps, features])

    def get_config(self):
        return {**super().get_config(), self._argument: getattr(self, self._argument)}


@public("keras.layers.ZeroPadding1D")
class ZeroPadding1D(_OfSequences):
    """Zeros before and behind sequences.

    Args:
      padding: how many, or a pair of numbers.
    """

    _argument = "padding"

    def __init__(self, padding=1, **kwargs):
        super().__init__(padding, **kwargs)

    def call(self, inputs):
        return temporal_padding(inputs, padding=self.padding)


@public("keras.layers.ZeroPadding2D")
class ZeroPadding2D(_Borders):
    """Zeros around images.

    Args:
      padding: how many on each side, or a number for height and one for width, or a pair for each.
      data_format: "channels_last" or "channels_first".
    """

    _rank = 2
    _argument = "padding"

    def __init__(self, padding=(1, 1), data_format=None, **kwargs):
        super().__init__(padding, data_format, **kwargs)

    def call(self, inputs):
        return spatial_2d_padding(inputs, padding=self.padding, data_format=self.data_format)


@public("keras.layers.ZeroPadding3D")
class ZeroPadding3D(_Borders):
    """Zeros around volumes.

    Args:
      padding: how many on each side, or a number for each axis, or a pair for each.
      data_format: "channels_last" or "channels_first".
    """

    _rank = 3
    _argument = "padding"

    def __init__(self, padding=(1, 1, 1), data_format=None, **kwargs):
        super().__init__(padding, data_format, **kwargs)

    def call(self, inputs):
        return spatial_3d_padding(inputs, padding=self.padding, data_format=self.data_format)


def _without(inputs, widths, first_axis):
    """Inputs without their borders along axes from `first_axis` on."""
    kept = [slice(None)] * inputs.shape.ndims
    for axis, (before, behind) in enumerate(widths, first_axis):
        kept[axis] = slice(before, -behind if behind else None)
    return inputs[tuple(kept)]


@public("keras.layers.Cropping1D")
class Cropping1D(_OfSequences):
    """Sequences without their first and last steps.

    Args:
      cropping: how many, or a pair of numbers.
    """

    _argument = "cropping"

    def __init__(self, cropping=(1, 1), **kwargs):
        super().__init__(cropping, **kwargs)

    def call(self, inputs):
        return _without(inputs, [self.cropping], 1)


@public("keras.layers.Cropping2D")
class Cropping2D(_Borders):
    """Images without their borders.

    Args:
      cropping: how many pixels of each side, or a number for height and one for width, or a pair for each.
      data_format: "channels_last" or "channels_first".
    """

    _rank = 2
    _argument = "cropping"

    def __init__(self, cropping=((0, 0), (0, 0)), data_format=None, **kwargs):
        super().__init__(cropping, data_format, **kwargs)

    def call(self, inputs):
        return _without(inputs, self.cropping, self._first_axis)


@public("keras.layers.Cropping3D")
class Cropping3D(_Borders):
    """Volumes without their borders.

    Args:
      cropping: how many voxels of each side, or a number for each axis, or a pair for each.
      data_format: "channels_last" or "channels_first".
    """

    _rank = 3
    _argument = "cropping"

    def __init__(self, cropping=((1, 1), (1, 1), (1, 1)), data_format=None, **kwargs):
        super().__init__(cropping, data_format, **kwargs)

    def call(self, inputs):
        return _without(inputs, self.cropping, self._first_axis)
