"""tf.profiler.profile and Profiler: reports of what a graph's operations take."""

from __future__ import annotations

import sys

from stillflow import errors
from stillflow.files.gfile import GFile
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.profiler import op_view, scope_view
from stillflow.profiler.nodes import Nodes
from stillflow.profiler.op_log import merge_default_with_oplog
from stillflow.profiler.settings import Options, ProfileOptionBuilder
from stillflow.session.timeline import Timeline

_VIEWS = {"scope": scope_view, "op": op_view}
_ABOUT = {
    "scope": "Operations by name scope. A pair is what a node counts itself / with all that is in it.",
    "op": "Operations by type. Percentages are those of a type with all that follow / of the type itself.",
}


@public("profiler.profile")
def profile(graph=None, run_meta=None, op_log=None, cmd="scope", options=0):
    """Counts parameters, floating-point operations, times and bytes of a graph, and reports them.

    Args:
      graph: a Graph, None for the default graph.
      run_meta: a RunMetadata of a run with trace_level FULL_TRACE, for times, bytes, and shapes that the graph
        does not know.
      op_log: an OpLogProto with types and counts that hold over those that are found.
      cmd: "scope" for a tree by name scope, "op" for a list by type of operation.
      options: a dict; see ProfileOptionBuilder. By default its `trainable_variables_parameter()`.

    Returns:
      A GraphNodeProto of the tree, or a MultiGraphNodeProto of the list, of what the options show.

    Raises:
      InvalidArgumentError: for another `cmd`, or an output that cannot be.
    """
    graph = graph or get_default_graph()
    view = _view(cmd)
    options = Options(options or ProfileOptionBuilder.trainable_variables_parameter())
    nodes = Nodes(graph)
    if run_meta is not None and run_meta.HasField("step_stats"):
        nodes.add_run(0, run_meta)
    nodes.add_log(merge_default_with_oplog(graph, op_log, run_meta, add_trace=False))
    return _report(view, cmd, nodes, options, {0: run_meta} if run_meta else {})


@public("profiler.Profiler", "contrib.tfprof.model_analyzer.Profiler")
class Profiler:
    """Profiles of many steps of a graph.

    `add_step` adds what a run tells; times and bytes are those of the mean step, or of `with_step`'s.
    """

    def __init__(self, graph=None, op_log=None):
        """`graph` is the default graph for None; `op_log` as of `profile`."""
        self._graph = graph or get_default_graph()
        self._nodes = Nodes(self._graph)
        self._nodes.add_log(merge_default_with_oplog(self._graph, op_log=op_log, add_trace=False))
        self._coverage = 0.0
        self._runs = {}

    def add_step(self, step, run_meta):
        """Adds a step, a number of 0 or more, with the RunMetadata of its run."""
        if not run_meta.HasField("step_stats"):
            raise errors.InvalidArgumentError(None, None, f"Invalid RunMetadata for step {step}")
        self._nodes.add_graph(self._graph)
        self._coverage = self._nodes.add_run(step, run_meta)
        self._nodes.add_log(merge_default_with_oplog(self._graph, run_meta=run_meta, add_trace=False))
        self._runs[step] = run_meta

    def profile_operations(self, options):
        """A MultiGraphNodeProto of types of operations; see `profile`."""
        return self._profile("op", options)

    def profile_name_scope(self, options):
        """A GraphNodeProto of the tree of name scopes; see `profile`."""
        return self._profile("scope", options)

    def _profile(self, cmd, options):
        return _report(_view(cmd), cmd, self._nodes, Options(options), self._runs)


def _view(cmd):
    if cmd not in _VIEWS:
        raise errors.InvalidArgumentError(None, None, f"unknown cmd: {cmd}\n")
    return _VIEWS[cmd]


def _report(view, cmd, nodes, options, runs):
    if options.step >= 0 and options.step not in nodes.steps:
        steps = "".join(f"{step} " for step in sorted(nodes.steps))
        message = f"Options -step={options.step} not found.\nAvailable steps: {steps}\n"
        raise errors.InvalidArgumentError(None, None, message)
    proto, text = view.show(nodes, options)
    text = f"\nDoc:\n{_ABOUT[cmd]}\n\nProfile:\n{text}"
    if options.output == "stdout":
        rule = "=" * 25
        sys.stdout.write(f"\n{rule}Options=============================\n{options.lines()}")
        sys.stdout.write(f"\n==================Model Analysis Report======================\n{text}")
        sys.stdout.write("\n======================End of Report==========================\n")
        sys.stdout.flush()
    elif options.output == "file":
        _write(options.outfile, text)
    elif options.output == "timeline":
        _write_timeline(options, runs)
    elif options.output == "pprof":
        sys.stderr.write("Only 'code' view supports pprof output now.\n")
    return proto


def _write_timeline(options, runs):
    """Writes the timeline of one step: the first for a step of -1."""
    if not runs:
        raise errors.InvalidArgumentError(None, None, "A timeline needs the RunMetadata of a step")
    run = runs[options.step if options.step >= 0 else min(runs)]
    _write(options.outfile, Timeline(run.step_stats).generate_chrome_trace_format())


def _write(path, text):
    with GFile(path, "w") as file:
        file.write(text)
