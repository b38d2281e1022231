"""InputFnOps: what a tf.contrib.learn model is served with, and functions that make them."""

from __future__ import annotations

from typing import NamedTuple

from stillflow.composites.parsing import parse_example
from stillflow.graph import dtypes
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.array.placeholder import placeholder


@public("contrib.learn.InputFnOps")
class InputFnOps(NamedTuple):
    """Inputs of a served model: {name: tensor} of features, labels (None), and {name: placeholder} of what is fed."""

    features: dict
    labels: object
    default_inputs: dict


@public("contrib.learn.build_parsing_serving_input_fn")
def build_parsing_serving_input_fn(feature_spec, default_batch_size=None):
    """A function that returns the InputFnOps of serialized tf.train.Examples.

    Args:
      feature_spec: {name: FixedLenFeature, VarLenFeature, ...}.
      default_batch_size: how many examples come at a time, or None for any number.
    """

    def input_fn():
        serialized = placeholder(dtypes.string, [default_batch_size], name="input_example_tensor")
        return InputFnOps(parse_example(serialized, feature_spec), None, {"examples": serialized})

    return input_fn


@public("contrib.learn.utils.build_default_serving_input_fn")
def build_default_serving_input_fn(features, default_batch_size=None):
    """A function that returns the InputFnOps of placeholders like `features`, {name: tensor}.

    `default_batch_size` is how many rows come at a time, or None for any number.
    """

    def input_fn():
        fed = {}
        for name, tensor in features.items():
            shape = TensorShape([default_batch_size, *tensor.shape.as_list()[1:]])
            fed[name] = placeholder(tensor.dtype, shape, name=tensor.op.name)
        return InputFnOps(fed, None, fed)

    return input_fn
