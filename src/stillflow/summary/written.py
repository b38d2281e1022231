"""tf.contrib.summary: functions that write summaries to the default SummaryWriter."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.summaries import summary_scope
from stillflow.eager.modes import context
from stillflow.formats import protobuf
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies, device
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.graph import Graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.scopes import get_default_session
from stillflow.names import public
from stillflow.ops.control_flow.cond import smart_cond
from stillflow.ops.convert import convert_to_tensor
from stillflow.summary.recording import chosen_step, collect_written, should_record_summaries
from stillflow.summary.resource_writer import summary_writer_initializer_op


def not_written():
    """What an operation that writes no summary gives."""
    return ops.constant(False)


def _resource():
    return context().summary_writer._resource


@public("python.ops.summary_ops_v2.summary_writer_function")
def summary_writer_function(name, tensor, function, family=None):
    """Writes a summary if there is a default writer and summaries are recorded.

    Args:
      name: the summary's name, which in the name scope becomes its tag.
      tensor: what it is of.
      function: a function of the tag and the scope that writes it and returns the operation.
      family: what stands in front of the tag.

    Returns:
      A bool tensor, whether it was written; an operation that does nothing if there is no writer.
    """
    scope = get_default_graph().get_name_scope()

    def record():
        with (
            name_scope(f"{scope}/" if scope else scope),
            summary_scope(name, family, values=[tensor]) as (tag, inner),
            control_dependencies([function(tag, inner)]),
        ):
            return ops.constant(True)

    if context().summary_writer is None:
        return ops.no_op()
    with device("cpu:0"):
        op = smart_cond(should_record_summaries(), record, not_written, name="")
        collect_written(op)
    return op


@public("contrib.summary.generic")
def generic(name, tensor, metadata=None, family=None, step=None):
    """Writes a summary of a whole tensor.

    Args:
      name: its name, which in the name scope becomes the tag.
      tensor: of any type and shape.
      metadata: a SummaryMetadata message, or a string tensor of a serialized one.
      family: what to put in front of the tag, so that TensorBoard shows those of a family together.
      step: an int64; the global step by default.

    Returns:
      A bool tensor, whether it was written; an operation that does nothing if there is no default writer.
    """

    def write(tag, scope):
        if metadata is None:
            serialized = ops.constant("")
        elif hasattr(metadata, "SerializeToString"):
            serialized = ops.constant(protobuf.to_bytes(metadata))
        else:
            serialized = metadata
        return ops.write_summary(_resource(), chosen_step(step), ops.identity(tensor), tag, serialized, name=scope)

    return summary_writer_function(name, tensor, write, family=family)


@public("contrib.summary.scalar")
def scalar(name, tensor, family=None, step=None):
    """Writes a summary of one real number. Arguments and result: as of `generic`."""

    def write(tag, scope):
        return ops.write_scalar_summary(_resource(), chosen_step(step), tag, ops.identity(tensor), name=scope)

    return summary_writer_function(name, tensor, write, family=family)


@public("contrib.summary.histogram")
def histogram(name, tensor, family=None, step=None):
    """Writes a summary of how real values are distributed. Arguments and result: as of `generic`.

    Raises at run time tf.errors.InvalidArgumentError if a value is not finite.
    """

    def write(tag, scope):
        return ops.write_histogram_summary(_resource(), chosen_step(step), tag, ops.identity(tensor), name=scope)

    return summary_writer_function(name, tensor, write, family=family)


@public("contrib.summary.image")
def image(name, tensor, bad_color=None, max_images=3, family=None, step=None):
    """Writes a summary of images.

    Args:
      tensor: uint8, float32 or float16 [batch, height, width, channels]: 1, 3 or 4 channels.
      bad_color: uint8 [channels]: that of pixels that are not finite; red by default.
      max_images: how many images of the batch.
      name, family, step: as of `generic`.

    Returns as `generic`. Raises at run time tf.errors.InvalidArgumentError for other shapes.
    """

    def write(tag, scope):
        color = ops.constant([255, 0, 0, 255], dtype=dtypes.uint8) if bad_color is None else bad_color
        images = ops.identity(tensor)
        return ops.write_image_summary(
            _resource(), chosen_step(step), tag, images, color, max_images=max_images, name=scope
        )

    return summary_writer_function(name, tensor, write, family=family)


@public("contrib.summary.audio")
def audio(name, tensor, sample_rate, max_outputs, family=None, step=None):
    """Writes a summary of sounds.

    Args:
      tensor: float32 [batch, frames] or [batch, frames, channels], between -1 and 1.
      sample_rate: a float32 scalar: frames a second.
      max_outputs: how many sounds of the batch.
      name, family, step: as of `generic`.

    Returns as `generic`. Raises at run time tf.errors.InvalidArgumentError for other shapes, and a rate that is not
    positive.
    """

    def write(tag, scope):
        sounds = ops.identity(tensor)
        return ops.write_audio_summary(
            _resource(), chosen_step(step), tag, sounds, sample_rate, max_outputs=max_outputs, name=scope
        )

    return summary_writer_function(name, tensor, write, family=family)


# ---- Graphs and events --------------------------------------------------------------------------------------------


@by_mode
def _check_graph(param):
    if not isinstance(param, Tensor):
        raise TypeError(f"graph() needs a tf.Tensor (e.g. tf.placeholder) in graph mode, but was: {type(param)}")


@eager_version_of(_check_graph)
def _take_any_graph(param):
    pass


def _serialized(graph):
    return protobuf.to_bytes(graph.as_graph_def(add_shapes=True) if isinstance(graph, Graph) else graph)


@public("contrib.summary.graph")
def graph(param, step=None, name=None):
    """Writes a graph, whether summaries are recorded or not.

    Args:
      param: a string tensor with a serialized GraphDef; in eager execution also a Graph, a GraphDef or a string.
      step: an int64; the global step by default.
      name: a name for the operation.

    Returns:
      The operation, which does nothing if there is no default writer.

    Raises:
      TypeError: in a graph, for anything but a tensor.
      At run time tf.errors.DataLossError for what is no GraphDef.
    """
    _check_graph(param)
    if context().summary_writer is None:
        return ops.no_op()
    with device("cpu:0"):
        if isinstance(param, (Graph, protobuf.message("GraphDef"))):
            tensor = convert_to_tensor(_serialized(param), dtypes.string)
        else:
            tensor = ops.identity(param)
        return ops.write_graph_summary(_resource(), chosen_step(step), tensor, name=name)


@public("contrib.summary.import_event")
def import_event(tensor, name=None):
    """Writes a serialized Event, a string tensor, as it is, whether summaries are recorded or not."""
    return ops.import_event(_resource(), tensor, name=name)


@public("summary.initialize", "contrib.summary.initialize")
@by_mode
def initialize(graph=None, session=None):
    """Opens the files of all tf.contrib.summary writers of the default graph; does nothing in eager execution.

    Args:
      graph: a Graph or GraphDef to write, with step 0.
      session: the session that does it; the default session if it is None.

    Raises:
      RuntimeError: if this thread has no default writer.
      ValueError: if there is no session.
    """
    if context().summary_writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    session = get_default_session() if session is None else session
    if session is None:
        raise ValueError("session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        _write_graph(_serialized(graph), session)


def _write_graph(serialized, session):
    fed = ops.placeholder(dtypes.string)
    session.run(graph(fed, 0), feed_dict={fed: serialized})


@eager_version_of(initialize)
def _initialize_nothing(graph=None, session=None):
    pass
