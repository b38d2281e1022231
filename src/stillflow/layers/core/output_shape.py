"""The shape of a layer's outputs, found by calling the layer in a graph of its own."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import nest
from stillflow.graph.graph import Graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.shape import TensorShape
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.layers.core.settings import floatx


@by_mode
def found_output_shape(layer, input_shape):
    """The shape, or structure of shapes, of a layer's outputs. In graphs, layers have to say it themselves."""
    raise NotImplementedError


def placeholders_of_outputs(layer, inputs):
    """Placeholders like the outputs of a layer that cannot be called with the tensors of a graph."""
    shapes = layer.compute_output_shape(nest.map_structure(lambda x: x.shape, inputs))
    return _mapped(lambda shape: ops.placeholder(layer.dtype or floatx(), shape=shape), shapes)


def output_signature(layer, input_signature):
    """The TensorSpecs of a layer's outputs, of its type or else of that of its first input.

    Raises TypeError for a signature of other things.
    """

    def shape_of(spec):
        if not isinstance(spec, TensorSpec):
            raise TypeError(
                f"Only TensorSpec signature types are supported, but saw signature signature entry: {spec}."
            )
        return spec.shape

    shapes = layer.compute_output_shape(nest.map_structure(shape_of, input_signature))
    dtype = layer._compute_dtype
    if dtype is None:
        dtype = nest.flatten(input_signature)[0].dtype
    return _mapped(lambda shape: TensorSpec(shape, dtype), shapes)


@eager_version_of(found_output_shape)
def _found_by_a_call(layer, input_shape):
    layer._maybe_build(input_shape)
    with Graph().as_default():
        inputs = _mapped(lambda shape: ops.placeholder(floatx(), shape=shape), input_shape)
        try:
            outputs = layer(inputs, training=False) if layer._expects("training") else layer(inputs)
        except TypeError:
            raise NotImplementedError(
                "We could not automatically infer the static shape of the layer's output. Please implement the "
                f"`compute_output_shape` method on your layer ({type(layer).__name__})."
            ) from None
    return nest.map_structure(lambda output: output.shape, outputs)


def _mapped(function, shapes):
    """`function` of a shape, or of each of a structure of shapes."""
    if isinstance(shapes, TensorShape) or all(size is None or isinstance(size, int) for size in shapes):
        return function(TensorShape(shapes))
    if isinstance(shapes, dict):
        return {key: _mapped(function, value) for key, value in shapes.items()}
    return type(shapes)(_mapped(function, value) for value in shapes)
