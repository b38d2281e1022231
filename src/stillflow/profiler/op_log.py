"""What is known of a graph's operations without a run: an OpLogProto."""

from __future__ import annotations

import sys

from stillflow.files.gfile import GFile
from stillflow.formats import protobuf
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.profiler.float_counts import Shapes, float_operations

TRAINABLE_VARIABLES = public("python.profiler.tfprof_logger.TRAINABLE_VARIABLES")("_trainable_variables")


@public("python.profiler.tfprof_logger.merge_default_with_oplog")
def merge_default_with_oplog(graph, op_log=None, run_meta=None, add_trace=True, add_trainable_var=True):
    """An OpLogProto of a graph: counts of floating-point operations, trainable variables, and code.

    Args:
      graph: None for the default graph.
      op_log: an OpLogProto whose entries hold where they say more.
      run_meta: a RunMetadata with the shapes that the graph does not know.
      add_trace: whether entries tell the code that made the operations.
      add_trainable_var: whether trainable variables have the type "_trainable_variables".
    """
    graph = graph or get_default_graph()
    merged = protobuf.message("OpLogProto")()
    texts = {"none": 0}
    entries = _entries(graph, run_meta, add_trace, add_trainable_var, texts)
    given = {entry.name: entry for entry in op_log.log_entries} if op_log else {}
    for name, entry in entries.items():
        if name in given:
            _merge_into(given[name], entry)
        else:
            given[name] = entry
    merged.log_entries.extend(given.values())
    for text, number in texts.items():
        merged.id_to_string[number] = text
    return merged


@public("profiler.write_op_log")
def write_op_log(graph, log_dir, op_log=None, run_meta=None, add_trace=True):
    """Writes `merge_default_with_oplog`'s message of these arguments to the file tfprof_log in a directory."""
    op_log = merge_default_with_oplog(graph, op_log, run_meta, add_trace)
    with GFile(f"{log_dir}/tfprof_log", "wb") as file:
        file.write(protobuf.to_bytes(op_log))


def shapes_of_run(run_meta):
    """The dims of tensors by their names, as a RunMetadata has them."""
    dims = {}
    for device in run_meta.step_stats.dev_stats:
        for stats in device.node_stats:
            for number, output in enumerate(stats.output):
                shape = output.tensor_description.shape
                dims[f"{stats.node_name}:{number}"] = [dim.size for dim in shape.dim]
    return dims


def _entries(graph, run_meta, add_trace, add_trainable_var, texts):
    """OpLogEntry messages by names of operations."""
    shapes = Shapes(shapes_of_run(run_meta) if run_meta else None)
    new_entry = protobuf.message("OpLogEntry")
    entries = {}
    unknown = 0
    for op in graph.get_operations():
        try:
            count = float_operations(op, shapes)
        except ValueError:
            count = 0
            unknown += 1
        if not count and not add_trace:
            continue
        entry = entries[op.name] = new_entry(name=op.name, float_ops=count)
        if add_trace:
            _add_code(entry, op, texts)
    if add_trainable_var:
        for variable in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES):
            name = variable.op.name
            entry = entries.setdefault(name, new_entry(name=name))
            entry.types.append(TRAINABLE_VARIABLES)
    if unknown and not run_meta:
        sys.stderr.write(f"{unknown} ops no flops stats due to incomplete shapes.\n")
    return entries


def _add_code(entry, op, texts):
    for file, line, function, text, first_line in op.traceback_with_start_lines:
        entry.code_def.traces.add(
            file_id=_number(file, texts),
            lineno=line or -1,
            function_id=_number(function, texts),
            line_id=_number(text, texts),
            func_start_line=first_line or -1,
        )


def _number(text, texts):
    return texts.setdefault(text, len(texts)) if text else 0


def _merge_into(given, entry):
    given.types.extend(entry.types)
    given.float_ops = given.float_ops or entry.float_ops
    if entry.code_def.traces and not given.code_def.traces:
        given.code_def.MergeFrom(entry.code_def)
