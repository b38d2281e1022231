"""Layers of several inputs."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.normalization import l2_normalize
from stillflow.keras.backend.arithmetic import all_, batch_dot
from stillflow.keras.backend.shaping import concatenate as joined
from stillflow.keras.backend.values import ndim
from stillflow.keras.engine.shapes import as_tuples
from stillflow.layers.core.layer import Layer
from stillflow.names import public


def _broadcast(first, second):
    """The shape of both together, without the batch; None where it is not known. Raises ValueError if there is "
    "none."""
    if first is None or second is None:
        return None
    if len(first) < len(second):
        first, second = second, first
    if not second:
        return first
    sizes = list(first[: -len(second)])
    for i, j in zip(first[-len(second) :], second, strict=True):
        if i is None or j is None:
            sizes.append(None)
        elif i == 1 or j == 1 or i == j:
            sizes.append(j if i == 1 else i)
        else:
            raise ValueError(f"Operands could not be broadcast together with shapes {first} {second}")
    return tuple(sizes)


class Merge(Layer):
    """A layer that puts its inputs together, element by element."""

    _reshape_required = True

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def _merge_function(self, inputs):
        raise NotImplementedError

    def build(self, input_shape):
        """Looks at the shapes. Raises ValueError if they do not fit."""
        shapes = as_tuples(input_shape)
        if not isinstance(shapes, list):
            raise ValueError("A merge layer should be called on a list of inputs.")
        if len(shapes) < 2:
            raise ValueError(
                f"A merge layer should be called on a list of at least 2 inputs. Got {len(shapes)} inputs."
            )
        batches = {shape[0] for shape in shapes if shape is not None} - {None}
        if len(batches) > 1:
            raise ValueError(f"Can not merge tensors with different batch sizes. Got tensors with shapes : {shapes}")
        self._shape_of_all(shapes)
        self._reshape_required = None in shapes or len({len(shape) for shape in shapes}) != 1

    def _shape_of_all(self, shapes):
        found = None if shapes[0] is None else shapes[0][1:]
        for shape in shapes[1:]:
            found = _broadcast(found, None if shape is None else shape[1:])
        return found

    def call(self, inputs):
        if not isinstance(inputs, list):
            raise ValueError("A merge layer should be called on a list of inputs.")
        if not self._reshape_required:
            return self._merge_function(inputs)
        ranks = [ndim(each) for each in inputs]
        if None in ranks:
            return self._merged_from_the_end(inputs)
        reshaped = []
        for each, rank in zip(inputs, ranks, strict=True):
            for _ in range(max(ranks) - rank):
                each = ops.expand_dims(each, axis=1)
            reshaped.append(each)
        return self._merge_function(reshaped)

    def _merged_from_the_end(self, inputs):
        """What comes of inputs of unknown rank: with the batch as the last dimension they can be broadcast."""
        moved = [_batch_last(each) for each in inputs]
        merged = self._merge_function(moved)
        if all(ndim(each) == 1 for each in inputs):
            return merged
        rank = ndim(merged)
        if rank is not None:
            return merged if rank <= 1 else ops.transpose(merged, perm=[rank - 1, *range(rank - 1)])
        sizes = ops.shape(merged)
        last = ops.shape(sizes)[0] - 1
        batch = sizes[last]
        shape = joined([ops.expand_dims(batch, axis=-1), sizes[:last]])
        return ops.reshape(ops.transpose(ops.reshape(merged, (-1, batch)), perm=(1, 0)), shape)

    def compute_output_shape(self, input_shape):
        shapes = as_tuples(input_shape)
        batches = {shape[0] for shape in shapes if shape is not None} - {None}
        return (batches.pop() if len(batches) == 1 else None, *self._shape_of_all(shapes))

    def compute_mask(self, inputs, mask=None):
        """Where no input is masked. Raises ValueError for masks that do not fit."""
        if not _have_masks(inputs, mask):
            return None
        masks = [ops.expand_dims(each, axis=0) for each in mask if each is not None]
        return all_(joined(masks, axis=0), axis=0, keepdims=False)


