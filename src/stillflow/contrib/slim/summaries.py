"""Summaries of tensors under their own names: tf.contrib.slim.summaries."""

from __future__ import annotations

from stillflow.composites import summaries as _summaries
from stillflow.composites.statistics import zero_fraction as _zero_fraction
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public_module
from stillflow.ops.strings.print import Print as _Print

public_module("contrib.slim.summaries", "contrib.slim.python.slim.summaries")


def _summary_name(tensor, name=None, prefix=None, postfix=None):
    return "/".join(part for part in (prefix, name or tensor.op.name, postfix) if part)


def _summarized(make, tensor, name, print_summary):
    """A summary, which also prints the tensor if that is asked for."""
    summary = make(name=name, tensor=tensor, collections=[] if print_summary else None)
    if print_summary:
        summary = _Print(summary, [tensor], name)
        get_default_graph().add_to_collection(GraphKeys.SUMMARIES, summary)
    return summary


def add_histogram_summary(tensor, name=None, prefix=None):
    """A histogram of a tensor, called `name`, by default as the tensor, after a prefix."""
    return _summaries.histogram(_summary_name(tensor, name, prefix), tensor)


def add_image_summary(tensor, name=None, prefix=None, print_summary=False):
    """A summary of images, called `name`, by default as the tensor, after a prefix; and printed if asked for."""
    return _summarized(_summaries.image, tensor, _summary_name(tensor, name, prefix), print_summary)


def add_scalar_summary(tensor, name=None, prefix=None, print_summary=False):
    """A summary of a scalar, called `name`, by default as the tensor, after a prefix; and printed if asked for."""
    return _summarized(_summaries.scalar, tensor, _summary_name(tensor, name, prefix), print_summary)


def add_zero_fraction_summary(tensor, name=None, prefix=None, print_summary=False):
    """A summary of the share of zeros in a tensor; see add_scalar_summary."""
    name = _summary_name(tensor, name, prefix, "Fraction_of_Zero_Values")
    return add_scalar_summary(_zero_fraction(tensor), name, print_summary=print_summary)


def add_histogram_summaries(tensors, prefix=None):
    """A list of histograms."""
    return [add_histogram_summary(tensor, prefix=prefix) for tensor in tensors]


def add_image_summaries(tensors, prefix=None):
    """A list of summaries of images."""
    return [add_image_summary(tensor, prefix=prefix) for tensor in tensors]


def add_scalar_summaries(tensors, prefix=None, print_summary=False):
    """A list of summaries of scalars."""
    return [add_scalar_summary(tensor, prefix=prefix, print_summary=print_summary) for tensor in tensors]


def add_zero_fraction_summaries(tensors, prefix=None):
    """A list of summaries of the share of zeros."""
    return [add_zero_fraction_summary(tensor, prefix=prefix) for tensor in tensors]
