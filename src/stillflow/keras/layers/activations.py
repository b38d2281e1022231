"""Activations as layers, some with variables."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.shape import TensorShape
from stillflow.keras.backend.neural import softmax
from stillflow.layers.core import constraints, initializers, regularizers
from stillflow.layers.core.activations import elu, relu
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.serialization import serialize
from stillflow.layers.core.settings import cast_to_floatx, floatx
from stillflow.names import public


class _Elementwise(Layer):
    """A layer whose outputs have the shape of its inputs, and their masks."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape):
        return input_shape


@public("keras.layers.LeakyReLU")
class LeakyReLU(_Elementwise):
    """x where it is positive, elsewhere alpha * x."""

    def __init__(self, alpha=0.3, **kwargs):
        super().__init__(**kwargs)
        self.alpha = cast_to_floatx(alpha)

    def call(self, inputs):
        return relu(inputs, alpha=self.alpha)

    def get_config(self):
        return {**super().get_config(), "alpha": float(self.alpha)}


@public("keras.layers.PReLU")
class PReLU(_Elementwise):
    """x where it is positive, elsewhere alpha * x, where alpha is trained. He et al., 2015.

    Args:
      alpha_initializer: a callable or a name.
      alpha_regularizer: a function from the variable to a loss.
      alpha_constraint: a function from the value after an update to the value to keep.
      shared_axes: axes along which alpha is the same.
    """

    def __init__(
        self, alpha_initializer="zeros", alpha_regularizer=None, alpha_constraint=None, shared_axes=None, **kwargs
    ):
        super().__init__(**kwargs)
        self.alpha_initializer = initializers.get(alpha_initializer)
        self.alpha_regularizer = regularizers.get(alpha_regularizer)
        self.alpha_constraint = constraints.get(alpha_constraint)
        if shared_axes is not None:
            shared_axes = list(shared_axes) if isinstance(shared_axes, (list, tuple)) else [shared_axes]
        self.shared_axes = shared_axes

    def build(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        shape = [1 if self.shared_axes and i in self.shared_axes else sizes[i] for i in range(1, len(sizes))]
        self.alpha = self.add_weight(
            shape=shape, name="alpha", initializer=self.alpha_initializer, regularizer=self.alpha_regularizer,
            constraint=self.alpha_constraint,
        )  # fmt: skip
        axes = {i: sizes[i] for i in range(1, len(sizes)) if self.shared_axes and i not in self.shared_axes}
        self.input_spec = InputSpec(ndim=len(sizes), axes=axes)
        self.built = True

    def call(self, inputs):
        positive = relu(inputs)
        return positive + -self.alpha * relu(-inputs)

    def get_config(self):
        return {
            **super().get_config(), "alpha_initializer": serialize(self.alpha_initializer),
            "alpha_regularizer": serialize(self.alpha_regularizer),
            "alpha_constraint": serialize(self.alpha_constraint), "shared_axes": self.shared_axes,
        }  # fmt: skip


@public("keras.layers.ELU")
class ELU(_Elementwise):
    """x where it is positive, elsewhere alpha * (exp(x) - 1)."""

    def __init__(self, alpha=1.0, **kwargs):
        super().__init__(**kwargs)
        self.alpha = cast_to_floatx(alpha)

    def call(self, inputs):
        return elu(inputs, self.alpha)

    def get_config(self):
        return {**super().get_config(), "alpha": float(self.alpha)}


@public("keras.layers.ThresholdedReLU")
class ThresholdedReLU(_Elementwise):
    """x where it is more than `theta`, elsewhere 0."""

    def __init__(self, theta=1.0, **kwargs):
        super().__init__(**kwargs)
        self.theta = cast_to_floatx(theta)

    def call(self, inputs):
        return inputs * ops.cast(ops.greater(inputs, self.theta), floatx())

    def get_config(self):
        return {**super().get_config(), "theta": float(self.theta)}


@public("keras.layers.Softmax")
class Softmax(_Elementwise):
    """exp(x), divided by its sum along an axis."""

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs):
        return softmax(inputs, axis=self.axis)

    def get_config(self):
        return {**super().get_config(), "axis": self.axis}


@public("keras.layers.ReLU")
class ReLU(Layer):
    """x where it is at least `threshold`, elsewhere negative_slope * (x - threshold); no more than `max_value`.

    Raises ValueError for a negative `max_value` or slope.
    """

    def __init__(self, max_value=None, negative_slope=0, threshold=0, **kwargs):
        super().__init__(**kwargs)
        if max_value is not None and max_value < 0.0:
            raise ValueError(f"max_value of Relu layer cannot be negative value: {max_value}")
        if negative_slope < 0.0:
            raise ValueError(f"negative_slope of Relu layer cannot be negative value: {negative_slope}")
        self.support_masking = True
        self.max_value = None if max_value is None else cast_to_floatx(max_value)
        self.negative_slope = cast_to_floatx(negative_slope)
        self.threshold = cast_to_floatx(threshold)

    def call(self, inputs):
        return relu(inputs, alpha=self.negative_slope, max_value=self.max_value, threshold=self.threshold)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {
            **super().get_config(), "max_value": self.max_value, "negative_slope": self.negative_slope,
            "threshold": self.threshold,
        }  # fmt: skip
