"""OverFeat, "OverFeat: integrated recognition, localization and detection" (Sermanet et al. 2014)."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.framework.argument_scopes import arg_scope
from stillflow.contrib.layers.convolving import convolution2d
from stillflow.contrib.layers.dense import fully_connected
from stillflow.contrib.layers.pooling import max_pool2d
from stillflow.contrib.layers.regularizers import l2_regularizer
from stillflow.contrib.slim.nets.classifying import dense_layers_with_biases, with_end_points
from stillflow.names import public_module
from stillflow.variables.initializers import Zeros
from stillflow.variables.scope import variable_scope

public_module("contrib.slim.nets.overfeat", "contrib.slim.python.slim.nets.overfeat")


def overfeat_arg_scope(weight_decay=0.0005):
    """The arg_scope of the network: ReLU, and an L2 loss of the weights."""
    with (
        arg_scope(
            [convolution2d, fully_connected],
            activation_fn=ops.relu,
            weights_regularizer=l2_regularizer(weight_decay),
            biases_initializer=Zeros(),
        ),
        arg_scope([convolution2d], padding="SAME"),
        arg_scope([max_pool2d], padding="VALID") as scope,
    ):
        return scope


def overfeat(
    inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope="overfeat"
):
    """OverFeat, the fast one, for images of 231 x 231. Arguments and results are those of alexnet.alexnet_v2."""
    with variable_scope(scope, "overfeat", [inputs]) as sc:
        collection = sc.name + "_end_points"
        with arg_scope([convolution2d, fully_connected, max_pool2d], outputs_collections=collection):
            net = convolution2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
            net = max_pool2d(net, [2, 2], scope="pool1")
            net = convolution2d(net, 256, [5, 5], padding="VALID", scope="conv2")
            net = max_pool2d(net, [2, 2], scope="pool2")
            net = convolution2d(net, 512, [3, 3], scope="conv3")
            net = convolution2d(net, 1024, [3, 3], scope="conv4")
            net = convolution2d(net, 1024, [3, 3], scope="conv5")
            net = max_pool2d(net, [2, 2], scope="pool5")
            net = dense_layers_with_biases(net, [3072, 4096], [6, 6], num_classes, is_training, dropout_keep_prob)
            return with_end_points(net, collection, sc, spatial_squeeze)
