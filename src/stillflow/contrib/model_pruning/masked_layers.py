"""Convolutions, dense layers and LSTM cells whose weights are multiplied with masks."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.composites.convolution import convolution
from stillflow.composites.linear_algebra import tensordot
from stillflow.contrib.framework.argument_scopes import add_arg_scope
from stillflow.contrib.layers.dense import finished
from stillflow.contrib.layers.layer_variables import collect_variable, variable_getter
from stillflow.contrib.model_pruning.masks import collect
from stillflow.graph.shape import TensorShape, dimension_value
from stillflow.layers import base
from stillflow.layers.core.input_spec import InputSpec
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.rnn.lstm_cells import BasicLSTMCell, LSTMCell
from stillflow.variables.initializers import Ones, Zeros
from stillflow.variables.layer_initializers import xavier_initializer
from stillflow.variables.scope import variable_scope

_XAVIER, _ZEROS = xavier_initializer(), Zeros()


def _pair(value):
    return tuple(value) if isinstance(value, (list, tuple)) else (value, value)


class _Masked(base.Layer):
    """A layer of weights with a mask; descendants say the weights' shape, and what is done with them."""

    def __init__(self, size, use_bias, settings, **kwargs):
        super().__init__(**kwargs)
        self._size, self._use_bias, self._settings = size, use_bias, settings
        self.bias: Any = None

    def _variable(self, name, shape, what):
        return self.add_variable(
            name=name,
            shape=shape,
            initializer=self._settings[f"{what}_initializer"],
            regularizer=self._settings[f"{what}_regularizer"],
            trainable=True,
            dtype=self.dtype,
        )

    def _mask_of(self, shape):
        return self.add_variable(name="mask", shape=shape, initializer=Ones(), trainable=False, dtype=self.dtype)

    def _finish(self, mask, kernel):
        threshold = self.add_variable(
            name="threshold", shape=[], initializer=Zeros(), trainable=False, dtype=self.dtype
        )
        self.kernel = kernel
        self.masked_kernel = ops.mul(mask, kernel, "weights/masked_weight")
        collect(mask, threshold, self.masked_kernel, kernel)
        if self._use_bias:
            self.bias = self._variable("bias", (self._size,), "bias")
        self.built = True


class _MaskedConvolution(_Masked):
    def __init__(self, size, kernel_size, strides, padding, data_format, rate, use_bias, settings, **kwargs):
        super().__init__(size, use_bias, settings, **kwargs)
        self._kernel_size, self._strides, self._rate = _pair(kernel_size), _pair(strides), _pair(rate)
        self._padding, self._format = padding, data_format or "NHWC"
        self.input_spec = InputSpec(ndim=4)

    def build(self, input_shape):
        depth = dimension_value(TensorShape(input_shape)[1 if self._format == "NCHW" else -1])
        if depth is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        shape = (*self._kernel_size, depth, self._size)
        mask = self._mask_of(shape)
        self._finish(mask, self._variable("kernel", shape, "kernel"))

    def call(self, inputs):
        outputs = convolution(
            input=inputs,
            filter=self.masked_kernel,
            dilation_rate=self._rate,
            strides=self._strides,
            padding=self._padding.upper(),
            data_format=self._format,
        )
        return outputs if self.bias is None else ops.bias_add(outputs, self.bias, data_format=self._format)


