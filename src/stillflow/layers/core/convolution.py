"""Conv: inputs convolved with a kernel, a bias, an activation; in one to three dimensions."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.convolution import apply_convolution
from stillflow.eager.tensor import EagerTensor
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.shape import TensorShape
from stillflow.layers.core import activations, constraints, initializers, regularizers
from stillflow.layers.core.attributes import untracked
from stillflow.layers.core.data_formats import (
    format_of_op,
    normalized_data_format,
    normalized_padding,
    normalized_tuple,
    output_length,
)
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.serialization import serialize
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor

_MADE = (
    "kernel_initializer", "bias_initializer", "kernel_regularizer", "bias_regularizer", "activity_regularizer",
    "kernel_constraint", "bias_constraint",
)  # fmt: skip
_PLAIN = ("filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate")


class Conv(Layer):
    """activation(convolution(inputs, kernel) + bias).

    Args:
      rank: the number of dimensions that the kernel moves along.
      filters: the number of channels of the outputs.
      kernel_size, strides, dilation_rate: integers, or tuples of `rank`.
      padding: "valid" or "same"; "causal" too, in one dimension.
      data_format: "channels_last" or "channels_first".
      activation: a function or a name; None for none.
      use_bias: whether there is a bias.
      kernel_initializer, bias_initializer: callables or names.
      kernel_regularizer, bias_regularizer, activity_regularizer: functions to a loss, of variables and outputs.
      kernel_constraint, bias_constraint: functions from the value after an update to the value to keep.

    Raises:
      ValueError: for sizes that are not integers, or not `rank`; for other paddings and formats.
    """

    _takes_causal_padding = False

    def __init__(
        self, rank, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1,
        activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
        kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
        bias_constraint=None, trainable=True, name=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            trainable=trainable, name=name, activity_regularizer=regularizers.get(activity_regularizer), **kwargs
        )
        self.rank = rank
        self.filters = filters
        self.kernel_size = normalized_tuple(kernel_size, rank, "kernel_size")
        self.strides = normalized_tuple(strides, rank, "strides")
        self.padding = normalized_padding(padding)
        if self.padding == "causal" and not self._takes_causal_padding:
            raise ValueError("Causal padding is only supported for `Conv1D`and ``SeparableConv1D`.")
        self.data_format = normalized_data_format(data_format)
        self.dilation_rate = normalized_tuple(dilation_rate, rank, "dilation_rate")
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def _channels_first(self):
        return self.data_format == "channels_first"

    @property
    def _op_padding(self):
        """What ops call the padding. Inputs that are padded causally have been, before."""
        if isinstance(self.padding, (list, tuple)):
            return self.padding
        return "VALID" if self.padding == "causal" else self.padding.upper()

    # ---- Variables ------------------------------------------------------------------------------------------

    def build(self, input_shape):
        channels = self._input_channels(TensorShape(input_shape))
        self.kernel = self._new_weight("kernel", (*self.kernel_size, channels, self.filters))
        self.bias = self._new_bias()
        self.input_spec = self._spec_of(channels)
        self._keep_rates()
        self.built = True

    @untracked
    def _keep_rates(self):
        """Makes the node of dilation rates, once for all calls in this graph."""
        rates = convert_to_tensor(self.dilation_rate, dtypes.int32, name="dilation_rate")
        self._rates = rates, get_default_graph()

    def _input_channels(self, input_shape):
        channels = input_shape.dims[1 if self._channels_first else -1].value
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        return channels

    def _spec_of(self, channels):
        return InputSpec(ndim=self.rank + 2, axes={1 if self._channels_first else -1: channels})

    def _new_weight(self, name, shape, prefix=None):
        """A variable with the initializer, regularizer and constraint of the prefix, by default its name."""
        prefix = prefix or name
        options = {key: getattr(self, f"{prefix}_{key}") for key in ("initializer", "regularizer", "constraint")}
        return self.add_weight(name=name, shape=shape, trainable=True, dtype=self.dtype, **options)

    def _new_bias(self):
        return self._new_weight("bias", (self.filters,)) if self.use_bias else None

    # ---- Calls ----------------------------------------------------------------------------------------------

    def call(self, inputs):
        rates, graph = self._rates
        outputs = apply_convolution(
            inputs, self.kernel, self._op_padding, self.strides, self.dilation_rate, None,
            format_of_op(self.data_format, self.rank + 2),
            rates_tensor=rates if graph is get_default_graph() or isinstance(rates, EagerTensor) else None,
        )  # fmt: skip
        if self.use_bias:
            if self._channels_first and self.rank == 1:
                outputs += ops.reshape(self.bias, (1, self.filters, 1))
            else:
                data_format = "NCHW" if self._channels_first else "NHWC"
                outputs = ops.bias_add(outputs, self.bias, data_format=data_format)
        return outputs if self.activation is None else self.activation(outputs)

    def _padded_causally(self, inputs):
        """The inputs with zeros before them, so that no output depends on later inputs."""
        before = [self.dilation_rate[0] * (self.kernel_size[0] - 1), 0]
        return ops.pad(inputs, [[0, 0], [0, 0], before] if self._channels_first else [[0, 0], before, [0, 0]])

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        window = zip(self.kernel_size, self.strides, self.dilation_rate, strict=True)
        places = sizes[2:] if self._channels_first else sizes[1:-1]
        places = [
            output_length(length, size, self.padding, stride, dilation)
            for length, (size, stride, dilation) in zip(places, window, strict=True)
        ]
        return TensorShape(
            [sizes[0], self.filters, *places] if self._channels_first else [sizes[0], *places, self.filters]
        )

    def get_config(self):
        return {
            **super().get_config(),
            **{key: getattr(self, key) for key in _PLAIN},
            "activation": serialize(self.activation),
            "use_bias": self.use_bias,
            **{key: serialize(getattr(self, key)) for key in _MADE},
        }


@public("keras.layers.Conv1D", "keras.layers.Convolution1D")
class Conv1D(Conv):
    """A convolution along one dimension; see `Conv`. With "causal" padding no output depends on later inputs."""

    _takes_causal_padding = True

    def __init__(
        self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1,
        activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
        kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
        bias_constraint=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            1, filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
            kernel_constraint, bias_constraint, **kwargs,
        )  # fmt: skip

    def call(self, inputs):
        return super().call(self._padded_causally(inputs) if self.padding == "causal" else inputs)


@public("keras.layers.Conv2D", "keras.layers.Convolution2D")
class Conv2D(Conv):
    """A convolution along two dimensions; see `Conv`."""

    def __init__(
        self, filters, kernel_size, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1),
        activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
        kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
        bias_constraint=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            2, filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
            kernel_constraint, bias_constraint, **kwargs,
        )  # fmt: skip


@public("keras.layers.Conv3D", "keras.layers.Convolution3D")
class Conv3D(Conv):
    """A convolution along three dimensions; see `Conv`."""

    def __init__(
        self, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format=None, dilation_rate=(1, 1, 1),
        activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
        kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
        bias_constraint=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            3, filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
            kernel_constraint, bias_constraint, **kwargs,
        )  # fmt: skip