def _batch_last(x):
    rank = ndim(x)
    if rank is not None:
        return x if rank <= 1 else ops.transpose(x, perm=[*range(1, rank), 0])
    sizes = ops.shape(x)
    batch = sizes[0]
    shape = joined([sizes[1:], ops.expand_dims(batch, axis=-1)])
    rows = ops.reshape(x, ops.stack([batch, ops.reduce_prod(sizes[1:])], axis=0))
    return ops.reshape(ops.transpose(rows, perm=(1, 0)), shape)


def _have_masks(inputs, mask):
    if mask is None:
        return False
    if not isinstance(mask, list):
        raise ValueError("`mask` should be a list.")
    if not isinstance(inputs, list):
        raise ValueError("`inputs` should be a list.")
    if len(mask) != len(inputs):
        raise ValueError("The lists `inputs` and `mask` should have the same length.")
    return any(each is not None for each in mask)


@public("keras.layers.Add")
class Add(Merge):
    """The sum of the inputs."""

    def _merge_function(self, inputs):
        output = inputs[0]
        for each in inputs[1:]:
            output += each
        return output


@public("keras.layers.Subtract")
class Subtract(Merge):
    """The first of two inputs minus the second."""

    def build(self, input_shape):
        super().build(input_shape)
        if len(input_shape) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 inputs")

    def _merge_function(self, inputs):
        if len(inputs) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 inputs")
        return inputs[0] - inputs[1]


@public("keras.layers.Multiply")
class Multiply(Merge):
    """The product of the inputs."""

    def _merge_function(self, inputs):
        output = inputs[0]
        for each in inputs[1:]:
            output *= each
        return output


@public("keras.layers.Average")
class Average(Merge):
    """The mean of the inputs."""

    def _merge_function(self, inputs):
        output = inputs[0]
        for each in inputs[1:]:
            output += each
        return output / len(inputs)


@public("keras.layers.Maximum")
class Maximum(Merge):
    """The greatest of the inputs."""

    def _merge_function(self, inputs):
        output = inputs[0]
        for each in inputs[1:]:
            output = ops.maximum(output, each)
        return output


@public("keras.layers.Minimum")
class Minimum(Merge):
    """The least of the inputs."""

    def _merge_function(self, inputs):
        output = inputs[0]
        for each in inputs[1:]:
            output = ops.minimum(output, each)
        return output


@public("keras.layers.Concatenate")
class Concatenate(Merge):
    """The inputs, joined along an axis.

    Args:
      axis: the axis.
    """

    _reshape_required = False

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis

    def build(self, input_shape):
        """Looks at the shapes. Raises ValueError if they do not fit."""
        shapes = as_tuples(input_shape)
        if not isinstance(shapes, list) or len(shapes) < 2:
            raise ValueError("A `Concatenate` layer should be called on a list of at least 2 inputs")
        if all(shape is None for shape in shapes):
            return
        others = [list(shape) for shape in shapes]
        for sizes in others:
            del sizes[self.axis]
        if len({tuple(sizes) for sizes in others}) > 1:
            raise ValueError(
                "A `Concatenate` layer requires inputs with matching shapes except for the concat axis. Got inputs "
                f"shapes: {shapes}"
            )

    def _merge_function(self, inputs):
        return joined(inputs, axis=self.axis)

    def compute_output_shape(self, input_shape):
        shapes = as_tuples(input_shape)
        if not isinstance(shapes, list):
            raise ValueError("A `Concatenate` layer should be called on a list of inputs.")
        sizes = [shape[self.axis] for shape in shapes]
        found = list(shapes[0])
        found[self.axis] = None if None in sizes else sum(sizes)
        return tuple(found)

    def compute_mask(self, inputs, mask=None):
        """The masks, joined likewise. Raises ValueError for masks that do not fit."""
        if not _have_masks(inputs, mask):
            return None
        masks = []
        for each, each_mask in zip(inputs, mask, strict=True):
            if each_mask is None:
                masks.append(ops.ones_like(each, dtype="bool"))
            elif ndim(each_mask) < ndim(each):
                masks.append(ops.expand_dims(each_mask, axis=-1))
            else:
                masks.append(each_mask)
        return all_(joined(masks, axis=self.axis), axis=-1, keepdims=False)

    def get_config(self):
        return {**super().get_config(), "axis": self.axis}


