"""tf.summary.trace_on and its kin: the graphs of the functions that a program calls, as a summary."""

from __future__ import annotations

import threading

from stillflow.formats import protobuf
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.names import public
from stillflow.summary.tensors import run_metadata, run_metadata_graphs
from stillflow.traced_functions.collection import called_functions

_lock = threading.Lock()
_trace: tuple[bool, bool] | None = None  # (graph, profiler) of the trace that runs


def _refuses(in_function, in_graph):
    """Whether there is no eager execution here, of which it warns."""
    from absl import logging

    if get_default_graph().building_function:
        logging.warning(in_function)
        return True
    if _is_outside():
        logging.warning(in_graph)
        return True
    return False


@by_mode
def _is_outside():
    """Whether there is no eager execution here."""
    return True


@eager_version_of(_is_outside)
def _is_inside():
    return False


@public("compat.v2.summary.trace_on", "python.ops.summary_ops_v2.trace_on")
def trace_on(graph=True, profiler=False):
    """Begins to collect the graphs of the functions that are called, by any thread, until trace_export or trace_off.

    Args:
      graph: whether graphs are collected. Parameters are placeholders in them.
      profiler: whether the summary is to be a whole RunMetadata. It has graphs alone: there is no profile of eager
        execution; tf.profiler and RunOptions measure what sessions run.

    Inside a function, in a graph, and while there is a trace it only warns.
    """
    global _trace
    if _refuses("Cannot enable trace inside a tf.function.", "Must enable trace in eager mode."):
        return
    with _lock:
        if _trace is not None:
            from absl import logging

            logging.warning("Trace already enabled")
            return
        if graph or profiler:
            called_functions.begin()
        _trace = graph, profiler


@public("compat.v2.summary.trace_export", "python.ops.summary_ops_v2.trace_export")
def trace_export(name, step=None, profiler_outdir=None):
    """Ends the trace and writes a summary with the graphs to the default writer.

    Args:
      name: the summary's name.
      step: as of tf.summary.write.
      profiler_outdir: the folder of a profile, which has to be given with `trace_on(profiler=True)`; none is written.

    Raises:
      ValueError: if there is no trace, if `profiler_outdir` is missing, or if there is a writer but no step.
    """
    if _refuses("Cannot export trace inside a tf.function.", "Can only export trace while executing eagerly."):
        return
    with _lock:
        if _trace is None:
            raise ValueError("Must enable trace before export.")
        graph, profiler = _trace
        if profiler and profiler_outdir is None:
            raise ValueError("Required profiler_outdir is not specified")
    metadata = protobuf.message("RunMetadata")()
    for func_graph in called_functions.end():
        metadata.function_graphs.add().pre_optimization_graph.CopyFrom(func_graph.as_graph_def())
    (run_metadata_graphs if graph and not profiler else run_metadata)(name, metadata, step)
    trace_off()


@public("compat.v2.summary.trace_off", "python.ops.summary_ops_v2.trace_off")
def trace_off():
    """Ends the trace, if there is one, and forgets what was collected."""
    global _trace
    with _lock:
        _trace = None
        called_functions.end()
