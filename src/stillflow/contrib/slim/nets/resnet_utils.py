"""What residual networks are built of: tf.contrib.slim.nets.resnet_utils."""

from __future__ import annotations

import collections

from stillflow import ops
from stillflow.contrib.framework.argument_scopes import add_arg_scope, arg_scope
from stillflow.contrib.layers.batch_norms import batch_norm
from stillflow.contrib.layers.convolving import convolution2d
from stillflow.contrib.layers.named_outputs import collect_named_outputs, convert_collection_to_dict
from stillflow.contrib.layers.plain import softmax
from stillflow.contrib.layers.pooling import max_pool2d
from stillflow.contrib.layers.regularizers import l2_regularizer
from stillflow.graph.collections import GraphKeys
from stillflow.names import public_module
from stillflow.variables.layer_initializers import variance_scaling_initializer
from stillflow.variables.scope import variable_scope

public_module("contrib.slim.nets.resnet_utils", "contrib.slim.python.slim.nets.resnet_utils")


class Block(collections.namedtuple("Block", ["scope", "unit_fn", "args"])):
    """A part of a network: units that `unit_fn` makes with each dict in `args`, in a scope."""

    __slots__ = ()


def subsample(inputs, factor, scope=None):
    """Every so many pixels of images, both ways."""
    return inputs if factor == 1 else max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(inputs, num_outputs, kernel_size, stride, rate=1, scope=None):
    """A convolution whose padding does not depend on the image's size, as that of "SAME" does for strides.

    Args:
      inputs: images, [batch, height, width, channels].
      num_outputs: how many channels it makes.
      kernel_size: a number.
      stride: its stride.
      rate: the distance of pixels that it sees.
      scope: of its variables.
    """
    if stride == 1:
        return convolution2d(inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope)
    total = (kernel_size - 1) * rate
    before = total // 2
    around = [before, total - before]
    inputs = ops.pad(inputs, [[0, 0], around, around, [0, 0]])
    return convolution2d(inputs, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope)


@add_arg_scope
def stack_blocks_dense(net, blocks, output_stride=None, outputs_collections=None):
    """Blocks one after the other, with dilated convolutions instead of strides from `output_stride` on.

    Args:
      net: images, or what is made of them.
      blocks: a list of Blocks.
      output_stride: how much smaller the result may be at most; None for as strides say.
      outputs_collections: collections to add each block's output to.

    Raises:
      ValueError: if strides do not multiply to that.
    """
    current_stride = rate = 1
    for block in blocks:
        with variable_scope(block.scope, "block", [net]) as sc:
            for number, unit in enumerate(block.args, start=1):
                if output_stride is not None and current_stride > output_stride:
                    raise ValueError("The target output_stride cannot be reached.")
                with variable_scope(f"unit_{number}", values=[net]):
                    if output_stride is not None and current_stride == output_stride:
                        net = block.unit_fn(net, rate=rate, **{**unit, "stride": 1})
                        rate *= unit.get("stride", 1)
                    else:
                        net = block.unit_fn(net, rate=1, **unit)
                        current_stride *= unit.get("stride", 1)
            net = collect_named_outputs(outputs_collections, sc.name, net)
    if output_stride is not None and current_stride != output_stride:
        raise ValueError("The target output_stride cannot be reached.")
    return net


def resnet_arg_scope(weight_decay=0.0001, batch_norm_decay=0.997, batch_norm_epsilon=1e-5, batch_norm_scale=True):
    """The arg_scope of residual networks: ReLU after batch normalization, and an L2 loss of the weights.

    Args:
      weight_decay: the factor of that loss.
      batch_norm_decay, batch_norm_epsilon, batch_norm_scale: of batch normalization.
    """
    batch_norm_params = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "scale": batch_norm_scale,
        "updates_collections": GraphKeys.UPDATE_OPS,
    }
    with (
        arg_scope(
            [convolution2d],
            weights_regularizer=l2_regularizer(weight_decay),
            weights_initializer=variance_scaling_initializer(),
            activation_fn=ops.relu,
            normalizer_fn=batch_norm,
            normalizer_params=batch_norm_params,
        ),
        arg_scope([batch_norm], **batch_norm_params),
        arg_scope([max_pool2d], padding="SAME") as scope,
    ):
        return scope


def bottleneck_blocks(unit_fn, sizes):
    """Blocks of bottleneck units of three convolutions, of which the last has four times the depth of the others.

    Args:
      unit_fn: makes a unit.
      sizes: how many units each block has. All but the last one end with a stride of 2.
    """
    blocks = []
    for number, count in enumerate(sizes):
        stride = 1 if number == len(sizes) - 1 else 2
        blocks.append(bottleneck_block(unit_fn, f"block{number + 1}", 64 << number, count, stride))
    return blocks


def bottleneck_block(unit_fn, scope, base_depth, num_units, stride):
    """A Block of `num_units` bottleneck units, the last of which has the stride."""
    unit = {"depth": base_depth * 4, "depth_bottleneck": base_depth}
    strides = [1] * (num_units - 1) + [stride]
    return Block(scope, unit_fn, [{**unit, "stride": each} for each in strides])


def root_stride(output_stride):
    """The stride that is left for the blocks after the first layers. Raises ValueError unless four divides it."""
    if output_stride is None:
        return None
    if output_stride % 4 != 0:
        raise ValueError("The output_stride needs to be a multiple of 4.")
    return output_stride / 4


def classified(net, num_classes, global_pool, end_points_collection):
    """(output, {layer: its output}): the mean over the image, logits and their softmax, as far as asked for."""
    if global_pool:
        net = ops.reduce_mean(net, [1, 2], name="pool5", keepdims=True)
    if num_classes is None:
        return net, convert_collection_to_dict(end_points_collection)
    net = convolution2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
    end_points = convert_collection_to_dict(end_points_collection)
    end_points["predictions"] = softmax(net, scope="predictions")
    return net, end_points
