"""tf.clip_by_*: values and gradients kept within bounds."""

from __future__ import annotations

from stillflow.composites import clip

__all__ = ["clip_by_average_norm", "clip_by_global_norm", "clip_by_norm", "clip_by_value", "global_norm"]


def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    """Elements of a tensor or IndexedSlices taken to the nearest bound where they are outside."""
    return clip.clip_by_value(t, clip_value_min, clip_value_max, name)


def clip_by_norm(t, clip_norm, axes=None, name=None):
    """Values scaled down to the norm `clip_norm` where their norm over `axes` is larger."""
    return clip.clip_by_norm(t, clip_norm, axes, name)


def clip_by_average_norm(t, clip_norm, name=None):
    """Values scaled down where their norm, divided by their number, is larger than `clip_norm`."""
    return clip.clip_by_average_norm(t, clip_norm, name)


def global_norm(t_list, name=None):
    """The root of the sum of squares of all elements of all tensors."""
    return clip.global_norm(t_list, name)


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """(tensors scaled down together so that their global norm is at most `clip_norm`, that norm)."""
    return clip.clip_by_global_norm(t_list, clip_norm, use_norm, name)
