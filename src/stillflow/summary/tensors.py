"""TensorFlow 2's summaries: functions that write tensors to the default SummaryWriter with metadata of their kind."""

from __future__ import annotations

import contextlib
import re

from stillflow import ops
from stillflow.eager.modes import context
from stillflow.formats import protobuf
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies, device
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.cond import smart_cond
from stillflow.summary.recording import collect_written, get_step, should_write
from stillflow.summary.written import not_written

_BAD_CHARACTERS = re.compile(r"[^-_/.A-Za-z0-9]")


@public("compat.v2.summary.experimental.summary_scope", "python.ops.summary_ops_v2.summary_scope")
@contextlib.contextmanager
def summary_scope(name, default_name="summary", values=None):
    """Opens a summary's name scope; yields (tag, scope).

    Args:
      name: any text. The tag is this name behind those of the scopes around it, as it is; the scope's name has only
        the characters that scopes take, and a number where the name was used before.
      default_name: the name if that one is None, and of the scope if it has no character left.
      values: tensors, whose graph has to be the default one.
    """
    name = name or default_name
    outer = get_default_graph().get_name_scope()
    tag = f"{outer}/{name}" if outer else name
    with name_scope(_BAD_CHARACTERS.sub("", name) or None, default_name, values) as scope:
        yield tag, scope


def _step_of(step):
    step = get_step() if step is None else step
    if step is None:
        raise ValueError("No step set via 'step' argument or tf.summary.experimental.set_step()")
    return step


def _written(write):
    """Calls `write` if summaries are recorded. Returns a bool tensor, whether they are."""

    def record():
        with device("cpu:0"), control_dependencies([write()]):
            return ops.constant(True)

    with device("cpu:0"):
        op = smart_cond(should_write(), record, not_written, name="summary_cond")
        collect_written(op)
    return op


@public("compat.v2.summary.write", "python.ops.summary_ops_v2.write")
def write(tag, tensor, step=None, metadata=None, name=None):
    """Writes a tensor as a summary.

    Args:
      tag: its tag, mostly from tf.summary.experimental.summary_scope.
      tensor: of any type and shape.
      step: an int64; that of tf.summary.experimental.set_step by default.
      metadata: a SummaryMetadata message, which says what shows the tensor, or its bytes.
      name: a name for the operation.

    Returns:
      A bool tensor, whether it was written: not without a default writer, nor if record_if says so.

    Raises:
      ValueError: if there is a writer, but no step.
    """
    with name_scope(name, "write_summary") as scope:
        if context().summary_writer is None:
            return ops.constant(False)
        step = _step_of(step)
        serialized = protobuf.to_bytes(metadata) if hasattr(metadata, "SerializeToString") else metadata or b""
        return _written(
            lambda: ops.write_summary(
                context().summary_writer._resource, step, ops.identity(tensor), tag, serialized, name=scope
            )
        )


@public("compat.v2.summary.experimental.write_raw_pb", "python.ops.summary_ops_v2.write_raw_pb")
def write_raw_pb(tensor, step=None, name=None):
    """Writes serialized Summary messages, a string tensor, as one event.

    Args and result: as of `write`. Raises at run time tf.errors.DataLossError for what is no Summary.
    """
    with name_scope(name, "write_raw_pb") as scope:
        if context().summary_writer is None:
            return ops.constant(False)
        step = _step_of(step)
        return _written(
            lambda: ops.write_raw_proto_summary(
                context().summary_writer._resource, step, ops.identity(tensor), name=scope
            )
        )


# ---- Messages as tensors ------------------------------------------------------------------------------------------


def _write_text(name, default_name, plugin, values, text, step):
    metadata = protobuf.message("SummaryMetadata")()
    metadata.plugin_data.plugin_name = plugin
    metadata.plugin_data.content = b"1"
    with summary_scope(name, default_name, values) as (tag, _):
        with device("cpu:0"):
            tensor = ops.constant(text, dtype=dtypes.string)
        return write(tag, tensor, step=step, metadata=metadata)


@public("python.ops.summary_ops_v2.run_metadata")
def run_metadata(name, data, step=None):
    """Writes a RunMetadata message, for TensorBoard's graphs. Result and errors: as of `write`."""
    text = protobuf.to_bytes(data)
    return _write_text(name, "graph_run_metadata_summary", "graph_run_metadata", [data, step], text, step)


@public("python.ops.summary_ops_v2.run_metadata_graphs")
def run_metadata_graphs(name, data, step=None):
    """Writes the graphs of a RunMetadata message alone. Result and errors: as of `write`."""
    graphs = protobuf.message("RunMetadata")(
        function_graphs=data.function_graphs, partition_graphs=data.partition_graphs
    )
    text = protobuf.to_bytes(graphs)
    return _write_text(name, "graph_run_metadata_graph_summary", "graph_run_metadata_graph", [data, step], text, step)


@public("python.ops.summary_ops_v2.keras_model")
def keras_model(name, data, step=None):
    """Writes a Keras model's description as JSON. Result and errors: as of `write`.

    A model that has none, as one that is a subclass, is left out with a warning.
    """
    try:
        text = data.to_json()
    except Exception as error:  # whatever the layers' own get_config raises
        from absl import logging

        logging.warning("Model failed to serialize as JSON. Ignoring... %s", error)
        return False
    return _write_text(name, "graph_keras_model", "graph_keras_model", [data, step], text, step)
