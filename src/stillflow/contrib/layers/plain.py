"""Layers of few lines: bias_add, dropout, flatten, softmax, maxout and their kin; layers repeated and stacked."""

from __future__ import annotations

import functools

from stillflow import ops
from stillflow.composites.rank_checks import assert_rank_at_least
from stillflow.contrib.framework.argument_scopes import add_arg_scope
from stillflow.contrib.layers.batch_norm_variables import get_variable_collections, model_variable
from stillflow.contrib.layers.layer_variables import variable_getter
from stillflow.contrib.layers.named_outputs import collect_named_outputs, last_dimension
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.layers import plain as layers
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.variables.initializers import Constant, Ones, Zeros
from stillflow.variables.scope import variable_scope

_ZEROS = Zeros()
_IMAGES = ("NCHW", "NHWC")


@public("contrib.layers.bias_add")
@add_arg_scope
def bias_add(
    inputs, activation_fn=None, initializer=_ZEROS, regularizer=None, reuse=None, variables_collections=None,
    outputs_collections=None, trainable=True, data_format="NHWC", scope=None,
):  # fmt: skip
    """activation(inputs + biases), where each channel has a bias.

    Args:
      inputs: a tensor of at least two dimensions, with a known number of channels.
      activation_fn: a function, or None.
      initializer, regularizer: of the variable "biases".
      reuse: whether it exists.
      variables_collections: its collections.
      outputs_collections: collections for the outputs.
      trainable: whether it is to be trained.
      data_format: "NHWC", or "NCHW" for four dimensions.
      scope: of the variable, "BiasAdd" by default.

    Raises:
      ValueError: for another format, or what is not known.
    """
    if data_format not in _IMAGES:
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        if inputs.shape.rank is None:
            raise ValueError("Dims of shape must be known but is None")
        if inputs.shape.rank != 4 and data_format == "NCHW":
            raise ValueError("Data format NCHW only supports 4D Tensor")
        channels = inputs.shape.as_list()[1 if data_format == "NCHW" else -1]
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        biases = model_variable(
            "biases", shape=[channels], dtype=inputs.dtype.base_dtype, initializer=initializer,
            regularizer=regularizer, collections=get_variable_collections(variables_collections, "biases"),
            trainable=trainable,
        )  # fmt: skip
        outputs = ops.bias_add(inputs, biases, data_format=data_format)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@public("contrib.layers.dropout")
@add_arg_scope
def dropout(
    inputs, keep_prob=0.5, noise_shape=None, is_training=True, outputs_collections=None, scope=None, seed=None
):
    """In training, a share `keep_prob` of the inputs divided by that, and 0 for the others.

    Args:
      inputs: a tensor of floats.
      keep_prob: a number in (0, 1], or a scalar tensor.
      noise_shape: the shape of what is decided at random.
      is_training: a bool, or a bool tensor; otherwise the inputs are returned as they are.
      outputs_collections: collections for the outputs.
      scope: the scope, "Dropout" by default.
      seed: an integer, or None.
    """
    with variable_scope(scope, "Dropout", [inputs], custom_getter=variable_getter()) as sc:
        inputs = convert_to_tensor(inputs)
        layer = layers.Dropout(rate=1 - keep_prob, noise_shape=noise_shape, seed=seed, name=sc.name, _scope=sc)
        outputs = layer.apply(inputs, training=is_training)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@public("contrib.layers.flatten")
@add_arg_scope
def flatten(inputs, outputs_collections=None, scope=None):
    """All dimensions of a tensor but the first as one; the outputs are added to collections."""
    with name_scope(scope, "Flatten", [inputs]) as sc:
        outputs = layers.flatten(convert_to_tensor(inputs))
        return collect_named_outputs(outputs_collections, sc, outputs)


