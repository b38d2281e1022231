"""Clipping of values and gradients: by value, by norm, and by the norm of all of them."""

from __future__ import annotations

from collections.abc import Sequence

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.dispatch import dispatched


def _values(t, name):
    return convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name=name)


def _like(t, values):
    return IndexedSlices(values, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else values


@public("clip_by_value")
@dispatched
def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    """Elements limited to a range.

    Args:
      t: a tensor, or IndexedSlices.
      clip_value_min, clip_value_max: bounds of the type of `t`, scalars or of a shape that broadcasts to its own.
      name: a name for the operation.

    Returns:
      A tensor of the type and shape of `t`: elements below `clip_value_min` become that, those above
      `clip_value_max` that.

    Raises:
      ValueError: if the bounds would broadcast `t`.
    """
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as scope:
        values = _values(t, "t")
        bounded = ops.minimum(values, clip_value_max)
        values.shape.merge_with(bounded.shape)
        clipped = ops.maximum(bounded, clip_value_min, name=scope)
        values.shape.merge_with(clipped.shape)
        return _like(t, clipped)


@public("clip_by_norm")
def clip_by_norm(t, clip_norm, axes=None, name=None):
    """Values scaled down to the norm `clip_norm` where their norm over `axes` is larger."""
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        values = _values(t, "t")
        squares = ops.reduce_sum(values * values, axes, keepdims=True)
        # The root of 0 has no derivative: such norms go around it.
        is_positive = squares > 0
        safe = ops.where(is_positive, squares, ops.ones_like(squares))
        norm = ops.where(is_positive, ops.sqrt(safe), squares)
        scaled = values * clip_norm
        values.shape.merge_with(scaled.shape)
        clipped = ops.identity(scaled / ops.maximum(norm, clip_norm), name=scope)
        return _like(t, clipped)


@public("clip_by_average_norm")
def clip_by_average_norm(t, clip_norm, name=None):
    """Values scaled down where their norm, divided by their number, is larger than `clip_norm`."""
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = convert_to_tensor(t, name="t")
        count = ops.cast(ops.size(t), dtypes.float32)
        inverse_norm = ops.rsqrt(ops.reduce_sum(t * t, ops.range(ops.rank(t))))
        scaled = t * clip_norm
        factor = ops.minimum(inverse_norm * count, ops.constant(1.0) / clip_norm)
        return ops.identity(scaled * factor, name=scope)


def _as_list(t_list):
    if not isinstance(t_list, Sequence) or isinstance(t_list, (str, bytes)):
        raise TypeError("t_list should be a sequence")
    return list(t_list)


def _all_values(t_list):
    return [None if t is None else _values(t, f"t_{i}") for i, t in enumerate(t_list)]


@public("global_norm", "linalg.global_norm")
def global_norm(t_list, name=None):
    """The root of the sum of squares of all elements of all tensors; None among them is left out."""
    t_list = _as_list(t_list)
    with name_scope(name, "global_norm", t_list):
        halves = []
        for values in _all_values(t_list):
            if values is not None:
                with get_default_graph().colocate_with(values):
                    halves.append(ops.l2_loss(values))
        half = ops.reduce_sum(ops.stack(halves))
        return ops.sqrt(half * ops.constant(2.0, dtype=half.dtype), name="global_norm")


@public("clip_by_global_norm")
def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """Tensors scaled down together so that their global norm is at most `clip_norm`.

    Args:
      t_list: tensors, IndexedSlices, and None, which stays None.
      use_norm: their global norm, if it is known.

    Returns:
      (the list of scaled tensors, the global norm). All are NaN if the norm is infinite or NaN.
    """
    t_list = _as_list(t_list)
    if use_norm is None:
        use_norm = global_norm(t_list, name)
    with name_scope(name, "clip_by_global_norm", [*t_list, clip_norm]) as scope:
        inverse = 1.0 / use_norm
        one = ops.constant(1.0, dtype=use_norm.dtype)
        factor = clip_norm * ops.minimum(inverse, one / clip_norm)
        is_finite = ops.is_finite(use_norm)
        scale = ops.where(is_finite, factor, ops.constant(float("nan"), dtype=use_norm.dtype))
        clipped: list = []
        values = _all_values(t_list)
        for i, (t, v) in enumerate(zip(t_list, values, strict=True)):
            if v is None:
                clipped.append(None)
                continue
            with get_default_graph().colocate_with(v):
                clipped.append(_like(t, ops.identity(v * scale, name=f"{scope}_{i}")))
        return clipped, use_norm