class _MaskedDense(_Masked):
    def __init__(self, size, use_bias, settings, **kwargs):
        super().__init__(size, use_bias, settings, **kwargs)
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape):
        depth = dimension_value(TensorShape(input_shape)[-1])
        if depth is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`.")
        kernel = self._variable("kernel", [depth, self._size], "kernel")
        self._finish(self._mask_of([depth, self._size]), kernel)

    def call(self, inputs):
        inputs = convert_to_tensor(inputs, dtype=self.dtype)
        shape = inputs.shape.as_list()
        if len(shape) > 2:
            outputs = tensordot(inputs, self.masked_kernel, [[len(shape) - 1], [0]])
            outputs.set_shape([*shape[:-1], self._size])
        else:
            outputs = ops.matmul(inputs, self.masked_kernel)
        return outputs if self.bias is None else ops.bias_add(outputs, self.bias)


def _settings(weights_initializer, weights_regularizer, biases_initializer, biases_regularizer):
    return {
        "kernel_initializer": weights_initializer,
        "kernel_regularizer": weights_regularizer,
        "bias_initializer": biases_initializer,
        "bias_regularizer": biases_regularizer,
    }


def _applied(layer, inputs, variables_collections):
    outputs = layer.apply(inputs)
    collect_variable(layer.kernel, variables_collections, "weights")
    if layer.bias is not None:
        collect_variable(layer.bias, variables_collections, "biases")
    return outputs


@public(
    "contrib.model_pruning.masked_convolution",
    "contrib.model_pruning.masked_conv2d",
    "contrib.model_pruning.python.layers.layers.masked_convolution",
    "contrib.model_pruning.python.layers.layers.masked_conv2d",
)
@add_arg_scope
def masked_convolution(
    inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate=1, activation_fn=ops.relu,
    normalizer_fn=None, normalizer_params=None, weights_initializer=_XAVIER, weights_regularizer=None,
    biases_initializer=_ZEROS, biases_regularizer=None, reuse=None, variables_collections=None,
    outputs_collections=None, trainable=True, scope=None,
):  # fmt: skip
    """tf.contrib.layers.conv2d with a mask of the weights, which Pruning updates; the arguments are the same.

    Raises ValueError for another format, and for inputs that are no images.
    """
    if data_format not in (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW"):
        raise ValueError(f"Invalid data_format: {data_format!r}")
    getter = variable_getter({"bias": "biases", "kernel": "weights"})
    with variable_scope(scope, "Conv", [inputs], reuse=reuse, custom_getter=getter) as sc:
        inputs = convert_to_tensor(inputs)
        if inputs.shape.ndims != 4:
            raise ValueError("Sparse Convolution not supported for input with rank", inputs.shape.ndims)
        if data_format not in (None, "NHWC", "NCHW"):
            raise ValueError("Unsupported data format", data_format)
        layer = _MaskedConvolution(
            num_outputs, kernel_size, stride, padding, data_format, rate, not normalizer_fn and biases_initializer,
            _settings(weights_initializer, weights_regularizer, biases_initializer, biases_regularizer),
            trainable=trainable, name=sc.name, dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse,
        )  # fmt: skip
        outputs = _applied(layer, inputs, variables_collections)
        return finished(outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections, sc.name)


@public(
    "contrib.model_pruning.masked_fully_connected",
    "contrib.model_pruning.python.layers.layers.masked_fully_connected",
)
@add_arg_scope
def masked_fully_connected(
    inputs, num_outputs, activation_fn=ops.relu, normalizer_fn=None, normalizer_params=None,
    weights_initializer=_XAVIER, weights_regularizer=None, biases_initializer=_ZEROS, biases_regularizer=None,
    reuse=None, variables_collections=None, outputs_collections=None, trainable=True, scope=None,
):  # fmt: skip
    """tf.contrib.layers.fully_connected with a mask of the weights, which Pruning updates, and the same arguments.

    Raises ValueError for a size that is no integer.
    """
    if not isinstance(num_outputs, int):
        raise ValueError("num_outputs should be int or long, got %s.", num_outputs)
    getter = variable_getter({"bias": "biases", "kernel": "weights"})
    with variable_scope(scope, "fully_connected", [inputs], reuse=reuse, custom_getter=getter) as sc:
        inputs = convert_to_tensor(inputs)
        layer = _MaskedDense(
            num_outputs, not normalizer_fn and biases_initializer,
            _settings(weights_initializer, weights_regularizer, biases_initializer, biases_regularizer),
            trainable=trainable, name=sc.name, dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse,
        )  # fmt: skip
        outputs = _applied(layer, inputs, variables_collections)
        return finished(outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections, sc.name)


def _mask_kernel(cell, inputs_shape):
    """Puts the product of the kernel and a mask in the place of a cell's kernel."""
    cell.built = False
    shape = [dimension_value(TensorShape(inputs_shape)[1]) + cell._num_units, 4 * cell._num_units]
    mask = cell.add_variable(name="mask", shape=shape, initializer=Ones(), trainable=False, dtype=cell.dtype)
    threshold = cell.add_variable(name="threshold", shape=[], initializer=Zeros(), trainable=False, dtype=cell.dtype)
    kernel, cell._kernel = cell._kernel, ops.mul(mask, cell._kernel, "weights/masked_weight")
    collect(mask, threshold, cell._kernel, kernel)
    cell.built = True


@public(
    "contrib.model_pruning.MaskedBasicLSTMCell",
    "contrib.model_pruning.python.layers.rnn_cells.MaskedBasicLSTMCell",
)
class MaskedBasicLSTMCell(BasicLSTMCell):
    """BasicLSTMCell with a mask of the weights, which Pruning updates."""

    def __init__(
        self, num_units, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None, name=None
    ):  # fmt: skip
        super().__init__(num_units, forget_bias, state_is_tuple, activation, reuse, name)

    def build(self, inputs_shape):
        super().build(inputs_shape)
        _mask_kernel(self, inputs_shape)


@public(
    "contrib.model_pruning.MaskedLSTMCell",
    "contrib.model_pruning.python.layers.rnn_cells.MaskedLSTMCell",
)
class MaskedLSTMCell(LSTMCell):
    """LSTMCell with a mask of the weights, which Pruning updates; the arguments are the same."""

    def __init__(
        self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None, proj_clip=None,
        num_unit_shards=None, num_proj_shards=None, forget_bias=1.0, state_is_tuple=True, activation=None,
        reuse=None,
    ):  # fmt: skip
        super().__init__(
            num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip, num_unit_shards,
            num_proj_shards, forget_bias, state_is_tuple, activation, reuse,
        )  # fmt: skip

    def build(self, inputs_shape):
        super().build(inputs_shape)
        _mask_kernel(self, inputs_shape)
