"""Activations that layers know by name."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.clip import clip_by_value
from stillflow.layers.core import serialization
from stillflow.layers.core.serialization import deserialize as found
from stillflow.layers.core.settings import floatx
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("keras.activations.linear")
def linear(x):
    """x itself."""
    return x


@public("keras.activations.softmax")
def softmax(x, axis=-1):
    """exp(x), divided by its sum along an axis. Raises ValueError for a vector."""
    rank = x.shape.ndims
    if rank == 2:
        return ops.softmax(x)
    if rank < 2:
        raise ValueError(f"Cannot apply softmax to a tensor that is 1D. Received input: {x}")
    exponentials = ops.exp(x - ops.reduce_max(x, axis, keepdims=True))
    return exponentials / ops.reduce_sum(exponentials, axis, keepdims=True)


@public("keras.activations.elu", "keras.backend.elu")
def elu(x, alpha=1.0):
    """x where it is positive, elsewhere alpha * (exp(x) - 1)."""
    result = ops.elu(x)
    if alpha == 1:
        return result
    return ops.where(x > 0, result, alpha * result)


_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


@public("keras.activations.selu")
def selu(x):
    """Scaled exponential linear unit: it keeps the mean 0 and the variance 1. Klambauer et al., 2017."""
    return _SELU_SCALE * elu(x, _SELU_ALPHA)


@public("keras.activations.softplus", "keras.backend.softplus")
def softplus(x):
    """log(exp(x) + 1)."""
    return ops.softplus(x)


@public("keras.activations.softsign", "keras.backend.softsign")
def softsign(x):
    """x / (abs(x) + 1)."""
    return ops.softsign(x)


@public("keras.activations.relu", "keras.backend.relu")
def relu(x, alpha=0.0, max_value=None, threshold=0):
    """x where it is at least `threshold`, elsewhere alpha * (x - threshold); no more than `max_value`."""
    if alpha != 0:
        if max_value is None and threshold == 0:
            return ops.leaky_relu(x, alpha=alpha)
        negative = ops.relu(-x + threshold) if threshold != 0 else ops.relu(-x)
    if threshold != 0:
        x = x * ops.cast(x > threshold, floatx())
    elif max_value == 6:
        x = ops.relu6(x)
    else:
        x = ops.relu(x)
    if max_value is not None and max_value != 6:
        high, low = (ops.constant(bound, x.dtype.base_dtype) for bound in (max_value, 0.0))
        x = clip_by_value(x, low, high)
    if alpha != 0:
        x = x - convert_to_tensor(alpha, x.dtype.base_dtype) * negative
    return x


@public("keras.activations.tanh", "keras.backend.tanh")
def tanh(x):
    """Hyperbolic tangent."""
    return ops.tanh(x)


@public("keras.activations.sigmoid", "keras.backend.sigmoid")
def sigmoid(x):
    """1 / (1 + exp(-x))."""
    return ops.sigmoid(x)


@public("keras.activations.exponential")
def exponential(x):
    """exp(x)."""
    return ops.exp(x)


@public("keras.activations.hard_sigmoid", "keras.backend.hard_sigmoid")
def hard_sigmoid(x):
    """0.2 * x + 0.5, cut off at 0 and 1."""
    slope, shift = (ops.constant(number, x.dtype.base_dtype) for number in (0.2, 0.5))
    return clip_by_value(ops.add(ops.mul(x, slope), shift), 0.0, 1.0)


KNOWN = {
    function.__name__: function
    for function in (
        softmax, elu, selu, softplus, softsign, relu, tanh, sigmoid, exponential, hard_sigmoid, linear,
    )
}  # fmt: skip


@public("keras.activations.get")
def get(identifier):
    """The activation that an argument of a layer means; None is `linear`. Raises ValueError or TypeError."""
    if identifier is None:
        return linear
    if callable(identifier):
        return identifier
    if isinstance(identifier, (str, dict)):
        return found(identifier, KNOWN, "activation function" if isinstance(identifier, str) else "activation")
    raise TypeError(f"Could not interpret activation function identifier: {identifier!r}")


@public("keras.activations.serialize")
def serialize(activation):
    """An activation as plain values, or its name; see `deserialize`."""
    return serialization.serialize(activation)


@public("keras.activations.deserialize")
def deserialize(name, custom_objects=None):
    """The activation of that name. Raises ValueError for an unknown one."""
    return found(name, KNOWN, "activation function", custom_objects)
