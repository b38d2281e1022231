"""Residual networks, "Deep residual learning for image recognition" (He et al. 2015)."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.framework.argument_scopes import add_arg_scope, arg_scope
from stillflow.contrib.layers.batch_norms import batch_norm
from stillflow.contrib.layers.convolving import convolution2d
from stillflow.contrib.layers.named_outputs import collect_named_outputs, last_dimension
from stillflow.contrib.layers.pooling import max_pool2d
from stillflow.contrib.slim.nets import resnet_utils
from stillflow.contrib.slim.nets.image_sizes import for_images_of
from stillflow.names import public_module
from stillflow.variables.scope import variable_scope

public_module("contrib.slim.nets.resnet_v1", "contrib.slim.python.slim.nets.resnet_v1")

resnet_arg_scope = resnet_utils.resnet_arg_scope


@add_arg_scope
def bottleneck(inputs, depth, depth_bottleneck, stride, rate=1, outputs_collections=None, scope=None):
    """A unit of three convolutions with normalization after each, to which its input is added.

    Args:
      inputs: images, or what is made of them.
      depth: how many channels it makes.
      depth_bottleneck: how many channels there are between its convolutions.
      stride, rate: of the second one.
      outputs_collections: collections to add its output to.
      scope: the variable scope.
    """
    with variable_scope(scope, "bottleneck_v1", [inputs]) as sc:
        depth_in = last_dimension(inputs.get_shape(), min_rank=4)
        if depth == depth_in:
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut = convolution2d(inputs, depth, [1, 1], stride=stride, activation_fn=None, scope="shortcut")
        residual = convolution2d(inputs, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = resnet_utils.conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = convolution2d(residual, depth, [1, 1], stride=1, activation_fn=None, scope="conv3")
        output = ops.relu(shortcut + residual)
        return collect_named_outputs(outputs_collections, sc.name, output)


@for_images_of(224)
def resnet_v1(
    inputs, blocks, num_classes=None, is_training=True, global_pool=True, output_stride=None,
    include_root_block=True, reuse=None, scope=None,
):  # fmt: skip
    """A residual network.

    Args:
      inputs: images, [batch, height, width, channels].
      blocks: a list of resnet_utils.Blocks.
      num_classes: how many classes there are; None for no logits.
      is_training: whether batch normalization uses the batch's moments.
      global_pool: whether to take the mean over the image.
      output_stride: how much smaller than the image the result may be at most; None for as strides say.
      include_root_block: whether the blocks come after a convolution and a pool that make the image smaller.
      reuse: whether variables are there already.
      scope: the variable scope.

    Returns:
      (the logits or what comes before, {layer: its output}).

    Raises:
      ValueError: for an output stride that cannot be.
    """
    with variable_scope(scope, "resnet_v1", [inputs], reuse=reuse) as sc:
        collection = sc.original_name_scope + "_end_points"
        collecting = [convolution2d, bottleneck, resnet_utils.stack_blocks_dense]
        with arg_scope(collecting, outputs_collections=collection), arg_scope([batch_norm], is_training=is_training):
            net = inputs
            if include_root_block:
                output_stride = resnet_utils.root_stride(output_stride)
                net = resnet_utils.conv2d_same(net, 64, 7, stride=2, scope="conv1")
                net = max_pool2d(net, [3, 3], stride=2, scope="pool1")
            net = resnet_utils.stack_blocks_dense(net, blocks, output_stride)
            return resnet_utils.classified(net, num_classes, global_pool, collection)


def resnet_v1_block(scope, base_depth, num_units, stride):
    """A Block of `num_units` bottleneck units that make four times `base_depth` channels; the last has the stride."""
    return resnet_utils.bottleneck_block(bottleneck, scope, base_depth, num_units, stride)


def resnet_v1_50(
    inputs, num_classes=None, is_training=True, global_pool=True, output_stride=None, reuse=None,
    scope="resnet_v1_50",
):  # fmt: skip
    """The network with 50 layers; see resnet_v1."""
    blocks = resnet_utils.bottleneck_blocks(bottleneck, (3, 4, 6, 3))
    return resnet_v1(inputs, blocks, num_classes, is_training, global_pool, output_stride, reuse=reuse, scope=scope)


def resnet_v1_101(
    inputs, num_classes=None, is_training=True, global_pool=True, output_stride=None, reuse=None,
    scope="resnet_v1_101",
):  # fmt: skip
    """The network with 101 layers; see resnet_v1."""
    blocks = resnet_utils.bottleneck_blocks(bottleneck, (3, 4, 23, 3))
    return resnet_v1(inputs, blocks, num_classes, is_training, global_pool, output_stride, reuse=reuse, scope=scope)


def resnet_v1_152(
    inputs, num_classes=None, is_training=True, global_pool=True, output_stride=None, reuse=None,
    scope="resnet_v1_152",
):  # fmt: skip
    """The network with 152 layers; see resnet_v1."""
    blocks = resnet_utils.bottleneck_blocks(bottleneck, (3, 8, 36, 3))
    return resnet_v1(inputs, blocks, num_classes, is_training, global_pool, output_stride, reuse=reuse, scope=scope)


def resnet_v1_200(
    inputs, num_classes=None, is_training=True, global_pool=True, output_stride=None, reuse=None,
    scope="resnet_v1_200",
):  # fmt: skip
    """The network with 200 layers; see resnet_v1."""
    blocks = resnet_utils.bottleneck_blocks(bottleneck, (3, 24, 36, 3))
    return resnet_v1(inputs, blocks, num_classes, is_training, global_pool, output_stride, reuse=reuse, scope=scope)