@public("keras.layers.Dot")
class Dot(Merge):
    """The products of samples of two inputs: sums over an axis of each.

    Args:
      axes: the axis of both, or one of each.
      normalize: whether vectors are divided by their norms, for the cosine of the angle between them.

    Raises:
      TypeError, ValueError: for other axes.
    """

    _reshape_required = False

    def __init__(self, axes, normalize=False, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(axes, int):
            if not isinstance(axes, (list, tuple)):
                raise TypeError("Invalid type for `axes` - should be a list or an int.")
            if len(axes) != 2:
                raise ValueError("Invalid format for `axes` - should contain two elements.")
            if not isinstance(axes[0], int) or not isinstance(axes[1], int):
                raise ValueError('Invalid format for `axes` - list elements should be "int".')
        self.axes = axes
        self.normalize = normalize

    def _axes_of(self, ranks):
        """The axes of inputs of those ranks, counted from the start."""
        if isinstance(self.axes, int):
            return [self.axes % rank for rank in ranks] if self.axes < 0 else [self.axes] * 2
        return [axis % rank if axis < 0 else axis for axis, rank in zip(self.axes, ranks, strict=True)]

    def build(self, input_shape):
        """Looks at the shapes. Raises ValueError if they do not fit."""
        shapes = as_tuples(input_shape)
        if not isinstance(shapes, list) or len(shapes) != 2:
            raise ValueError("A `Dot` layer should be called on a list of 2 inputs.")
        first, second = shapes
        if first is None or second is None:
            return
        axes = self._axes_of([len(first), len(second)])
        if first[axes[0]] != second[axes[1]]:
            raise ValueError(
                f"Dimension incompatibility {first[axes[0]]} != {second[axes[1]]}. Layer shapes: {first}, {second}"
            )

    def _merge_function(self, inputs):
        if len(inputs) != 2:
            raise ValueError("A `Dot` layer should be called on exactly 2 inputs")
        axes = self._axes_of([ndim(each) for each in inputs])
        if self.normalize:
            inputs = [l2_normalize(each, axis=axis) for each, axis in zip(inputs, axes, strict=True)]
        return batch_dot(*inputs, axes)

    def compute_output_shape(self, input_shape):
        shapes = as_tuples(input_shape)
        if not isinstance(shapes, list) or len(shapes) != 2:
            raise ValueError("A `Dot` layer should be called on a list of 2 inputs.")
        first, second = (list(shape) for shape in shapes)
        axes = self._axes_of([len(first), len(second)])
        first.pop(axes[0])
        second.pop(axes[1])
        sizes = first + second[1:]
        return tuple(sizes) if len(sizes) > 1 else (*sizes, 1)

    def compute_mask(self, inputs, mask=None):
        return None

    def get_config(self):
        return {**super().get_config(), "axes": self.axes, "normalize": self.normalize}


@public("keras.layers.add")
def add(inputs, **kwargs):
    """The sum of tensors; see `Add`."""
    return Add(**kwargs)(inputs)


@public("keras.layers.subtract")
def subtract(inputs, **kwargs):
    """The first of two tensors minus the second; see `Subtract`."""
    return Subtract(**kwargs)(inputs)


@public("keras.layers.multiply")
def multiply(inputs, **kwargs):
    """The product of tensors; see `Multiply`."""
    return Multiply(**kwargs)(inputs)


@public("keras.layers.average")
def average(inputs, **kwargs):
    """The mean of tensors; see `Average`."""
    return Average(**kwargs)(inputs)


@public("keras.layers.maximum")
def maximum(inputs, **kwargs):
    """The greatest of tensors; see `Maximum`."""
    return Maximum(**kwargs)(inputs)


@public("keras.layers.minimum")
def minimum(inputs, **kwargs):
    """The least of tensors; see `Minimum`."""
    return Minimum(**kwargs)(inputs)


@public("keras.layers.concatenate")
def concatenate(inputs, axis=-1, **kwargs):
    """Tensors, joined along an axis; see `Concatenate`."""
    return Concatenate(axis=axis, **kwargs)(inputs)


@public("keras.layers.dot")
def dot(inputs, axes, normalize=False, **kwargs):
    """The products of samples of two tensors; see `Dot`."""
    return Dot(axes=axes, normalize=normalize, **kwargs)(inputs)
