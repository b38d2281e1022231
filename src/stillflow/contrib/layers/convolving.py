"""Convolutions: conv1d to conv3d, their transposes, separable ones, and of each channel on its own."""

from __future__ import annotations

import functools
import inspect

from stillflow import ops
from stillflow.composites.separable_convolution import depthwise_conv2d
from stillflow.contrib.framework.argument_scopes import add_arg_scope
from stillflow.contrib.framework.model_variables import model_variable
from stillflow.contrib.layers.dense import finished
from stillflow.contrib.layers.layer_variables import collect_variable, variable_getter
from stillflow.contrib.layers.named_outputs import (
    as_keras_format,
    channel_dimension,
    get_variable_collections,
    last_dimension,
    two_element_tuple,
)
from stillflow.layers import convolution as layers
from stillflow.layers.separable_convolution import SeparableConv2D
from stillflow.layers.transposed_convolution import Conv2DTranspose, Conv3DTranspose
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.initializers import Zeros
from stillflow.variables.layer_initializers import xavier_initializer
from stillflow.variables.scope import variable_scope

_XAVIER, _ZEROS = xavier_initializer(), Zeros()
_LAYERS = {3: layers.Conv1D, 4: layers.Conv2D, 5: layers.Conv3D}
_FORMATS = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")
_GETTER = {"bias": "biases", "kernel": "weights"}


@public("contrib.layers.convolution")
@add_arg_scope
def convolution(
    inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate=1, activation_fn=ops.relu,
    normalizer_fn=None, normalizer_params=None, weights_initializer=_XAVIER, weights_regularizer=None,
    biases_initializer=_ZEROS, biases_regularizer=None, reuse=None, variables_collections=None,
    outputs_collections=None, trainable=True, scope=None, conv_dims=None,
):  # fmt: skip
    """activation(normalizer(convolution(inputs, weights) + biases)), along one to three dimensions.

    Args:
      inputs: a tensor of three to five dimensions, with a known number of channels.
      num_outputs: the number of channels of the outputs.
      kernel_size, stride, rate: integers, or sequences of as many as there are dimensions to move along. One of
        stride and rate must be 1.
      padding: "SAME" or "VALID".
      data_format: such as "NHWC" or "NCHW"; channels come last by default.
      activation_fn: a function, or None.
      normalizer_fn: a function that replaces biases, such as batch_norm; or None.
      normalizer_params: further arguments of it, by name.
      weights_initializer, weights_regularizer, biases_initializer, biases_regularizer: of the variables "weights" and
        "biases"; without an initializer there are no biases.
      reuse: whether the variables exist.
      variables_collections: collections for all variables, or {name: collections}.
      outputs_collections: collections for the outputs.
      trainable: whether the variables are to be trained.
      scope: of the variables, "Conv" by default.
      conv_dims: how many dimensions there have to be to move along.

    Raises:
      ValueError: for other formats and ranks.
    """
    if data_format not in _FORMATS:
        raise ValueError(f"Invalid data_format: {data_format!r}")
    with variable_scope(scope, "Conv", [inputs], reuse=reuse, custom_getter=variable_getter(_GETTER)) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(f"Convolution expects input with rank {conv_dims + 2}, got {rank}")
        if rank not in _LAYERS:
            raise ValueError("Convolution not supported for input with rank", rank)
        layer = _LAYERS[rank](
            filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding,
            data_format="channels_first" if (data_format or "").startswith("NC") else "channels_last",
            dilation_rate=rate, activation=None,
            use_bias=not normalizer_fn and biases_initializer, kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer, kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer, activity_regularizer=None, trainable=trainable, name=sc.name,
            dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse,
        )  # fmt: skip
        outputs = layer.apply(inputs)
        collect_variable(layer.kernel, variables_collections, "weights")
        if layer.use_bias:
            collect_variable(layer.bias, variables_collections, "biases")
        return finished(outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections, sc.name)


def _along(dims):
    """`convolution`, of inputs with `dims` dimensions to move along."""
    outer = inspect.unwrap(convolution)

    @functools.wraps(outer)
    def convolution_along(*args, **kwargs):
        return convolution(*args, conv_dims=dims, **kwargs)

    parameters = list(inspect.signature(outer).parameters.values())[:-1]
    convolution_along.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    convolution_along.__name__ = convolution_along.__qualname__ = f"convolution{dims}d"
    del convolution_along.__wrapped__
    return add_arg_scope(convolution_along)


