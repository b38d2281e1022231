"""What is known of the shapes of a layer's inputs."""

from __future__ import annotations

import functools

from stillflow.graph import nest
from stillflow.graph.shape import TensorShape
from stillflow.names import public


def input_shape_and_dtype(layer):
    """(shape with the batch, type) that a layer says it begins with, or the first layer of a model; or two Nones.

    Raises ValueError for an empty model.
    """
    while getattr(layer, "_is_graph_network", False) or type(layer).__name__ == "Sequential":
        if not layer.layers:
            raise ValueError("An empty Model cannot be used as a Layer.")
        layer = layer.layers[0]
    if hasattr(layer, "_batch_input_shape"):
        return layer._batch_input_shape, layer.dtype
    return None, None


def static_batch_size(layer):
    """The size of batches that a layer begins with, or None."""
    shape, _ = input_shape_and_dtype(layer)
    return None if shape is None else getattr(shape[0], "value", shape[0])


def is_shape(value):
    """Whether it is one shape, not a structure of some."""
    if isinstance(value, TensorShape):
        return True
    return isinstance(value, (tuple, list)) and all(size is None or isinstance(size, int) for size in value)


def map_shapes(function, shapes):
    """`function` of a shape, or of each in a structure of shapes."""
    if shapes is None or is_shape(shapes):
        return function(shapes)
    if isinstance(shapes, dict):
        return {key: map_shapes(function, value) for key, value in shapes.items()}
    return type(shapes)(map_shapes(function, value) for value in shapes)


def flat_shapes(shapes):
    """A list of the shapes in a structure."""
    found: list = []
    map_shapes(found.append, shapes)
    return found


def as_tuples(shapes):
    """Shapes as tuples."""
    return map_shapes(
        lambda shape: tuple(shape.as_list()) if isinstance(shape, TensorShape) else shape and tuple(shape), shapes
    )


def as_tensor_shapes(shapes):
    """Shapes as TensorShapes."""
    return map_shapes(TensorShape, shapes)


def packed_shapes(structure, shapes):
    """Shapes in a structure."""
    return nest.pack_sequence_as(structure, list(shapes))


@public("python.keras.utils.tf_utils.convert_shapes")
def convert_shapes(input_shape, to_tuples=True):
    """The shapes of a structure as tuples, or as tf.TensorShapes. A number is the shape of a vector."""
    if isinstance(input_shape, int):
        input_shape = (input_shape,)
    return as_tuples(input_shape) if to_tuples else as_tensor_shapes(input_shape)


@public("python.keras.utils.tf_utils.shape_type_conversion")
def shape_type_conversion(fn):
    """Decorates a layer's method of an input shape: it gets tuples, and what it returns becomes tf.TensorShapes."""

    @functools.wraps(fn)
    def converted(instance, input_shape):
        if input_shape is not None:
            input_shape = as_tuples(input_shape)
        output_shape = fn(instance, input_shape)
        return None if output_shape is None else as_tensor_shapes(output_shape)

    return converted