@public("contrib.layers.python.layers.layers._inner_flatten")
@add_arg_scope
def inner_flatten(inputs, new_rank, output_collections=None, scope=None):
    """The last dimensions of a tensor, or SparseTensor, as one, so that it has `new_rank` dimensions.

    Raises:
      ValueError: for inputs of fewer dimensions.
    """
    with name_scope(scope, "InnerFlatten", [inputs, new_rank]) as sc:
        if isinstance(inputs, SparseTensor):
            flattened = _sparse_inner_flatten(inputs, new_rank)
        else:
            flattened = _dense_inner_flatten(convert_to_tensor(inputs), new_rank)
    return collect_named_outputs(output_collections, sc, flattened)


def _sparse_inner_flatten(inputs, new_rank):
    rank = inputs.dense_shape.shape.as_list()[0]
    if rank < new_rank:
        raise ValueError(
            f"Inputs has rank less than new_rank. {inputs} must have rank at least {new_rank}. Received rank {rank}, "
            f"shape {inputs.shape}"
        )
    outer = inputs.dense_shape[: new_rank - 1]
    inner = inputs.dense_shape[new_rank - 1 :]
    return ops.sparse_reshape(inputs, ops.concat((outer, [ops.reduce_prod(inner)]), 0))


def _dense_inner_flatten(inputs, new_rank):
    check = assert_rank_at_least(inputs, new_rank, message="inputs has rank less than new_rank")
    with control_dependencies([check]):
        outer = ops.strided_slice(ops.shape(inputs), [0], [new_rank - 1])
        flattened = ops.reshape(inputs, ops.concat((outer, [-1]), 0))
    if isinstance(new_rank, int) and inputs.shape.rank is not None:
        sizes = inputs.shape.as_list()
        inner: int | None = 1
        for size in sizes[new_rank - 1 :]:
            inner = None if size is None or inner is None else inner * size
        flattened.set_shape([*sizes[: new_rank - 1], inner])
    return flattened


@public("contrib.layers.one_hot_encoding")
@add_arg_scope
def one_hot_encoding(labels, num_classes, on_value=1.0, off_value=0.0, outputs_collections=None, scope=None):
    """tf.one_hot, whose outputs are added to collections."""
    with name_scope(scope, "OneHotEncoding", [labels, num_classes]) as sc:
        labels = convert_to_tensor(labels)
        if labels.dtype == dtypes.int32:
            labels = ops.cast(labels, dtypes.int64, name="ToInt64")
        outputs = ops.one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collect_named_outputs(outputs_collections, sc, outputs)


@public("contrib.layers.dense_to_sparse")
@add_arg_scope
def dense_to_sparse(tensor, eos_token=0, outputs_collections=None, scope=None):
    """A SparseTensor of what is not `eos_token`."""
    with variable_scope(scope, "dense_to_sparse", [tensor]) as sc:
        tensor = convert_to_tensor(tensor)
        places = ops.where(ops.not_equal(tensor, ops.constant(eos_token, tensor.dtype)))
        values = ops.gather_nd(tensor, places)
        outputs = SparseTensor(places, values, ops.shape(tensor, out_type=dtypes.int64))
        return collect_named_outputs(outputs_collections, sc.name, outputs)


# ---- Sequences of layers ------------------------------------------------------------------------------------


def _scope_of(layer, scope, default):
    """The name that numbered scopes begin with."""
    if scope is not None:
        return scope
    if isinstance(layer, functools.partial) and not hasattr(layer, "__name__"):
        return getattr(layer.func, "__name__", default)
    return getattr(layer, "__name__", default)


@public("contrib.layers.repeat")
def repeat(inputs, repetitions, layer, *args, **kwargs):
    """A layer applied several times; its scopes are numbered.

    Args:
      inputs: what the first takes.
      repetitions: how often.
      layer: a function with an argument `scope`.
      args, kwargs: its further arguments; `scope` is what its scopes begin with, by default its name.
    """
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Repeat", [inputs]):
        outputs = convert_to_tensor(inputs)
        name = _scope_of(layer, scope, "repeat")
        for i in range(repetitions):
            outputs = layer(outputs, *args, **{**kwargs, "scope": f"{name}_{i + 1}"})
        return outputs


