"""scaled_softplus: a rectifier with a smooth bend."""

from __future__ import annotations

from stillflow import ops
from stillflow.autodiff.custom_gradient import custom_gradient
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor

_EPSILON = 1e-8  # keeps the logarithm of a slope of 0 finite


@public("contrib.nn.scaled_softplus", "contrib.nn.python.ops.scaled_softplus.scaled_softplus")
def scaled_softplus(x, alpha, clip=None, name=None):
    """alpha log(1 + exp(x / alpha)), at most `clip`: for a small alpha nearly relu, or relu6 with a clip of 6.

    Args:
      x: a tensor of floats.
      alpha: how smooth the bend is; greater than 0.
      clip: the largest result, or None. Arguments are broadcast against each other.
      name: of the name scope.

    Gradients are computed from the result, so that only that has to be kept.
    """
    with name_scope(name, "scaled_softplus", [x, alpha, *([] if clip is None else [clip])]):
        x = convert_to_tensor(x, name="x")
        alpha = convert_to_tensor(alpha, dtype=x.dtype, name="alpha")
        given = [x, alpha] if clip is None else [x, alpha, convert_to_tensor(clip, dtype=x.dtype, name="clip")]
        shape = ops.shape(x)
        for other in given[1:]:
            shape = ops.broadcast_dynamic_shape(shape, ops.shape(other))
        result = _bent(*(ops.broadcast_to(each, shape) for each in given))
        if alpha.shape.rank == 0 and (clip is None or given[2].shape.rank == 0):
            result.set_shape(x.shape)
        return result


@custom_gradient
def _bent(x, alpha, *clip):
    """The same for arguments of one shape."""
    y = alpha * ops.softplus(x / alpha)
    if clip:
        y = ops.minimum(y, clip[0])

    def gradient(g):
        with control_dependencies([g]):
            value = ops.identity(y)
        of_clip = []
        if clip:
            is_below = ops.cast(value < clip[0], g.dtype)
            of_clip = [g * (1.0 - is_below)]
            g = g * is_below
        value = value / alpha
        rest = ops.exp(-value)
        slope = 1.0 - rest
        return [g * slope, g * (value * rest - slope * ops.log(slope + _EPSILON)), *of_clip]

    return y, gradient
