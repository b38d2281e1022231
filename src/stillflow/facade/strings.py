"""tf.strings."""

from __future__ import annotations

from stillflow import ops

__all__ = ["format"]


def format(template, inputs, placeholder="{}", summarize=3, name=None):
    """A string tensor: `template` with tensors in the places of `placeholder`.

    Args:
      inputs: a tensor or a list of them.
      summarize: how many elements to show at both ends of each dimension; -1 for all.

    Raises ValueError unless there are as many places as tensors.
    """
    return ops.string_format(template, inputs, placeholder, summarize, name)