@public("contrib.layers.stack")
def stack(inputs, layer, stack_args, **kwargs):
    """A layer applied once for each of some arguments; its scopes are numbered.

    Args:
      inputs: what the first takes.
      layer: a function with an argument `scope`.
      stack_args: a list of its second argument, or of tuples of its further arguments, for each time.
      kwargs: its arguments by name; `scope` is what its scopes begin with, by default its name.

    Raises:
      ValueError: for what is no list.
    """
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    with variable_scope(scope, "Stack", [inputs]):
        outputs = convert_to_tensor(inputs)
        name = _scope_of(layer, scope, "stack")
        for i, arguments in enumerate(stack_args):
            arguments = arguments if isinstance(arguments, (list, tuple)) else [arguments]
            outputs = layer(outputs, *arguments, **{**kwargs, "scope": f"{name}_{i + 1}"})
        return outputs


# ---- Functions of values ------------------------------------------------------------------------------------


@public("contrib.layers.softmax")
@add_arg_scope
def softmax(logits, scope=None):
    """tf.nn.softmax along the last dimension, of known size."""
    with variable_scope(scope, "softmax", [logits]):
        width = last_dimension(logits.shape, min_rank=2)
        predictions = ops.softmax(ops.reshape(logits, [-1, width]))
        predictions = ops.reshape(predictions, ops.shape(logits))
        predictions.set_shape(logits.shape)
        return predictions


@public("contrib.layers.unit_norm")
@add_arg_scope
def unit_norm(inputs, dim, epsilon=1e-7, scope=None):
    """Inputs divided by their norms along the dimension `dim`. Raises ValueError for others than there are."""
    with variable_scope(scope, "UnitNorm", [inputs]):
        if not inputs.shape:
            raise ValueError("The input rank must be known.")
        rank = inputs.shape.rank
        if dim < 0 or dim >= rank:
            raise ValueError("dim must be positive but smaller than the input rank.")
        norms = ops.sqrt(epsilon + ops.reduce_sum(ops.square(inputs), dim, True))
        multiples = [ops.ones([dim], dtypes.int32)] if dim > 0 else []
        multiples.append(ops.strided_slice(ops.shape(inputs), [dim], [dim + 1]))
        if dim < rank - 1:
            multiples.append(ops.ones([rank - 1 - dim], dtypes.int32))
        return ops.div(inputs, ops.tile(norms, ops.concat(multiples, 0)))


