"""AlexNet, version 2, "One weird trick for parallelizing convolutional neural networks" (Krizhevsky 2014)."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.framework.argument_scopes import arg_scope
from stillflow.contrib.layers.convolving import convolution2d
from stillflow.contrib.layers.dense import fully_connected
from stillflow.contrib.layers.pooling import max_pool2d
from stillflow.contrib.layers.regularizers import l2_regularizer
from stillflow.contrib.slim.nets.classifying import dense_layers_with_biases, with_end_points
from stillflow.contrib.slim.nets.image_sizes import for_images_of
from stillflow.names import public_module
from stillflow.variables.initializers import Constant
from stillflow.variables.scope import variable_scope

public_module("contrib.slim.nets.alexnet", "contrib.slim.python.slim.nets.alexnet")


def alexnet_v2_arg_scope(weight_decay=0.0005):
    """The arg_scope of the network: ReLU, biases of 0.1, and an L2 loss of the weights."""
    with (
        arg_scope(
            [convolution2d, fully_connected],
            activation_fn=ops.relu,
            biases_initializer=Constant(0.1),
            weights_regularizer=l2_regularizer(weight_decay),
        ),
        arg_scope([convolution2d], padding="SAME"),
        arg_scope([max_pool2d], padding="VALID") as scope,
    ):
        return scope


@for_images_of(224)
def alexnet_v2(
    inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope="alexnet_v2"
):
    """AlexNet, for images of 224 x 224.

    Args:
      inputs: images, [batch, height, width, channels].
      num_classes: how many classes there are.
      is_training, dropout_keep_prob: whether to drop out, and what share to keep.
      spatial_squeeze: whether logits lose the image's dimensions.
      scope: the variable scope.

    Returns:
      (logits, {layer: its output}).
    """
    with variable_scope(scope, "alexnet_v2", [inputs]) as sc:
        collection = sc.original_name_scope + "_end_points"
        with arg_scope([convolution2d, fully_connected, max_pool2d], outputs_collections=[collection]):
            net = convolution2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
            net = max_pool2d(net, [3, 3], 2, scope="pool1")
            net = convolution2d(net, 192, [5, 5], scope="conv2")
            net = max_pool2d(net, [3, 3], 2, scope="pool2")
            net = convolution2d(net, 384, [3, 3], scope="conv3")
            net = convolution2d(net, 384, [3, 3], scope="conv4")
            net = convolution2d(net, 256, [3, 3], scope="conv5")
            net = max_pool2d(net, [3, 3], 2, scope="pool5")
            net = dense_layers_with_biases(net, [4096, 4096], [5, 5], num_classes, is_training, dropout_keep_prob)
            return with_end_points(net, collection, sc, spatial_squeeze)
