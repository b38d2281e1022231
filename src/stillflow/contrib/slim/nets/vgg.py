"""VGG, "Very deep convolutional networks for large-scale image recognition" (Simonyan and Zisserman 2014)."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.framework.argument_scopes import arg_scope
from stillflow.contrib.layers.convolving import convolution2d
from stillflow.contrib.layers.dense import fully_connected
from stillflow.contrib.layers.plain import repeat
from stillflow.contrib.layers.pooling import max_pool2d
from stillflow.contrib.layers.regularizers import l2_regularizer
from stillflow.contrib.slim.nets.classifying import dense_layers, with_end_points
from stillflow.contrib.slim.nets.image_sizes import for_images_of
from stillflow.names import public_module
from stillflow.variables.initializers import Zeros
from stillflow.variables.scope import variable_scope

public_module("contrib.slim.nets.vgg", "contrib.slim.python.slim.nets.vgg")

_DEPTHS = (64, 128, 256, 512, 512)


def vgg_arg_scope(weight_decay=0.0005):
    """The arg_scope of the networks: ReLU, and an L2 loss of the weights."""
    with (
        arg_scope(
            [convolution2d, fully_connected],
            activation_fn=ops.relu,
            weights_regularizer=l2_regularizer(weight_decay),
            biases_initializer=Zeros(),
        ),
        arg_scope([convolution2d], padding="SAME") as scope,
    ):
        return scope


def _blocks(inputs, repetitions):
    """Blocks of convolutions, each of which ends with a pool."""
    net = inputs
    for number, (times, depth) in enumerate(zip(repetitions, _DEPTHS, strict=True), start=1):
        net = repeat(net, times, convolution2d, depth, [3, 3], scope=f"conv{number}")
        net = max_pool2d(net, [2, 2], scope=f"pool{number}")
    return net


def _classifier(sc, collection, inputs, repetitions, num_classes, is_training, dropout_keep_prob, spatial_squeeze):
    with arg_scope([convolution2d, fully_connected, max_pool2d], outputs_collections=collection):
        net = _blocks(inputs, repetitions)
        net = dense_layers(net, [4096, 4096], [7, 7], num_classes, is_training, dropout_keep_prob)
        return with_end_points(net, collection, sc, spatial_squeeze)


@for_images_of(224)
def vgg_a(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope="vgg_a"):
    """VGG with 11 layers, for images of 224 x 224.

    Args:
      inputs: images, [batch, height, width, channels].
      num_classes: how many classes there are.
      is_training, dropout_keep_prob: whether to drop out, and what share to keep.
      spatial_squeeze: whether logits lose the image's dimensions.
      scope: the variable scope.

    Returns:
      (logits, {layer: its output}).
    """
    with variable_scope(scope, "vgg_a", [inputs]) as sc:
        given = (num_classes, is_training, dropout_keep_prob, spatial_squeeze)
        return _classifier(sc, sc.original_name_scope + "_end_points", inputs, (1, 1, 2, 2, 2), *given)


@for_images_of(224)
def vgg_16(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope="vgg_16"):
    """VGG with 16 layers; see vgg_a."""
    with variable_scope(scope, "vgg_16", [inputs]) as sc:
        given = (num_classes, is_training, dropout_keep_prob, spatial_squeeze)
        return _classifier(sc, sc.original_name_scope + "_end_points", inputs, (2, 2, 3, 3, 3), *given)


@for_images_of(224)
def vgg_19(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope="vgg_19"):
    """VGG with 19 layers; see vgg_a."""
    with variable_scope(scope, "vgg_19", [inputs]) as sc:
        given = (num_classes, is_training, dropout_keep_prob, spatial_squeeze)
        return _classifier(sc, sc.name + "_end_points", inputs, (2, 2, 4, 4, 4), *given)


vgg_d = vgg_16
vgg_e = vgg_19