convolution1d = public("contrib.layers.convolution1d", "contrib.layers.conv1d")(_along(1))
convolution2d = public("contrib.layers.convolution2d", "contrib.layers.conv2d")(_along(2))
convolution3d = public("contrib.layers.convolution3d", "contrib.layers.conv3d")(_along(3))


# ---- Transposes ---------------------------------------------------------------------------------------------


def _transposed(layer_class, scope_name, formats, inputs, options):
    """A transposed convolution; `options` are all arguments of the function but the inputs."""
    getter = variable_getter(_GETTER)
    with variable_scope(options["scope"], scope_name, [inputs], reuse=options["reuse"], custom_getter=getter) as sc:
        data_format = as_keras_format(options["data_format"], *formats)
        inputs = convert_to_tensor(inputs)
        layer = layer_class(
            filters=options["num_outputs"], kernel_size=options["kernel_size"], strides=options["stride"],
            padding=options["padding"], data_format=data_format, activation=None,
            use_bias=not options["normalizer_fn"] and options["biases_initializer"],
            kernel_initializer=options["weights_initializer"], bias_initializer=options["biases_initializer"],
            kernel_regularizer=options["weights_regularizer"], bias_regularizer=options["biases_regularizer"],
            activity_regularizer=None, trainable=options["trainable"], name=sc.name, dtype=inputs.dtype.base_dtype,
            _scope=sc, _reuse=options["reuse"],
        )  # fmt: skip
        outputs = layer.apply(inputs)
        collect_variable(layer.kernel, options["variables_collections"], "weights")
        if layer.bias is not None:
            collect_variable(layer.bias, options["variables_collections"], "biases")
        return finished(
            outputs, options["normalizer_fn"], options["normalizer_params"], options["activation_fn"],
            options["outputs_collections"], sc.name,
        )  # fmt: skip


@public("contrib.layers.convolution2d_transpose", "contrib.layers.conv2d_transpose")
@add_arg_scope
def convolution2d_transpose(
    inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format="NHWC", activation_fn=ops.relu,
    normalizer_fn=None, normalizer_params=None, weights_initializer=_XAVIER, weights_regularizer=None,
    biases_initializer=_ZEROS, biases_regularizer=None, reuse=None, variables_collections=None,
    outputs_collections=None, trainable=True, scope=None,
):  # fmt: skip
    """The transpose of a convolution along two dimensions; it makes images larger. See `convolution`."""
    options = {key: value for key, value in locals().items() if key != "inputs"}
    return _transposed(Conv2DTranspose, "Conv2d_transpose", ("NCHW", "NHWC"), inputs, options)


@public("contrib.layers.convolution3d_transpose", "contrib.layers.conv3d_transpose")
@add_arg_scope
def convolution3d_transpose(
    inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format="NDHWC", activation_fn=ops.relu,
    normalizer_fn=None, normalizer_params=None, weights_initializer=_XAVIER, weights_regularizer=None,
    biases_initializer=_ZEROS, biases_regularizer=None, reuse=None, variables_collections=None,
    outputs_collections=None, trainable=True, scope=None,
):  # fmt: skip
    """The transpose of a convolution along three dimensions; it makes volumes larger. See `convolution`."""
    options = {key: value for key, value in locals().items() if key != "inputs"}
    return _transposed(Conv3DTranspose, "Conv3d_transpose", ("NCDHW", "NDHWC"), inputs, options)


# ---- Channels on their own ----------------------------------------------------------------------------------


def _with_biases(outputs, size, biases, variables_collections, trainable, data_format=None):
    """outputs + biases; `biases` are their initializer and regularizer."""
    initializer, regularizer = biases
    if initializer is None:
        return outputs
    variable = model_variable(
        "biases", shape=[size], dtype=outputs.dtype.base_dtype, initializer=initializer, regularizer=regularizer,
        collections=get_variable_collections(variables_collections, "biases"), trainable=trainable,
    )  # fmt: skip
    return ops.bias_add(outputs, variable, data_format=data_format)


