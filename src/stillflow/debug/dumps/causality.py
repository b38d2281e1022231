"""causality: whether dumps came in an order that the graph allows."""

from __future__ import annotations

from stillflow.debug.dumps.element_names import get_node_name, get_output_slot


def check(debug_graph, data, watched):
    """Raises ValueError for a tensor that was dumped before one of its node's watched inputs.

    Args:
      debug_graph: the DebugGraph of a device.
      data: its DebugTensorDatums, by time.
      watched: the set of (node, output) that are watched.
    """
    pending = {node: _watched_inputs(debug_graph, node, watched) for node in debug_graph.node_inputs}
    for i, datum in enumerate(data):
        waiting = pending[datum.node_name]
        if waiting:
            waiting -= _at_the_same_time(data, i)
        if waiting:
            raise ValueError(
                f"Causality violated in timing relations of debug dumps: {datum.node_name} ({datum.timestamp}): "
                f"these input(s) are not satisfied: {sorted(waiting)!r}"
            )
        made = datum.node_name, datum.output_slot
        for recipient in debug_graph.node_recipients[datum.node_name]:
            if made in pending[recipient]:
                if debug_graph.node_op_types[recipient] == "Merge":
                    pending[recipient].clear()
                else:
                    pending[recipient].discard(made)


def _watched_inputs(debug_graph, node, watched):
    inputs = {(get_node_name(name), get_output_slot(name)) for name in debug_graph.node_inputs[node]}
    # What enters a loop and what comes from the round before may be there at other times.
    loose = ("Enter", "NextIteration")
    return {key for key in inputs & watched if debug_graph.node_op_types.get(key[0]) not in loose}


def _at_the_same_time(data, i):
    found = set()
    for datum in data[i + 1 :]:
        if datum.timestamp != data[i].timestamp:
            break
        found.add((datum.node_name, datum.output_slot))
    return found
