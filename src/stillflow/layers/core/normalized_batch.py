"""What a BatchNormalization computes, and how it keeps its averages. `layer` is the layer throughout."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.normalization import batch_normalization, moments
from stillflow.graph.contexts import colocate_with, control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.layers.core.conditions import known_value, smart_cond
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.assignments import assign, assign_sub


def normalized(layer, inputs, training):
    """The outputs. Updates of the averages are added to the layer if this is, or may be, training."""
    return _fused(layer, inputs, training) if layer.fused else _composed(layer, inputs, training)


def _assign_moving_average(variable, value, momentum):
    with name_scope("AssignMovingAvg") as scope, colocate_with(variable):
        decay = convert_to_tensor(1.0 - momentum, name="decay")
        if decay.dtype != variable.dtype.base_dtype:
            decay = ops.cast(decay, variable.dtype.base_dtype)
        change = (variable - ops.cast(value, variable.dtype.base_dtype)) * decay
        return assign_sub(variable, change, name=scope)


def _assign_new_value(variable, value):
    with name_scope("AssignNewValue") as scope, colocate_with(variable):
        return assign(variable, value, name=scope)


# ---- In one operation ---------------------------------------------------------------------------------------


def _fused(layer, inputs, training):
    beta = layer.beta if layer.center else layer._beta_const
    gamma = layer.gamma if layer.scale else layer._gamma_const
    options = {"epsilon": layer.epsilon, "data_format": layer._data_format}

    def by_batch():
        return ops.fused_batch_norm(inputs, gamma, beta, **options)

    def by_averages():
        return ops.fused_batch_norm(
            inputs, gamma, beta, mean=layer.moving_mean, variance=layer.moving_variance, is_training=False, **options
        )

    outputs, mean, variance = smart_cond(training, by_batch, by_averages)
    is_training = known_value(training)
    if is_training is None:
        momentum = smart_cond(training, lambda: layer.momentum, lambda: 1.0)
    else:
        momentum = convert_to_tensor(layer.momentum)
    if is_training is not False:
        layer.add_update(lambda: _assign_moving_average(layer.moving_mean, mean, momentum))
        layer.add_update(lambda: _assign_moving_average(layer.moving_variance, variance, momentum))
    return outputs


# ---- In several ---------------------------------------------------------------------------------------------


def _composed(layer, inputs, training):
    shape = inputs.shape
    rank = shape.rank
    axes = [axis for axis in range(rank) if axis not in layer.axis]
    if layer.virtual_batch_size is not None:
        del axes[1]  # along which the parts of the batch are
    broadcast_shape = [1] * rank
    broadcast_shape[layer.axis[0]] = shape.as_list()[layer.axis[0]]

    def broadcast(vector):
        if vector is not None and vector.shape.rank != rank and axes != list(range(rank - 1)):
            return ops.reshape(vector, broadcast_shape)
        return vector

    transform = broadcast(layer.gamma), broadcast(layer.beta)
    if known_value(training) is False:
        mean, variance = layer.moving_mean, layer.moving_variance
    else:
        mean, variance, transform = _training(layer, inputs, training, axes, broadcast, transform)
    mean, variance = ops.cast(mean, inputs.dtype), ops.cast(variance, inputs.dtype)
    scale, offset = transform
    offset = None if offset is None else ops.cast(offset, inputs.dtype)
    scale = None if scale is None else ops.cast(scale, inputs.dtype)
    outputs = batch_normalization(inputs, broadcast(mean), broadcast(variance), offset, scale, layer.epsilon)
    outputs.set_shape(shape)
    return outputs


def _composed_transforms(first, then):
    """The scale and offset of one transform after another; parts may be None."""
    scale, offset = first
    then_scale, then_offset = then
    if then_scale is not None:
        scale *= then_scale
        offset *= then_scale
    if then_offset is not None:
        offset += then_offset
    return scale, offset


def _training(layer, inputs, training, axes, broadcast, transform):
    """(mean, variance, transform) of training, or of what may be training; adds the updates."""
    if layer.adjustment:
        scale, bias = layer.adjustment(ops.shape(inputs))
        scale, bias = (
            smart_cond(training, lambda scale=scale: scale, lambda scale=scale: ops.ones_like(scale)),
            smart_cond(training, lambda bias=bias: bias, lambda bias=bias: ops.zeros_like(bias)),
        )
        transform = _composed_transforms((scale, bias), transform)
    keeps_dims = layer.virtual_batch_size is not None or len(layer.axis) > 1
    of_batch = moments(ops.cast(inputs, layer._param_dtype), axes, keep_dims=keeps_dims)
    mean, variance = (
        smart_cond(training, lambda value=value: value, lambda average=average: convert_to_tensor(average))
        for value, average in zip(of_batch, (layer.moving_mean, layer.moving_variance), strict=True)
    )
    new_mean, new_variance = mean, variance
    if layer.virtual_batch_size is not None:
        new_mean = ops.reduce_mean(mean, axis=1, keepdims=True)
        new_variance = ops.reduce_mean(variance, axis=1, keepdims=True)
    if layer.renorm:
        r, d, new_mean, new_variance = _renormed(layer, new_mean, new_variance, training)
        r = broadcast(ops.stop_gradient(r, name="renorm_r"))
        d = broadcast(ops.stop_gradient(d, name="renorm_d"))
        transform = _composed_transforms((r, d), transform)

    def update_mean():
        return _assign_moving_average(layer.moving_mean, new_mean, layer.momentum)

    def update_variance():
        if not layer.renorm:
            return _assign_moving_average(layer.moving_variance, new_variance, layer.momentum)
        deviation = ops.sqrt(new_variance + layer.epsilon)
        deviation = _assign_moving_average(layer.moving_stddev, deviation, layer.momentum)
        return _assign_new_value(layer.moving_variance, ops.relu(deviation * deviation - layer.epsilon))

    layer.add_update(lambda: smart_cond(training, update_mean, lambda: layer.moving_mean))
    layer.add_update(lambda: smart_cond(training, update_variance, lambda: layer.moving_variance))
    return mean, variance, transform


def _renormed(layer, mean, variance, training):
    """(r, d, mean, variance): the correction from a batch to the averages, and the moments after their updates."""
    deviation = ops.sqrt(variance + layer.epsilon)
    usual_deviation = ops.maximum(layer.renorm_stddev, ops.sqrt(layer.epsilon))
    r = deviation / usual_deviation
    d = (mean - layer.renorm_mean) / usual_deviation
    with control_dependencies([r, d]):  # which the averages of before have gone into
        mean = ops.identity(mean)
        deviation = ops.identity(deviation)
    least, greatest, shift = (layer.renorm_clipping.get(key) for key in ("rmin", "rmax", "dmax"))
    if least is not None:
        r = ops.maximum(r, least)
    if greatest is not None:
        r = ops.minimum(r, greatest)
    if shift is not None:
        d = ops.maximum(d, -shift)
        d = ops.minimum(d, shift)
    r = smart_cond(training, lambda: r, lambda: ops.ones_like(r))
    d = smart_cond(training, lambda: d, lambda: ops.zeros_like(d))

    def updated(average, value):
        value = ops.identity(value)
        return smart_cond(
            training,
            lambda: _assign_moving_average(average, value, layer.renorm_momentum),
            lambda: ops.identity(average),
        )

    updates = [updated(layer.renorm_mean, mean), updated(layer.renorm_stddev, deviation)]
    with control_dependencies(updates):
        return r, d, ops.identity(mean), ops.identity(variance)
