"""DepthwiseConv2D: each channel of images convolved on its own."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.separable_convolution import depthwise_conv2d
from stillflow.graph.shape import TensorShape
from stillflow.keras.backend.neural import bias_add
from stillflow.layers.core import constraints, initializers, regularizers
from stillflow.layers.core.convolution import Conv2D
from stillflow.layers.core.data_formats import output_length
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.serialization import serialize
from stillflow.names import public


@public("keras.layers.DepthwiseConv2D")
class DepthwiseConv2D(Conv2D):
    """A convolution of each channel on its own: the first half of a separable convolution.

    Args:
      kernel_size, strides: integers, or tuples of two.
      padding: "valid" or "same".
      depth_multiplier: how many channels each channel becomes.
      data_format: "channels_last" or "channels_first".
      activation: a function or a name; None for none.
      use_bias: whether there is a bias.
      depthwise_initializer, bias_initializer: callables or names.
      depthwise_regularizer, bias_regularizer, activity_regularizer: functions to a loss, of variables and outputs.
      depthwise_constraint, bias_constraint: functions from the value after an update to the value to keep.
    """

    def __init__(
        self, kernel_size, strides=(1, 1), padding="valid", depth_multiplier=1, data_format=None, activation=None,
        use_bias=True, depthwise_initializer="glorot_uniform", bias_initializer="zeros", depthwise_regularizer=None,
        bias_regularizer=None, activity_regularizer=None, depthwise_constraint=None, bias_constraint=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            None, kernel_size, strides, padding, data_format, activation=activation, use_bias=use_bias,
            bias_initializer=bias_initializer, bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer, bias_constraint=bias_constraint, **kwargs,
        )  # fmt: skip
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer = initializers.get(depthwise_initializer)
        self.depthwise_regularizer = regularizers.get(depthwise_regularizer)
        self.depthwise_constraint = constraints.get(depthwise_constraint)

    def build(self, input_shape):
        """Makes the variables. Raises ValueError for another rank, or if the number of channels is not known."""
        shape = TensorShape(input_shape)
        if shape.rank < 4:
            raise ValueError(
                "Inputs to `DepthwiseConv2D` should have rank 4. Received input shape:", str(input_shape)
            )
        axis = 1 if self._channels_first else 3
        channels = shape.dims[axis].value
        if channels is None:
            raise ValueError(
                "The channel dimension of the inputs to `DepthwiseConv2D` should be defined. Found `None`."
            )
        self.depthwise_kernel = self.add_weight(
            shape=(*self.kernel_size, channels, self.depth_multiplier), initializer=self.depthwise_initializer,
            name="depthwise_kernel", regularizer=self.depthwise_regularizer, constraint=self.depthwise_constraint,
        )  # fmt: skip
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                shape=(channels * self.depth_multiplier,), initializer=self.bias_initializer, name="bias",
                regularizer=self.bias_regularizer, constraint=self.bias_constraint,
            )  # fmt: skip
        self.input_spec = InputSpec(ndim=4, axes={axis: channels})
        self.built = True

    def call(self, inputs):
        if self._channels_first:  # which TensorFlow has no kernel for, on CPUs
            inputs = ops.transpose(inputs, (0, 2, 3, 1))
        outputs = depthwise_conv2d(
            inputs, self.depthwise_kernel, strides=(1, *self.strides, 1), padding=self._op_padding,
            rate=self.dilation_rate, data_format="NHWC",
        )  # fmt: skip
        if self._channels_first:
            outputs = ops.transpose(outputs, (0, 3, 1, 2))
        if self.use_bias:
            outputs = bias_add(outputs, self.bias, data_format=self.data_format)
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        channel_axis, first = (1, 2) if self._channels_first else (3, 1)
        sizes[channel_axis] *= self.depth_multiplier
        for i, (window, stride) in enumerate(zip(self.kernel_size, self.strides, strict=True), first):
            sizes[i] = output_length(sizes[i], window, self.padding, stride)
        return TensorShape(sizes)

    def get_config(self):
        config = super().get_config()
        for key in ("filters", "kernel_initializer", "kernel_regularizer", "kernel_constraint"):
            del config[key]
        made = ("depthwise_initializer", "depthwise_regularizer", "depthwise_constraint")
        return {
            **config, "depth_multiplier": self.depth_multiplier,
            **{key: serialize(getattr(self, key)) for key in made},
        }  # fmt: skip
