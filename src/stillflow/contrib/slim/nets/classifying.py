"""The last layers of networks that classify images: convolutions over what is left of the image."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.framework.argument_scopes import arg_scope
from stillflow.contrib.layers.convolving import convolution2d
from stillflow.contrib.layers.named_outputs import convert_collection_to_dict
from stillflow.contrib.layers.plain import dropout
from stillflow.variables.initializers import Constant, TruncatedNormal, Zeros


def dense_layers(net, sizes, kernel, num_classes, is_training, dropout_keep_prob, **last):
    """Layers fc6, fc7 and fc8 with dropout between: convolutions with the image's size as kernel, then with 1 x 1.

    Args:
      net: what is left of the images.
      sizes: the numbers of outputs of fc6 and fc7.
      kernel: the size of what is left.
      num_classes: how many classes there are.
      is_training, dropout_keep_prob: of dropout.
      last: more arguments of the last layer.
    """
    net = convolution2d(net, sizes[0], kernel, padding="VALID", scope="fc6")
    net = dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout6")
    net = convolution2d(net, sizes[1], [1, 1], scope="fc7")
    net = dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout7")
    return convolution2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8", **last)


def dense_layers_with_biases(net, sizes, kernel, num_classes, is_training, dropout_keep_prob):
    """The same with small random weights and biases of 0.1 before the last layer."""
    with arg_scope(
        [convolution2d], weights_initializer=TruncatedNormal(0.0, 0.005), biases_initializer=Constant(0.1)
    ):
        return dense_layers(
            net, sizes, kernel, num_classes, is_training, dropout_keep_prob, biases_initializer=Zeros()
        )


def with_end_points(net, collection, scope, spatial_squeeze):
    """(logits, {layer: its output}): the collected outputs, and the logits without the image's dimensions."""
    end_points = convert_collection_to_dict(collection)
    if spatial_squeeze:
        net = ops.squeeze(net, [1, 2], name="fc8/squeezed")
        end_points[scope.name + "/fc8"] = net
    return net, end_points
