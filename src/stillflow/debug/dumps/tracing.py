"""tracing: what a node depends on, directly and indirectly."""

from __future__ import annotations

from stillflow.debug.dumps.element_names import get_node_name


def trace(input_maps, start, skipped=(), destination=None):
    """Goes back from a node, depth first.

    Args:
      input_maps: a list of {node: names of its inputs}.
      start: the node's name.
      skipped: nodes that are reached, but not gone on from.
      destination: the node to look for.

    Returns:
      The names of what was reached, in that order, and the way from `destination` to `start`, or None if there is
      none.
    """

    def inputs_of(node):
        for inputs in input_maps:
            yield from inputs.get(node, ())

    found: list = []
    way = [start]
    if start == destination:
        return found, way
    visited = {start}
    open_nodes = [inputs_of(start)]
    while open_nodes:
        element = next(open_nodes[-1], None)
        if element is None:
            open_nodes.pop()
            way.pop()
            continue
        node = get_node_name(element)
        if node in visited:
            continue
        found.append(element)
        if node == destination:
            return found, [element, *reversed(way)]
        if node not in skipped:
            visited.add(node)
            way.append(element)
            open_nodes.append(inputs_of(node))
    return found, None
