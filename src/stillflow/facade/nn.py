"""tf.nn: activation functions, and what nn_layers.py and nn_losses.py have."""

from __future__ import annotations

from stillflow import ops
from stillflow.autodiff.custom_gradient import custom_gradient
from stillflow.facade import nn_layers, nn_losses
from stillflow.facade.math_reductions import zero_fraction
from stillflow.facade.nn_layers import *
from stillflow.facade.nn_losses import *
from stillflow.facade.space_blocks import depth_to_space, space_to_batch, space_to_depth
from stillflow.graph.default_graph import get_default_graph
from stillflow.ops.convert import convert_to_tensor

__all__ = [
    *nn_layers.__all__,
    *nn_losses.__all__,
    "crelu",
    "depth_to_space",
    "space_to_batch",
    "space_to_depth",
    "elu",
    "l2_loss",
    "leaky_relu",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "softplus",
    "swish",
    "softsign",
    "tanh",
    "zero_fraction",
]


def relu(features, name=None):
    """max(x, 0)."""
    return ops.relu(features, name=name)


def relu6(features, name=None):
    """min(max(x, 0), 6)."""
    return ops.relu6(features, name=name)


def elu(features, name=None):
    """x where it is positive, else exp(x) - 1."""
    return ops.elu(features, name=name)


def selu(features, name=None):
    """`elu` scaled such that activations tend to mean 0 and variance 1."""
    return ops.selu(features, name=name)


def leaky_relu(features, alpha=0.2, name=None):
    """x where it is positive, else alpha * x."""
    return ops.leaky_relu(features, alpha, name)


def crelu(features, name=None, axis=-1):
    """The positive parts of x and of -x, side by side along `axis`."""
    return ops.crelu(features, name, axis)


def sigmoid(x, name=None):
    """1 / (1 + exp(-x))."""
    return ops.sigmoid(x, name=name)


def tanh(x, name=None):
    """The hyperbolic tangent."""
    return ops.tanh(x, name=name)


def softplus(features, name=None):
    """log(1 + exp(x))."""
    return ops.softplus(features, name=name)


@custom_gradient
def swish(features):
    """x * sigmoid(x)."""
    features = convert_to_tensor(features, name="features")

    def grad(dy):
        with get_default_graph().control_dependencies([dy]):
            sigmoids = ops.sigmoid(features)
        return dy * (sigmoids * (1.0 + features * (1.0 - sigmoids)))

    return features * ops.sigmoid(features), grad


def softsign(features, name=None):
    """x / (1 + |x|)."""
    return ops.softsign(features, name=name)


def l2_loss(t, name=None):
    """Half the sum of squares, a scalar."""
    return ops.l2_loss(t, name=name)
