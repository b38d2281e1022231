"""Summaries: nodes that serialize their inputs as Summary messages, tagged by name scope."""

from __future__ import annotations

import contextlib
import re

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph, require_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor

_BAD_CHARACTERS = re.compile(r"[^-/\w.]")


@public("python.ops.summary_op_util.clean_tag")
def clean_tag(name):
    """The name without what scopes refuse: a "_" for each other character, and no "/" in front."""
    if name is None:
        return None
    cleaned = _BAD_CHARACTERS.sub("_", name).lstrip("/")
    if cleaned != name:
        from absl import logging

        logging.info("Summary name %s is illegal; using %s instead.", name, cleaned)
    return cleaned


@public("python.ops.summary_op_util.summary_scope")
@contextlib.contextmanager
def summary_scope(name, family, default_name=None, values=None):
    """Opens the summary's name scope; yields (tag, scope). A family stands in front of both."""
    name, family = clean_tag(name), clean_tag(family)
    base = name if family is None else f"{family}/{name}"
    with name_scope(base, default_name, values) as scope:
        tag = scope.rstrip("/")
        yield tag if family is None else f"{family}/{tag}", scope


@public("python.ops.summary_op_util.collect")
def collect(val, collections, default_collections):
    """Adds `val` to the graph's collections of those keys, or of `default_collections` if they are None."""
    for key in default_collections if collections is None else collections:
        get_default_graph().add_to_collection(key, val)


def _collected(summary, collections, default=(GraphKeys.SUMMARIES,)):
    collect(summary, collections, default)
    return summary


@public("summary.scalar")
def scalar(name, tensor, collections=None, family=None):
    """A summary of one real number.

    Args:
      name: its name, which in the name scope becomes the tag.
      tensor: a real scalar.
      collections: the keys of the graph collections to add it to; by default that of summaries.
      family: what to put in front of the tag, so that TensorBoard shows those of a family together.

    Returns:
      A string scalar: a serialized Summary.

    Raises:
      At run time tf.errors.InvalidArgumentError for a tensor that is no scalar.
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        return _collected(ops.scalar_summary(tag, tensor, name=scope), collections)


@public("summary.image")
def image(name, tensor, max_outputs=3, collections=None, family=None):
    """A summary of images.

    Args:
      name: its name; the tags are NAME/image, or NAME/image/0, NAME/image/1, ... for several `max_outputs`.
      tensor: [batch, height, width, channels]: 1 channel is gray, 3 are RGB, 4 RGBA. uint8 as it is; floats are
        stretched to 0...255, with 0 at 128 if there are negative ones; pixels that are not finite are red.
      max_outputs: how many images of the batch.
      collections, family: as of `scalar`.

    Returns:
      A string scalar: a serialized Summary.

    Raises:
      ValueError: if `max_outputs` is less than 1.
      At run time tf.errors.InvalidArgumentError for other shapes.
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        return _collected(ops.image_summary(tag, tensor, max_images=max_outputs, name=scope), collections)


