"""layer_norm, instance_norm and group_norm: normalization within each element of the batch."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.normalization import (
    batch_normalization,
    moments,
    normalize_moments,
    sufficient_statistics,
)
from stillflow.contrib.framework.argument_scopes import add_arg_scope
from stillflow.contrib.layers.batch_norm_variables import parameter
from stillflow.contrib.layers.named_outputs import as_keras_format, collect_named_outputs
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.scope import variable_scope


def _finished(outputs, activation_fn, outputs_collections, name):
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(outputs_collections, name, outputs)


@public("contrib.layers.layer_norm")
@add_arg_scope
def layer_norm(
    inputs, center=True, scale=True, activation_fn=None, reuse=None, variables_collections=None,
    outputs_collections=None, trainable=True, begin_norm_axis=1, begin_params_axis=-1, scope=None,
):  # fmt: skip
    """Inputs shifted and scaled to mean 0 and variance 1 in each element of the batch, then by beta and gamma.

    Ba et al., "Layer Normalization", 2016.

    Args:
      inputs: a tensor of known rank.
      center, scale: whether there are beta and gamma.
      activation_fn: a function, or None.
      reuse: whether the variables exist.
      variables_collections: collections for all variables, or {name: collections}.
      outputs_collections: collections for the outputs.
      trainable: whether the variables are to be trained.
      begin_norm_axis: the first of the axes that mean and variance are over.
      begin_params_axis: the first of the axes that beta and gamma have; sizes from there on have to be known.
      scope: of the variables, "LayerNorm" by default.

    Raises:
      ValueError: for axes beyond the rank, or what is not known.
    """
    with variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        shape, rank = inputs.shape, inputs.shape.rank
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        if begin_norm_axis < 0:
            begin_norm_axis = rank + begin_norm_axis
        if begin_params_axis >= rank or begin_norm_axis >= rank:
            raise ValueError(
                f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({begin_norm_axis}) must be < "
                f"rank(inputs) ({rank})"
            )
        of_parameters = shape[begin_params_axis:]
        if not of_parameters.is_fully_defined():
            raise ValueError(
                f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not fully defined: {shape}"
            )
        dtype = inputs.dtype.base_dtype
        beta, gamma = (
            parameter(name, of_parameters, dtype, None, variables_collections, trainable) if is_there else None
            for name, is_there in (("beta", center), ("gamma", scale))
        )
        mean, variance = moments(inputs, list(range(begin_norm_axis, rank)), keep_dims=True)
        epsilon = 1e-3 if dtype == dtypes.float16 else 1e-12  # which half floats have no number for
        outputs = batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        outputs.set_shape(shape)
        return _finished(outputs, activation_fn, outputs_collections, sc.name)


@public("contrib.layers.instance_norm")
@add_arg_scope
def instance_norm(
    inputs, center=True, scale=True, epsilon=1e-6, activation_fn=None, param_initializers=None, reuse=None,
    variables_collections=None, outputs_collections=None, trainable=True, data_format="NHWC", scope=None,
):  # fmt: skip
    """Inputs shifted and scaled to mean 0 and variance 1 in each channel of each image, then by beta and gamma.

    Ulyanov et al., "Instance Normalization", 2016.

    Args:
      epsilon: added to variances.
      param_initializers: {"beta" or "gamma": initializer}.
      data_format: "NHWC" or "NCHW".
      scope: of the variables, "InstanceNorm" by default.
      The rest: see `layer_norm`.

    Raises:
      ValueError: for another format, or inputs of unknown rank or number of channels.
    """
    inputs = convert_to_tensor(inputs)
    shape, rank = inputs.shape, inputs.shape.rank
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    channels_first = as_keras_format(data_format, "NCHW", "NHWC") == "channels_first"
    with variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as sc:
        axis = 1 if channels_first else rank - 1
        channels = shape[axis : axis + 1]
        if not channels.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {channels}.")
        parts = []
        for name, is_there in (("beta", center), ("gamma", scale)):
            part = None
            if is_there:
                dtype = inputs.dtype.base_dtype
                part = parameter(name, channels, dtype, param_initializers, variables_collections, trainable)
                if channels_first:
                    part = ops.reshape(part, [1, shape.as_list()[1], *[1] * (rank - 2)])
            parts.append(part)
        axes = [i for i in range(1, rank) if i != axis]
        mean, variance = moments(inputs, axes, keep_dims=True)
        outputs = batch_normalization(inputs, mean, variance, *parts, epsilon, name="instancenorm")
        return _finished(outputs, activation_fn, outputs_collections, sc.name)


@public("contrib.layers.group_norm")
@add_arg_scope
def group_norm(
    inputs, groups=32, channels_axis=-1, reduction_axes=(-3, -2), center=True, scale=True, epsilon=1e-6,
    activation_fn=None, param_initializers=None, reuse=None, variables_collections=None, outputs_collections=None,
    trainable=True, scope=None, mean_close_to_zero=False,
):  # fmt: skip
    """Inputs shifted and scaled to mean 0 and variance 1 in each group of channels of each image.

    Then they are scaled and shifted by gamma and beta. Wu and He, "Group Normalization", 2018.

    Args:
      groups: how many groups of channels there are.
      channels_axis: the axis of the channels.
      reduction_axes: the axes that mean and variance are over besides.
      mean_close_to_zero: whether squares may be summed without taking the mean off.
      scope: of the variables, "GroupNorm" by default.
      The rest: see `instance_norm`.

    Raises:
      ValueError: for axes that do not fit, groups that the channels cannot be divided into, and what is not known.
    """
    inputs = convert_to_tensor(inputs)
    channels_axis, reduction_axes, channels = _checked_axes(inputs, channels_axis, reduction_axes)
    if groups > channels:
        raise ValueError(f"Invalid groups {groups} for {channels} channels.")
    if channels % groups != 0:
        raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")
    sizes = ops.shape(inputs)
    shape = [sizes[i] if size is None else size for i, size in enumerate(inputs.shape.as_list())]
    grouped = [groups, channels // groups]
    before, after = shape[:channels_axis], shape[channels_axis + 1 :]
    parameter_shape = [1] * len(before) + grouped + [1] * len(after)
    inputs = ops.reshape(inputs, before + grouped + after)
    axes = [channels_axis + 1, *(axis + 1 if axis > channels_axis else axis for axis in reduction_axes)]
    with variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as sc:
        dtype = inputs.dtype.base_dtype
        beta, gamma = (
            ops.reshape(
                parameter(name, [channels], dtype, param_initializers, variables_collections, trainable),
                parameter_shape,
            )
            if is_there
            else None
            for name, is_there in (("beta", center), ("gamma", scale))
        )
        if mean_close_to_zero:
            counts, sums, squares, _ = sufficient_statistics(inputs, axes, keep_dims=True)
            mean, variance = normalize_moments(counts, sums, squares, shift=None)
        else:
            mean, variance = moments(inputs, axes, keep_dims=True)
        gain = ops.rsqrt(variance + epsilon)
        offset = -mean * gain
        if gamma is not None:
            gain *= gamma
            offset *= gamma
        if beta is not None:
            offset += beta
        outputs = ops.reshape(inputs * gain + offset, shape)
        return _finished(outputs, activation_fn, outputs_collections, sc.name)


def _checked_axes(inputs, channels_axis, reduction_axes):
    """(axis of the channels, the other axes, number of channels). Raises ValueError for what does not fit."""
    rank = inputs.shape.rank
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    if channels_axis > rank - 1:
        raise ValueError("Axis is out of bounds.")
    channels_axis = rank + channels_axis if channels_axis < 0 else channels_axis
    channels = inputs.shape.as_list()[channels_axis]
    if channels is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channel dimension: {channels_axis}.")
    axes = [rank + axis if axis < 0 else axis for axis in reduction_axes]
    for axis in axes:
        if axis > rank:
            raise ValueError("Axis is out of bounds.")
        if inputs.shape.as_list()[axis] is None:
            raise ValueError(f"Inputs {inputs.name} has undefined dimensions {axis}.")
        if channels_axis == axis:
            raise ValueError("reduction_axis must be mutually exclusive with channels_axis")
    return channels_axis, axes, channels
