"""The graph of a model's layers: its nodes in the order in which they can be computed."""

from __future__ import annotations

import collections

from stillflow.graph import nest
from stillflow.keras.engine.op_layers import create_keras_history


def node_key(layer, node_index):
    """What a node is known by in a model."""
    return f"{layer.name}_ib-{node_index}"


def map_graph_network(inputs, outputs):
    """The nodes and layers between tensors.

    Args:
      inputs, outputs: lists of tensors.

    Returns:
      ({key of a node}, {depth: [node]}, [layer] from the inputs to the outputs).

    Raises:
      ValueError: for a circle, for layers of the same name, and if an output depends on more than the inputs.
    """
    keys, order, layer_indices = _walked_back(outputs)
    depths: dict = {}
    layer_depths: dict = {}
    for node in reversed(order):
        layer = node.outbound_layer
        depth = max(depths.setdefault(node, 0), layer_depths.get(layer, 0))
        layer_depths[layer] = depths[node] = depth
        for dependency in node._get_all_node_dependencies():
            depths[dependency] = max(depth + 1, depths.get(dependency, 0))
    for tensor in inputs:
        layer = tensor._keras_history.layer
        if layer not in layer_depths:  # it leads nowhere
            layer_depths[layer] = 0
            layer_indices[layer] = -1
            depths[layer._inbound_nodes[0]] = 0
            keys.add(node_key(layer, 0))
    nodes_by_depth = _by_depth(depths)
    layers_by_depth = _by_depth(layer_depths)
    layers = [
        layer
        for depth in sorted(layers_by_depth, reverse=True)
        for layer in sorted(layers_by_depth[depth], key=layer_indices.__getitem__)
    ]
    _check_connected(inputs, nodes_by_depth)
    names = collections.Counter(layer.name for layer in layers)
    for layer in layers:
        if names[layer.name] != 1:
            raise ValueError(
                f'The name "{layer.name}" is used {names[layer.name]} times in the model. All layer names should be '
                "unique."
            )
    return keys, nodes_by_depth, layers


def _by_depth(depths):
    found = collections.defaultdict(list)
    for item, depth in depths.items():
        found[depth].append(item)
    return found


def _walked_back(outputs):
    """({keys of nodes}, [node] each after what it depends on, {layer: number in the order of the walk})."""
    keys: set = set()
    order: list = []
    layer_indices: dict = {}
    finished: set = set()
    in_progress: set = set()

    def enter(tensor):
        layer, index, _ = tensor._keras_history
        node = layer._inbound_nodes[index]
        if node in in_progress:
            raise ValueError(f'The tensor {tensor} at layer "{layer.name}" is part of a cycle.')
        if node in finished:
            return
        keys.add(node_key(layer, index))
        layer_indices.setdefault(layer, len(layer_indices))
        in_progress.add(node)
        pending.append((node, iter(node.iterate_inbound(include_arguments=True))))

    for output in outputs:
        pending: list = []
        enter(output)
        while pending:  # not by recursion: nets may be deeper than that goes
            node, origins = pending[-1]
            origin = next(origins, None)
            if origin is not None:
                enter(origin[3])
                continue
            pending.pop()
            finished.add(node)
            in_progress.discard(node)
            order.append(node)
    return keys, order, layer_indices


def _check_connected(inputs, nodes_by_depth):
    known = {id(tensor) for tensor in inputs}
    reached: list = []
    for depth in sorted(nodes_by_depth, reverse=True):
        for node in nodes_by_depth[depth]:
            layer = node.outbound_layer
            for tensor in nest.flatten(node.input_tensors):
                if id(tensor) not in known:
                    raise ValueError(
                        f'Graph disconnected: cannot obtain value for tensor {tensor} at layer "{layer.name}". The '
                        f"following previous layers were accessed without issue: {reached}"
                    )
            known.update(id(tensor) for tensor in nest.flatten(node.output_tensors))
            reached.append(layer.name)


def map_subgraph_network(inputs, outputs):
    """(nodes, layers) between tensors; operations between layers get layers of their own."""
    create_keras_history(outputs)
    _, nodes_by_depth, layers = map_graph_network(inputs, outputs)
    return [node for nodes in nodes_by_depth.values() for node in nodes], layers
