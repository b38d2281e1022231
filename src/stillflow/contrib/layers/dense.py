"""fully_connected and its kin."""

from __future__ import annotations

import functools

from stillflow import ops
from stillflow.contrib.framework.argument_scopes import add_arg_scope
from stillflow.contrib.layers.layer_variables import collect_variable, variable_getter
from stillflow.contrib.layers.named_outputs import collect_named_outputs
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.layers.plain import Dense
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros
from stillflow.variables.layer_initializers import xavier_initializer
from stillflow.variables.scope import variable_scope

_XAVIER, _ZEROS = xavier_initializer(), Zeros()


def finished(outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections, name):
    """The outputs, normalized, activated and collected under a name."""
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(outputs_collections, name, outputs)


@public("contrib.layers.fully_connected")
@add_arg_scope
def fully_connected(
    inputs, num_outputs, activation_fn=ops.relu, normalizer_fn=None, normalizer_params=None,
    weights_initializer=_XAVIER, weights_regularizer=None, biases_initializer=_ZEROS, biases_regularizer=None,
    reuse=None, variables_collections=None, outputs_collections=None, trainable=True, scope=None,
):  # fmt: skip
    """activation(normalizer(inputs * weights + biases)), along the last dimension.

    Args:
      inputs: a tensor of at least two dimensions, the last of known size.
      num_outputs: the last size of the outputs.
      activation_fn: a function, or None.
      normalizer_fn: a function that replaces biases, such as batch_norm; or None.
      normalizer_params: further arguments of it, by name.
      weights_initializer, weights_regularizer, biases_initializer, biases_regularizer: of the variables "weights" and
        "biases"; without an initializer there are no biases.
      reuse: whether the variables exist.
      variables_collections: collections for all variables, or {name: collections}.
      outputs_collections: collections for the outputs.
      trainable: whether the variables are to be trained.
      scope: of the variables, "fully_connected" by default.

    Raises:
      ValueError: for inputs of a lower rank, or whose last size is not known; for a size that is no integer.
    """
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs type should be one of {[int]}, got {type(num_outputs)}.")
    getter = variable_getter({"bias": "biases", "kernel": "weights"})
    with variable_scope(scope, "fully_connected", [inputs], reuse=reuse, custom_getter=getter) as sc:
        inputs = convert_to_tensor(inputs)
        layer = Dense(
            units=num_outputs, activation=None, use_bias=not normalizer_fn and biases_initializer,
            kernel_initializer=weights_initializer, bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer, bias_regularizer=biases_regularizer, activity_regularizer=None,
            trainable=trainable, name=sc.name, dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse,
        )  # fmt: skip
        outputs = layer.apply(inputs)
        collect_variable(layer.kernel, variables_collections, "weights")
        if layer.bias is not None:
            collect_variable(layer.bias, variables_collections, "biases")
        return finished(outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections, sc.name)


elu = public("contrib.layers.elu")(functools.partial(fully_connected, activation_fn=ops.elu))
relu = public("contrib.layers.relu")(functools.partial(fully_connected, activation_fn=ops.relu))
relu6 = public("contrib.layers.relu6")(functools.partial(fully_connected, activation_fn=ops.relu6))
linear = public("contrib.layers.linear")(functools.partial(fully_connected, activation_fn=None))


@public("contrib.layers.legacy_fully_connected")
def legacy_fully_connected(
    x, num_output_units, activation_fn=None, weight_init=_XAVIER, bias_init=_ZEROS, name=None,
    weight_collections=(GraphKeys.WEIGHTS,), bias_collections=(GraphKeys.BIASES,),
    output_collections=(GraphKeys.ACTIVATIONS,), trainable=True, weight_regularizer=None, bias_regularizer=None,
):  # fmt: skip
    """activation(x * weights + bias), along the last dimension; the form of before 1.0.

    Args:
      x: a tensor of at least two dimensions, the last of known size.
      num_output_units: the last size of the outputs.
      activation_fn: a function, or None.
      weight_init, weight_regularizer, bias_init, bias_regularizer: of the variables "weights" and "bias"; without an
        initializer there is no bias.
      name: of the variable scope, "fully_connected" by default.
      weight_collections, bias_collections, output_collections: what weights, bias and outputs are added to. All go
        into GraphKeys.GLOBAL_VARIABLES or GraphKeys.ACTIVATIONS, too.
      trainable: whether the variables are to be trained.

    Raises:
      ValueError: for inputs of a lower rank, or whose last size is not known.
    """
    with variable_scope(name, "fully_connected", [x]):
        x = convert_to_tensor(x)
        rank = x.shape.rank
        if rank is None:
            raise ValueError("dims of x must be known but is None")
        if rank < 2:
            raise ValueError(f"rank of x must be at least 2 not: {rank}")
        width = x.shape.as_list()[-1]
        if width is None:
            raise ValueError("last dimension of x must be known but is None")
        weights = get_variable(
            "weights", shape=[width, num_output_units], dtype=x.dtype.base_dtype, initializer=weight_init,
            collections={*(weight_collections or ()), GraphKeys.GLOBAL_VARIABLES}, regularizer=weight_regularizer,
            trainable=trainable,
        )  # fmt: skip
        y = ops.matmul(x if rank <= 2 else ops.reshape(x, [-1, width]), weights)
        if bias_init is not None:
            bias = get_variable(
                "bias", shape=[num_output_units], dtype=x.dtype.base_dtype, initializer=bias_init,
                collections={*(bias_collections or ()), GraphKeys.GLOBAL_VARIABLES}, regularizer=bias_regularizer,
                trainable=trainable,
            )  # fmt: skip
            y = ops.bias_add(y, bias)
        if rank > 2:
            shape = ops.unstack(ops.shape(x))
            y = ops.reshape(y, ops.stack([*shape[:-1], num_output_units]))
            y.set_shape([*x.shape.as_list()[:-1], num_output_units])
        if activation_fn is not None:
            y = activation_fn(y)
        get_default_graph().add_to_collections([*(output_collections or ()), GraphKeys.ACTIVATIONS], y)
        return y


legacy_relu = public("contrib.layers.legacy_relu")(functools.partial(legacy_fully_connected, activation_fn=ops.relu))
legacy_linear = public("contrib.layers.legacy_linear")(functools.partial(legacy_fully_connected, activation_fn=None))
