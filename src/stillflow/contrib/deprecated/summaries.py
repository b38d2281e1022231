"""Summaries whose tags are given, and tensors: name scopes are no part of them."""

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


@public("contrib.deprecated.scalar_summary")
def scalar_summary(tags, values, collections=None, name=None):
    """A summary of real numbers: one for each tag.

    Args:
      tags: a string tensor.
      values: a real tensor of its shape.
      collections: the keys of the graph collections to add it to; by default that of summaries.
      name: the operation's name.

    Returns:
      A string scalar: a serialized Summary.
    """
    with name_scope(name, "ScalarSummary", [tags, values]) as scope:
        return _collected(ops.scalar_summary(tags, values, name=scope), collections)


@public("contrib.deprecated.histogram_summary")
def histogram_summary(tag, values, collections=None, name=None):
    """A summary of how the elements of `values` are distributed; `tag` is a string scalar. See `scalar_summary`."""
    with name_scope(name, "HistogramSummary", [tag, values]) as scope:
        return _collected(ops.histogram_summary(tag, values, name=scope), collections)


@public("contrib.deprecated.image_summary")
def image_summary(tag, tensor, max_images=3, collections=None, name=None):
    """A summary of images, [batch, height, width, channels], the first `max_images` of them; see tf.summary.image.

    The tags are `tag`/image, or `tag`/image/0, `tag`/image/1, ... for several `max_images`.
    """
    with name_scope(name, "ImageSummary", [tag, tensor]) as scope:
        return _collected(ops.image_summary(tag, tensor, max_images=max_images, name=scope), collections)


@public("contrib.deprecated.audio_summary")
def audio_summary(tag, tensor, sample_rate, max_outputs=3, collections=None, name=None):
    """A summary of sounds, float32 [batch, frames] or [batch, frames, channels]; see tf.summary.audio."""
    with name_scope(name, "AudioSummary", [tag, tensor]) as scope:
        sample_rate = convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
        summary = ops.audio_summary_v2(tag, tensor, sample_rate, max_outputs=max_outputs, name=scope)
        return _collected(summary, collections)


@public("contrib.deprecated.merge_summary")
def merge_summary(inputs, collections=None, name=None):
    """The values of serialized summaries as one, which is added to the collections that `collections` says."""
    with name_scope(name, "MergeSummary", inputs):
        return _collected(ops.merge_summary(inputs, name=name), collections, ())


@public("contrib.deprecated.merge_all_summaries")
def merge_all_summaries(key=GraphKeys.SUMMARIES):
    """The summaries of a collection of the graph as one, or None if there are none."""
    summaries = get_default_graph().get_collection(key)
    return merge_summary(summaries) if summaries else None
