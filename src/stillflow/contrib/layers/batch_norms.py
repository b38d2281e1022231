"""batch_norm: by the layer of tf.layers where that can do what is asked for."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.normalization import batch_normalization, moments, weighted_moments
from stillflow.contrib.framework.argument_scopes import add_arg_scope
from stillflow.contrib.layers.batch_norm_variables import initializer_for, moving_averages, parameter
from stillflow.contrib.layers.layer_variables import collect_variable, variable_getter
from stillflow.contrib.layers.named_outputs import as_keras_format, collect_named_outputs, constant_value, smart_cond
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.default_graph import get_default_graph
from stillflow.layers.normalization import BatchNormalization
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.training.moving_averages import assign_moving_average
from stillflow.variables.scope import variable_scope


@public("contrib.layers.batch_norm")
@add_arg_scope
def batch_norm(
    inputs, decay=0.999, center=True, scale=False, epsilon=0.001, activation_fn=None, param_initializers=None,
    param_regularizers=None, updates_collections=GraphKeys.UPDATE_OPS, is_training=True, reuse=None,
    variables_collections=None, outputs_collections=None, trainable=True, batch_weights=None, fused=None,
    data_format="NHWC", zero_debias_moving_mean=False, scope=None, renorm=False, renorm_clipping=None,
    renorm_decay=0.99, adjustment=None,
):  # fmt: skip
    """Inputs shifted and scaled to mean 0 and variance 1, then scaled by gamma and shifted by beta.

    Args:
      inputs: a tensor of at least two dimensions.
      decay: of the moving averages.
      center, scale: whether there are beta and gamma.
      epsilon: added to variances.
      activation_fn: a function, or None.
      param_initializers: {"beta", "gamma", "moving_mean" or "moving_variance": initializer}.
      param_regularizers: {"beta" or "gamma": regularizer}.
      updates_collections: collections for the operations that keep the averages; None to do so in each call.
      is_training: a bool, or a bool tensor: whether mean and variance are those of the batch.
      reuse: whether the variables exist.
      variables_collections: collections for all variables, or {name: collections}.
      outputs_collections: collections for the outputs.
      trainable: whether beta and gamma are to be trained.
      batch_weights: how much each element of the batch counts, [batch]; or None.
      fused: whether one operation does it all, where that can be done.
      data_format: "NHWC" or "NCHW".
      zero_debias_moving_mean: whether the moving mean is corrected for its beginning at 0.
      scope: of the variables, "BatchNorm" by default.
      renorm, renorm_clipping, renorm_decay, adjustment: see tf.layers.batch_normalization.

    Raises:
      ValueError: for another format, for `renorm` together with what it cannot be used with, for inputs of unknown
        rank or number of channels.
    """
    fused = True if fused is None else fused
    inputs = convert_to_tensor(inputs)
    rank = inputs.shape.rank
    options = {key: value for key, value in locals().items() if key not in ("inputs", "rank")}
    can_be_fused = batch_weights is None and not renorm and rank in (2, 4) and adjustment is None
    is_plain = updates_collections is GraphKeys.UPDATE_OPS and not zero_debias_moving_mean
    if fused and can_be_fused and (rank == 2 or not is_plain):
        return _fused(inputs, options)
    as_keras_format(data_format, "NCHW", "NHWC")
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse, custom_getter=variable_getter()) as sc:
        if batch_weights is None and is_plain:
            outputs = _by_layer(inputs, sc, options)
        elif renorm:
            raise ValueError(
                "renorm is not supported with batch_weights, updates_collections or zero_debias_moving_mean"
            )
        else:
            outputs = _composed(inputs, options)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


def _by_layer(inputs, scope, options):
    initializers = {
        f"{name}_initializer": initializer_for(name, options["param_initializers"])
        for name in ("beta", "gamma", "moving_mean", "moving_variance")
    }
    regularizers = options["param_regularizers"] or {}
    layer = BatchNormalization(
        axis=1 if options["data_format"] == "NCHW" else -1, momentum=options["decay"], epsilon=options["epsilon"],
        center=options["center"], scale=options["scale"], beta_regularizer=regularizers.get("beta"),
        gamma_regularizer=regularizers.get("gamma"), trainable=options["trainable"], renorm=options["renorm"],
        renorm_clipping=options["renorm_clipping"], renorm_momentum=options["renorm_decay"],
        adjustment=options["adjustment"], name=scope.name, _scope=scope, _reuse=options["reuse"],
        fused=options["fused"], **initializers,
    )  # fmt: skip
    outputs = layer.apply(inputs, training=options["is_training"])
    for name in ("moving_mean", "moving_variance", "beta", "gamma"):
        variable = getattr(layer, name)
        if variable is not None:
            collect_variable(variable, options["variables_collections"], name)
    return outputs


def _updated(averages, moments_of_batch, options):
    """The averages after a batch: what assigns them."""
    return tuple(
        assign_moving_average(average, value, options["decay"], zero_debias=debiases)
        for average, value, debiases in zip(
            averages, moments_of_batch, (options["zero_debias_moving_mean"], False), strict=True
        )
    )


def _collect_updates(averages, moments_of_batch, options):
    """Adds what keeps the averages to the collections, without effect if this is no training after all."""
    updates = smart_cond(
        options["is_training"], lambda: _updated(averages, moments_of_batch, options), lambda: averages
    )
    for update in updates:
        get_default_graph().add_to_collections(options["updates_collections"], update)


# ---- In one operation ---------------------------------------------------------------------------------------


def _fused(inputs, options):
    data_format = options["data_format"]
    as_keras_format(data_format, "NCHW", "NHWC")
    with variable_scope(options["scope"], "BatchNorm", [inputs], reuse=options["reuse"]) as sc:
        given = inputs
        if given.shape.rank == 2:
            channels = given.shape.as_list()[-1]
            if channels is None:
                raise ValueError("`C` dimension must be known but is None")
            inputs = ops.reshape(given, [-1, channels, 1, 1] if data_format == "NCHW" else [-1, 1, 1, channels])
        shape = inputs.shape[1:2] if data_format == "NCHW" else inputs.shape[-1:]
        if not shape.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name} has undefined `C` dimension {shape}.")
        beta = _parameter_or("beta", "center", 0.0, shape, options)
        gamma = _parameter_or("gamma", "scale", 1.0, shape, options)
        averages = moving_averages(
            shape, dtypes.float32, options["param_initializers"], options["variables_collections"]
        )
        outputs = _fused_outputs(inputs, gamma, beta, averages, options)
        outputs.set_shape(inputs.shape)
        if given.shape.rank == 2:
            outputs = ops.reshape(outputs, ops.shape(given))
        if options["activation_fn"] is not None:
            outputs = options["activation_fn"](outputs)
        return collect_named_outputs(options["outputs_collections"], sc.name, outputs)


def _parameter_or(name, switch, constant, shape, options):
    if not options[switch]:
        return ops.constant(constant, dtype=dtypes.float32, shape=shape)
    return parameter(
        name, shape, dtypes.float32, options["param_initializers"], options["variables_collections"],
        options["trainable"], (options["param_regularizers"] or {}).get(name),
    )  # fmt: skip


def _fused_outputs(inputs, gamma, beta, averages, options):
    plain = {"epsilon": options["epsilon"], "data_format": options["data_format"]}
    mean, variance = averages
    outputs, *of_batch = smart_cond(
        options["is_training"],
        lambda: ops.fused_batch_norm(inputs, gamma, beta, **plain),
        lambda: ops.fused_batch_norm(inputs, gamma, beta, mean=mean, variance=variance, is_training=False, **plain),
    )
    is_training = constant_value(options["is_training"])
    if is_training is not None and not is_training:
        return outputs
    if options["updates_collections"] is not None:
        _collect_updates(averages, of_batch, options)
        return outputs

    def after_updates():
        with control_dependencies(_updated(averages, of_batch, options)):
            return ops.identity(outputs)

    return smart_cond(options["is_training"], after_updates, lambda: outputs)


# ---- In several ---------------------------------------------------------------------------------------------


def _composed(inputs, options):
    shape, rank = inputs.shape, inputs.shape.rank
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    dtype = inputs.dtype.base_dtype
    weights = options["batch_weights"]
    if weights is not None:
        weights = convert_to_tensor(weights)
        shape[0:1].assert_is_compatible_with(weights.shape)
        weights = ops.reshape(weights, [-1] + [1] * (rank - 1))
    channels_first = options["data_format"] == "NCHW"
    channels = shape[1:2] if channels_first else shape[-1:]
    axes = [0, *range(2, rank)] if channels_first else list(range(rank - 1))
    if not channels.is_fully_defined():
        raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {channels}.")
    beta, gamma = (
        parameter(
            name, channels, dtype, options["param_initializers"], options["variables_collections"],
            options["trainable"],
        )
        if options[switch]
        else None
        for name, switch in (("beta", "center"), ("gamma", "scale"))
    )  # fmt: skip
    averages = moving_averages(channels, dtype, options["param_initializers"], options["variables_collections"])
    mean, variance = _moments(inputs, axes, weights, averages, options)
    parts: tuple = mean, variance, beta, gamma
    if channels_first:
        broadcast = [1, shape.as_list()[1], *[1] * (rank - 2)]
        parts = tuple(part if part is None else ops.reshape(part, broadcast) for part in parts)
    outputs = batch_normalization(inputs, *parts, options["epsilon"])
    outputs.set_shape(shape)
    return outputs


def _moments(inputs, axes, weights, averages, options):
    """Mean and variance of the batch, or their averages; of the former the averages are kept."""
    is_training = constant_value(options["is_training"])
    if is_training is not None and not is_training:
        return averages
    channels_first = options["data_format"] == "NCHW"
    if weights is None:
        of_batch = moments(inputs, axes, keep_dims=channels_first or None)
    else:
        of_batch = weighted_moments(inputs, axes, weights, keepdims=channels_first or None)
    if channels_first:
        of_batch = tuple(ops.reshape(part, [-1]) for part in of_batch)
    if options["updates_collections"] is not None:
        _collect_updates(averages, of_batch, options)
        return smart_cond(options["is_training"], lambda: tuple(of_batch), lambda: averages)

    def after_updates():
        with control_dependencies(_updated(averages, of_batch, options)):
            return ops.identity(of_batch[0]), ops.identity(of_batch[1])

    return smart_cond(options["is_training"], after_updates, lambda: averages)
