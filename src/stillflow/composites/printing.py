"""tf.print: tensors and other values written in the form of Python's print."""

from __future__ import annotations

import pprint
import random
import sys

from stillflow import ops
from stillflow.graph import nest
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.platform import logging


@public("print")
def print_tensors(*inputs, output_stream=None, end="\n", sep=" ", summarize=3, name=None, **kwargs):
    """An operation that writes tensors and other values, in the form of Python's print.

    Nested structures are written as pprint writes them. Raises ValueError for an output stream that there is not, and
    for other arguments.
    """
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    stream = _stream_name(sys.stderr if output_stream is None else output_stream)
    if len(inputs) == 1 and isinstance(inputs[0], Tensor) and inputs[0].dtype.name == "string" and (
        inputs[0]._dims == ()
    ):  # fmt: skip
        return ops.print_v2(inputs[0], output_stream=stream, end=end, name=name)
    placeholder = _placeholder(inputs)
    tensors: list = []
    text = sep.join(_template(item, tensors, placeholder) for item in inputs)
    text = text.replace(f"'{placeholder}'", placeholder)
    format_name = None if name is None else name + "_format"
    text = ops.string_format(text, tensors, placeholder=placeholder, summarize=summarize, name=format_name)
    return ops.print_v2(text, output_stream=stream, end=end, name=name)


def _is_tensor(item):
    return isinstance(item, (Tensor, SparseTensor)) or hasattr(item, "_as_graph_element")


def _placeholder(inputs):
    """A text that stands for a tensor, and is nowhere in what is no tensor."""
    without = nest.map_structure(lambda item: "" if _is_tensor(item) else item, inputs)
    text = " ".join(pprint.pformat(item) for item in without)
    placeholder = "{}"
    digits = random.Random(5)  # TensorFlow's: the text is an attribute of the node
    while placeholder in text:
        placeholder += str(digits.randint(0, 9))
    return placeholder


def _template(item, tensors, placeholder):
    """How a value is spelled, with placeholders for the tensors in it, which are added to the list."""
    if isinstance(item, str):
        return item
    leaves: list = []
    for leaf in nest.flatten(item):
        if isinstance(leaf, SparseTensor):
            tensors += [leaf.indices, leaf.values, leaf.dense_shape]
            leaves.append(f"SparseTensor(indices={placeholder}, values={placeholder}, shape={placeholder})")
        elif _is_tensor(leaf):
            tensors.append(leaf)
            leaves.append(placeholder)
        else:
            leaves.append(leaf)
    return pprint.pformat(nest.pack_sequence_as(item, leaves))


_LOG_LEVELS = (
    ("log(info)", (logging.INFO, logging.info)),
    ("log(warning)", (logging.WARN, logging.warning, logging.warn)),
    ("log(error)", (logging.ERROR, logging.error)),
)


def _stream_name(stream):
    if stream is sys.stdout:
        return "stdout"
    if stream is sys.stderr:
        return "stderr"
    for name, levels in _LOG_LEVELS:
        if stream in levels:
            return name
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    raise ValueError(
        f"Unsupported output stream, logging level, or file.{stream}. Supported streams are sys.stdout, sys.stderr, "
        "tf.logging.info, tf.logging.warning, tf.logging.error. File needs to be in the form of 'file://<filepath>'."
    )