@public("contrib.layers.maxout")
@add_arg_scope
def maxout(inputs, num_units, axis=-1, scope=None):
    """The largest of each group of features. Goodfellow et al., "Maxout Networks", 2013.

    Args:
      inputs: a tensor.
      num_units: how many groups there are.
      axis: the axis of the features; groups come last, whatever it is.
      scope: the scope.

    Raises:
      ValueError: for features that cannot be divided into groups.
    """
    with variable_scope(scope, "MaxOut", [inputs]):
        inputs = convert_to_tensor(inputs)
        shape = inputs.shape.as_list()
        features = shape[axis]
        if features % num_units:
            raise ValueError(f"number of features({features}) is not a multiple of num_units({num_units})")
        shape[axis] = num_units
        shape.append(features // num_units)
        shape = [ops.shape(inputs)[i] if size is None else size for i, size in enumerate(shape)]
        return ops.reduce_max(ops.reshape(inputs, shape), -1, keepdims=False)


@public("contrib.layers.python.layers.layers.poincare_normalize")
def poincare_normalize(x, axis=1, epsilon=1e-5, name=None):
    """x, scaled down to a norm of 1 - epsilon along `axis` where that is larger: inside of the Poincare ball."""
    with name_scope(name, "poincare_normalize", [x]) as name:
        x = convert_to_tensor(x, name="x")
        inverse = ops.rsqrt(ops.reduce_sum(ops.square(x), axis, keepdims=True))
        return ops.mul(x, ops.minimum((1.0 - epsilon) * inverse, 1.0), name=name)


@public("contrib.layers.spatial_softmax")
@add_arg_scope
def spatial_softmax(
    features, temperature=None, name=None, variables_collections=None, trainable=True, data_format="NHWC"
):
    """Where each channel is active: the mean place (x, y), weighted by a softmax over the image.

    Finn et al., "Deep Spatial Autoencoders for Visuomotor Learning", 2015.

    Args:
      features: images with a known number of channels.
      temperature: the initial value of the variable "temperature", which activations are divided by; 1 by default.
      name: of the scope.
      variables_collections: the variable's collections.
      trainable: whether it is to be trained.
      data_format: "NHWC" or "NCHW".

    Returns:
      [batch, 2 * channels]: x and y in [-1, 1] of each channel.

    Raises:
      ValueError: for another format, or if the number of channels is not known.
    """
    with variable_scope(name, "spatial_softmax"):
        sizes = ops.shape(features)
        if data_format == "NHWC":
            height, width, channels = sizes[1], sizes[2], features.shape.as_list()[3]
        elif data_format == "NCHW":
            channels, height, width = features.shape.as_list()[1], sizes[2], sizes[3]
        else:
            raise ValueError("data_format has to be either NCHW or NHWC.")
        if channels is None:
            raise ValueError(
                "The num_channels dimension of the inputs to `spatial_softmax` should be defined. Found `None`."
            )
        with name_scope("spatial_softmax_op", "spatial_softmax_op", [features]):
            places = ops.meshgrid(
                ops.lin_space(-1.0, 1.0, num=height), ops.lin_space(-1.0, 1.0, num=width), indexing="ij"
            )
            x, y = [ops.reshape(place, [height * width]) for place in places]
            variable = model_variable(
                "temperature", shape=(), dtype=dtypes.float32,
                initializer=Ones() if temperature is None else Constant(temperature),
                collections=get_variable_collections(variables_collections, "temperature") if trainable else None,
                trainable=trainable,
            )  # fmt: skip
            if data_format == "NHWC":
                features = ops.transpose(features, [0, 3, 1, 2])
            flat = ops.reshape(features, [-1, height * width])
            attention = ops.softmax(flat / variable)
            expected = [ops.reduce_sum(place * attention, [1], keepdims=True) for place in (x, y)]
            points = ops.reshape(ops.concat(expected, 1), [-1, channels * 2])
            points.set_shape([None, channels * 2])
    return points


@public("contrib.layers.images_to_sequence")
@add_arg_scope
def images_to_sequence(inputs, data_format="NHWC", outputs_collections=None, scope=None):
    """Images as sequences of columns' pixels: [width, batch * height, channels]. Raises ValueError."""
    if data_format not in _IMAGES:
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with name_scope(scope, "ImagesToSequence", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        if data_format == "NCHW":
            inputs = ops.transpose(inputs, [0, 2, 3, 1])
        _, _, width, depth = inputs.shape.as_list()
        sizes = ops.shape(inputs)
        batch, height = sizes[0], sizes[1]
        columns = ops.transpose(inputs, [2, 0, 1, 3])
        outputs = ops.reshape(columns, [width, batch * height, depth])
        return collect_named_outputs(outputs_collections, sc, outputs)


@public("contrib.layers.sequence_to_images")
@add_arg_scope
def sequence_to_images(inputs, height, output_data_format="channels_last", outputs_collections=None, scope=None):
    """What `images_to_sequence` makes sequences of: images of that height."""
    with name_scope(scope, "SequenceToImages", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        width, count, depth = inputs.shape.as_list()
        images = ops.reshape(inputs, [width, -1 if count is None else count // height, height, depth])
        order = [1, 3, 2, 0] if output_data_format == "channels_first" else [1, 2, 0, 3]
        return collect_named_outputs(outputs_collections, sc, ops.transpose(images, order))
