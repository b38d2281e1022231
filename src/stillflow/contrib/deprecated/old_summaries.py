"""Summaries with tags that are tensors, which name scopes have no part in."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


def _collected(summary, collections, default=(GraphKeys.SUMMARIES,)):
    for key in default if collections is None else collections:
        get_default_graph().add_to_collection(key, summary)
    return summary


@public("contrib.deprecated.scalar_summary", "python.ops.logging_ops.scalar_summary")
def scalar_summary(tags, values, collections=None, name=None):
    """A summary of real numbers, a serialized Summary message.

    Args:
      tags: a string for each number, of the same shape.
      values: the numbers.
      collections: the keys of the graph collections to add it to; by default that of summaries.
      name: of the node.
    """
    with name_scope(name, "ScalarSummary", [tags, values]) as scope:
        return _collected(ops.scalar_summary(tags, values, name=scope), collections)


@public("contrib.deprecated.histogram_summary", "python.ops.logging_ops.histogram_summary")
def histogram_summary(tag, values, collections=None, name=None):
    """A summary of the histogram of some numbers; see scalar_summary. `tag` is one string."""
    with name_scope(name, "HistogramSummary", [tag, values]) as scope:
        return _collected(ops.histogram_summary(tag, values, name=scope), collections)


@public("contrib.deprecated.image_summary", "python.ops.logging_ops.image_summary")
def image_summary(tag, tensor, max_images=3, collections=None, name=None):
    """A summary of images, [batch, height, width, 1, 3 or 4 channels], of which the first `max_images` are kept."""
    with name_scope(name, "ImageSummary", [tag, tensor]) as scope:
        return _collected(ops.image_summary(tag, tensor, max_images=max_images, name=scope), collections)


@public("contrib.deprecated.audio_summary", "python.ops.logging_ops.audio_summary")
def audio_summary(tag, tensor, sample_rate, max_outputs=3, collections=None, name=None):
    """A summary of sounds, [batch, frames] or [batch, frames, channels], with values in [-1, 1]."""
    with name_scope(name, "AudioSummary", [tag, tensor]) as scope:
        sample_rate = convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
        summary = ops.audio_summary_v2(tag, tensor, sample_rate, max_outputs=max_outputs, name=scope)
        return _collected(summary, collections)


@public("contrib.deprecated.merge_summary", "python.ops.logging_ops.merge_summary")
def merge_summary(inputs, collections=None, name=None):
    """One summary of several."""
    with name_scope(name, "MergeSummary", inputs):
        return _collected(ops.merge_summary(inputs, name=name), collections, ())


@public("contrib.deprecated.merge_all_summaries", "python.ops.logging_ops.merge_all_summaries")
def merge_all_summaries(key=GraphKeys.SUMMARIES):
    """One summary of all in a collection; None if it is empty."""
    found = get_default_graph().get_collection(key)
    return merge_summary(found) if found else None
