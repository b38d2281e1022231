"""Summaries of activations, and of whatever is in a collection."""

from __future__ import annotations

import functools
import re

from stillflow import ops
from stillflow.composites import summaries
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public, public_module

public_module("contrib.layers.summaries")


def _share(is_so):
    return ops.reduce_mean(ops.cast(is_so, dtypes.float32, name="ToFloat"))


@public("contrib.layers.summarize_activation")
def summarize_activation(op):
    """A histogram summary of a tensor; of an activation also what share of it is cut off at 0 or 6."""
    if op.op.type in ("Relu", "Softplus", "Relu6"):
        inputs = op.op.inputs[0]
        is_zero = ops.less(inputs, ops.cast(0.0, inputs.dtype))
        summaries.scalar(f"{op.op.name}/zeros", _share(is_zero))
    if op.op.type == "Relu6":
        inputs = op.op.inputs[0]
        is_six = ops.greater(inputs, ops.cast(6.0, inputs.dtype))
        summaries.scalar(f"{op.op.name}/sixes", _share(is_six))
    return summaries.histogram(f"{op.op.name}/activation", op)


@public("contrib.layers.summarize_tensor")
def summarize_tensor(tensor, tag=None):
    """A scalar or histogram summary of a tensor; None for strings and bools."""
    if tensor.dtype.is_compatible_with(dtypes.string) or tensor.dtype.base_dtype == dtypes.bool_:
        return None
    tag = tag or f"{tensor.op.name}_summary"
    return summaries.scalar(tag, tensor) if tensor.shape.rank == 0 else summaries.histogram(tag, tensor)


@public("contrib.layers.summarize_tensors")
def summarize_tensors(tensors, summarizer=summarize_tensor):
    """A list of the summaries of some tensors."""
    return [summarizer(tensor) for tensor in tensors]


@public("contrib.layers.summarize_collection")
def summarize_collection(collection, name_filter=None, summarizer=summarize_tensor):
    """A list of the summaries of what is in a collection, and has a name that matches."""
    found = get_default_graph().get_collection(collection)
    tensors = [each for each in found if name_filter is None or re.match(name_filter, each.op.name)]
    return summarize_tensors(tensors, summarizer)


summarize_variables = public("contrib.slim.summarize_variables")(
    functools.partial(summarize_collection, GraphKeys.GLOBAL_VARIABLES)
)
summarize_weights = public("contrib.slim.summarize_weights")(
    functools.partial(summarize_collection, GraphKeys.WEIGHTS)
)
summarize_biases = public("contrib.slim.summarize_biases")(functools.partial(summarize_collection, GraphKeys.BIASES))


@public("contrib.layers.summarize_activations")
def summarize_activations(name_filter=None, summarizer=summarize_activation):
    """A list of the summaries of what is in GraphKeys.ACTIVATIONS; see `summarize_collection`."""
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)
