"""Watches: which tensors of a run are to be written, as RunOptions say it."""

from __future__ import annotations

import re

from stillflow.names import public, public_module

public_module("python.debug.lib.debug_utils")


@public("python.debug.add_debug_tensor_watch")
def add_debug_tensor_watch(
    run_options, node_name, output_slot=0, debug_ops="DebugIdentity", debug_urls=None,
    tolerate_debug_op_creation_failures=False, global_step=-1,
):  # fmt: skip
    """Has a run write one tensor.

    Args:
      run_options: the RunOptions message of the run, which is changed.
      node_name: the node; "*" with the output -1 stands for those that have no watch of their own.
      output_slot: which output of it.
      debug_ops: what to write, a name or several: "DebugIdentity", "DebugNanCount", "DebugNumericSummary", with
        attributes as in "DebugNumericSummary(mute_if_healthy=true; lower_bound=-1.0)".
      debug_urls: where to, "file:///folder" or several.
      tolerate_debug_op_creation_failures: whether to pass over debug ops that the tensor's dtype does not have.
      global_step: a number that is written with the run.
    """
    run_options.debug_options.global_step = global_step
    watch = run_options.debug_options.debug_tensor_watch_opts.add()
    watch.node_name = node_name
    watch.output_slot = output_slot
    watch.debug_ops.extend(_listed(debug_ops))
    watch.debug_urls.extend(_listed(debug_urls or ()))
    watch.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures


def _listed(texts):
    return [texts] if isinstance(texts, str) else texts


@public("python.debug.watch_graph")
def watch_graph(
    run_options, graph, debug_ops="DebugIdentity", debug_urls=None, node_name_regex_whitelist=None,
    op_type_regex_whitelist=None, tensor_dtype_regex_whitelist=None, tolerate_debug_op_creation_failures=False,
    global_step=-1, reset_disk_byte_usage=False,
):  # fmt: skip
    """Has a run write tensors of a graph: all, or those that fit all regular expressions that are given.

    Args:
      run_options: the RunOptions message of the run, which is changed.
      graph: the tf.Graph.
      debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step: see `add_debug_tensor_watch`.
      node_name_regex_whitelist: what the names of nodes begin with.
      op_type_regex_whitelist: what the types of ops begin with.
      tensor_dtype_regex_whitelist: what the names of dtypes begin with.
      reset_disk_byte_usage: whether to count anew how many bytes are written.

    Raises ValueError if there are no debug ops or no URLs.
    """
    if not debug_ops:
        raise ValueError("debug_ops must not be empty or None.")
    if not debug_urls:
        raise ValueError("debug_urls must not be empty or None.")
    patterns = _patterns(node_name_regex_whitelist, op_type_regex_whitelist, tensor_dtype_regex_whitelist)

    def is_wanted(tensor):
        texts = _texts(tensor)
        return all(pattern is None or pattern.match(text) for pattern, text in zip(patterns, texts, strict=True))

    settings = debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step
    _watch(run_options, graph, is_wanted, settings)
    if patterns == [None, None, None]:  # what a run makes of the graph, besides the graph
        add_debug_tensor_watch(run_options, "*", -1, *settings)
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


@public("python.debug.watch_graph_with_blacklists")
def watch_graph_with_blacklists(
    run_options, graph, debug_ops="DebugIdentity", debug_urls=None, node_name_regex_blacklist=None,
    op_type_regex_blacklist=None, tensor_dtype_regex_blacklist=None, tolerate_debug_op_creation_failures=False,
    global_step=-1, reset_disk_byte_usage=False,
):  # fmt: skip
    """Has a run write the tensors of a graph that fit none of the regular expressions. See `watch_graph`."""
    patterns = _patterns(node_name_regex_blacklist, op_type_regex_blacklist, tensor_dtype_regex_blacklist)

    def is_wanted(tensor):
        texts = _texts(tensor)
        return not any(pattern and pattern.match(text) for pattern, text in zip(patterns, texts, strict=True))

    settings = debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step
    _watch(run_options, graph, is_wanted, settings)
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


def _patterns(*texts):
    return [re.compile(text) if text else None for text in texts]


def _texts(tensor):
    return tensor.op.name, tensor.op.type, tensor.dtype.name


def _watch(run_options, graph, is_wanted, settings):
    for op in graph.get_operations():
        for slot, tensor in enumerate(op.outputs):
            if is_wanted(tensor):
                add_debug_tensor_watch(run_options, op.name, slot, *settings)