@public("contrib.layers.convolution2d_in_plane", "contrib.layers.conv2d_in_plane")
@add_arg_scope
def convolution2d_in_plane(
    inputs, kernel_size, stride=1, padding="SAME", activation_fn=ops.relu, normalizer_fn=None,
    normalizer_params=None, weights_initializer=_XAVIER, weights_regularizer=None, biases_initializer=_ZEROS,
    biases_regularizer=None, reuse=None, variables_collections=None, outputs_collections=None, trainable=True,
    scope=None,
):  # fmt: skip
    """Each channel convolved with the same kernel, of one channel; see `convolution`."""
    with variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as sc:
        dtype = inputs.dtype.base_dtype
        height, width = two_element_tuple(kernel_size)
        stride_h, stride_w = two_element_tuple(stride)
        channels = last_dimension(inputs.shape, min_rank=4)
        weights = model_variable(
            "weights", shape=[height, width, 1, 1], dtype=dtype, initializer=weights_initializer,
            regularizer=weights_regularizer,
            collections=get_variable_collections(variables_collections, "weights"), trainable=trainable,
        )  # fmt: skip
        kernel = ops.tile(weights, [1, 1, channels, 1])
        outputs = depthwise_conv2d(inputs, kernel, [1, stride_h, stride_w, 1], padding)
        if normalizer_fn is None:
            biases = biases_initializer, biases_regularizer
            outputs = _with_biases(outputs, channels, biases, variables_collections, trainable)
        return finished(outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections, sc.name)


@public("contrib.layers.separable_convolution2d", "contrib.layers.separable_conv2d")
@add_arg_scope
def separable_convolution2d(
    inputs, num_outputs, kernel_size, depth_multiplier=1, stride=1, padding="SAME", data_format="NHWC", rate=1,
    activation_fn=ops.relu, normalizer_fn=None, normalizer_params=None, weights_initializer=_XAVIER,
    pointwise_initializer=None, weights_regularizer=None, biases_initializer=_ZEROS, biases_regularizer=None,
    reuse=None, variables_collections=None, outputs_collections=None, trainable=True, scope=None,
):  # fmt: skip
    """Each channel convolved on its own, then all of them mixed at each place; see `convolution`.

    Args:
      num_outputs: the number of channels of the outputs; None not to mix them.
      depth_multiplier: how many channels each channel becomes.
      pointwise_initializer: of the variable "pointwise_weights"; by default `weights_initializer`, which is that of
        "depthwise_weights".
    """
    keras_format = as_keras_format(data_format, "NCHW", "NHWC")
    names = {"bias": "biases", "depthwise_kernel": "depthwise_weights", "pointwise_kernel": "pointwise_weights"}
    with variable_scope(scope, "SeparableConv2d", [inputs], reuse=reuse, custom_getter=variable_getter(names)) as sc:
        inputs = convert_to_tensor(inputs)
        if num_outputs is not None:
            layer = SeparableConv2D(
                filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding,
                data_format=keras_format, dilation_rate=two_element_tuple(rate), activation=None,
                depth_multiplier=depth_multiplier, use_bias=not normalizer_fn and biases_initializer,
                depthwise_initializer=weights_initializer,
                pointwise_initializer=weights_initializer if pointwise_initializer is None else pointwise_initializer,
                bias_initializer=biases_initializer, depthwise_regularizer=weights_regularizer,
                pointwise_regularizer=weights_regularizer, bias_regularizer=biases_regularizer,
                activity_regularizer=None, trainable=trainable, name=sc.name, dtype=inputs.dtype.base_dtype,
                _scope=sc, _reuse=reuse,
            )  # fmt: skip
            outputs = layer.apply(inputs)
            collect_variable(layer.depthwise_kernel, variables_collections, "weights")
            collect_variable(layer.pointwise_kernel, variables_collections, "weights")
            if layer.bias is not None:
                collect_variable(layer.bias, variables_collections, "biases")
        else:
            channels = channel_dimension(inputs.shape, keras_format, min_rank=4)
            weights = model_variable(
                "depthwise_weights", shape=[*two_element_tuple(kernel_size), channels, depth_multiplier],
                dtype=inputs.dtype.base_dtype, initializer=weights_initializer, regularizer=weights_regularizer,
                trainable=trainable, collections=get_variable_collections(variables_collections, "weights"),
            )  # fmt: skip
            steps = two_element_tuple(stride)
            outputs = depthwise_conv2d(
                inputs, weights, [1, 1, *steps] if keras_format == "channels_first" else [1, *steps, 1], padding,
                rate=two_element_tuple(rate), data_format=data_format,
            )  # fmt: skip
            if normalizer_fn is None:
                biases = biases_initializer, biases_regularizer
                size = depth_multiplier * channels
                outputs = _with_biases(outputs, size, biases, variables_collections, trainable, data_format)
        return finished(outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections, sc.name)