@public("summary.audio")
def audio(name, tensor, sample_rate, max_outputs=3, collections=None, family=None):
    """A summary of sounds.

    Args:
      name: its name; the tags are NAME/audio, or NAME/audio/0, ... for several `max_outputs`.
      tensor: float32 [batch, frames] or [batch, frames, channels], between -1 and 1.
      sample_rate: a float32 scalar: frames a second.
      max_outputs: how many sounds of the batch.
      collections, family: as of `scalar`.

    Returns:
      A string scalar: a serialized Summary.

    Raises:
      At run time tf.errors.InvalidArgumentError for other shapes, and a rate that is not positive.
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        sample_rate = convert_to_tensor(sample_rate, dtypes.float32, name="sample_rate")
        summary = ops.audio_summary_v2(tag, tensor, sample_rate, max_outputs=max_outputs, name=scope)
        return _collected(summary, collections)


@public("summary.histogram")
def histogram(name, values, collections=None, family=None):
    """A summary of how values are distributed.

    Args:
      name: its name, which in the name scope becomes the tag.
      values: a real tensor.
      collections, family: as of `scalar`.

    Returns:
      A string scalar: a serialized Summary.

    Raises:
      At run time tf.errors.InvalidArgumentError if a value is not finite.
    """
    with summary_scope(name, family, "HistogramSummary", [values]) as (tag, scope):
        return _collected(ops.histogram_summary(tag, values, name=scope), collections)


@public("summary.tensor_summary")
def tensor_summary(
    name, tensor, summary_description=None, collections=None, summary_metadata=None, family=None, display_name=None
):
    """A summary of a whole tensor.

    Args:
      name: its name, which in the name scope becomes the tag.
      tensor: of any type and shape.
      summary_description: a text, for people.
      collections, family: as of `scalar`.
      summary_metadata: a SummaryMetadata message, which says what shows the tensor; the description and the
        display name are set in it.
      display_name: the name to show in place of the tag.

    Returns:
      A string scalar: a serialized Summary.
    """
    from stillflow.formats import protobuf

    metadata = protobuf.message("SummaryMetadata")() if summary_metadata is None else summary_metadata
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        summary = ops.tensor_summary_v2(tag, tensor, protobuf.to_bytes(metadata), name=scope)
        return _collected(summary, collections)


@public("summary.text")
def text(name, tensor, collections=None):
    """A summary of strings, shown as Markdown.

    Args:
      name: its name, which in the name scope becomes the tag.
      tensor: a string tensor.
      collections: as of `scalar`.

    Returns:
      A string scalar: a serialized Summary.

    Raises ValueError if `tensor` holds no strings.
    """
    from stillflow.formats import protobuf

    if tensor.dtype != dtypes.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    metadata = protobuf.message("SummaryMetadata")()
    metadata.plugin_data.plugin_name = "text"
    return tensor_summary(name, tensor, collections=collections, summary_metadata=metadata)


_NO_MERGING = "Merging tf.summary.* ops is not compatible with eager execution. Use tf.contrib.summary instead."


@public("summary.merge")
def merge(inputs, collections=None, name=None):
    """One summary with the values of several.

    Args:
      inputs: string tensors of serialized Summary messages.
      collections: the keys of the graph collections to add it to; by default none.
      name: a name for the operation.

    Returns:
      A string scalar: a serialized Summary.

    Raises:
      ValueError: if there are no inputs.
      RuntimeError: while operations are executed eagerly.
      At run time tf.errors.InvalidArgumentError if a tag occurs twice.
    """
    require_graph(_NO_MERGING)
    name = clean_tag(name)
    with name_scope(name, "Merge", inputs):
        return _collected(ops.merge_summary(inputs, name=name), collections, ())


@public("summary.merge_all")
def merge_all(key=GraphKeys.SUMMARIES, scope=None, name=None):
    """One summary with the values of all that the graph has collected under `key`, or None if there are none.

    `scope` is a pattern that the names of those wanted begin with.
    """
    require_graph(_NO_MERGING)
    found = get_default_graph().get_collection(key, scope)
    return merge(found, name=name) if found else None


# ---- The names before 1.0: tags are given, and have nothing to do with scopes ------------------------------------


@public("scalar_summary")
def scalar_with_tags(tags, values, collections=None, name=None):
    """A summary of real numbers, one for each of the string tensor `tags`."""
    with name_scope(name, "ScalarSummary", [tags, values]) as scope:
        return _collected(ops.scalar_summary(tags, values, name=scope), collections)


@public("histogram_summary")
def histogram_with_tag(tag, values, collections=None, name=None):
    """A summary of how `values` are distributed."""
    with name_scope(name, "HistogramSummary", [tag, values]) as scope:
        return _collected(ops.histogram_summary(tag, values, name=scope), collections)


@public("image_summary")
def image_with_tag(tag, tensor, max_images=3, collections=None, name=None):
    """A summary of images."""
    with name_scope(name, "ImageSummary", [tag, tensor]) as scope:
        return _collected(ops.image_summary(tag, tensor, max_images=max_images, name=scope), collections)


@public("audio_summary")
def audio_with_tag(tag, tensor, sample_rate, max_outputs=3, collections=None, name=None):
    """A summary of sounds."""
    with name_scope(name, "AudioSummary", [tag, tensor]) as scope:
        sample_rate = convert_to_tensor(sample_rate, dtypes.float32, name="sample_rate")
        summary = ops.audio_summary_v2(tag, tensor, sample_rate, max_outputs=max_outputs, name=scope)
        return _collected(summary, collections)


@public("merge_summary")
def merge_tagged(inputs, collections=None, name=None):
    """One summary with the values of several."""
    with name_scope(name, "MergeSummary", inputs):
        return _collected(ops.merge_summary(inputs, name=name), collections, ())


@public("merge_all_summaries")
def merge_all_tagged(key=GraphKeys.SUMMARIES):
    """One summary with the values of all that the graph has collected under `key`, or None if there are none."""
    found = get_default_graph().get_collection(key)
    return merge_tagged(found) if found else None
