"""Pictures of models: graphs of their layers for Graphviz, by pydot."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from stillflow.graph import nest
from stillflow.keras.engine.network import Network
from stillflow.keras.engine.sequential import Sequential
from stillflow.keras.layers.wrappers import Wrapper
from stillflow.names import public


def _pydot():
    """The module that writes graphs, one of three of one interface; None if there is none."""
    for name in ("pydot_ng", "pydotplus", "pydot"):
        try:
            return importlib.import_module(name)
        except ImportError:
            pass
    return None


@public("python.keras.utils.vis_utils.check_pydot")
def check_pydot():
    """Whether pydot is there, and Graphviz, which draws."""
    pydot = _pydot()
    if pydot is None:
        return False
    try:
        pydot.Dot.create(pydot.Dot())
    except OSError:
        return False
    return True


def _is_wrapped_model(layer):
    return isinstance(layer, Wrapper) and isinstance(layer.layer, Network)


def _text(shape):
    return str(shape).replace("None", "?")


def _shapes(layer):
    """(the text of the inputs' shapes, that of the outputs')."""
    try:
        outputs = _text(layer.output_shape)
    except AttributeError:
        outputs = "?"
    if hasattr(layer, "input_shape"):
        return _text(layer.input_shape), outputs
    if hasattr(layer, "input_shapes"):
        return ", ".join(map(_text, layer.input_shapes)), outputs
    return "?", outputs


def _cluster(pydot, model):
    """An empty graph for a model inside of another graph."""
    cluster = pydot.Cluster(style="dashed", graph_name=model.name)
    cluster.set("label", model.name)
    cluster.set("labeljust", "l")
    return cluster


class _Drawing:
    """The graph of one model, with those of models inside of it as clusters."""

    def __init__(self, pydot, dot, expand_nested, show_shapes, show_layer_names):
        self._pydot, self.dot = pydot, dot
        self._expands, self._shows_shapes, self._shows_names = expand_nested, show_shapes, show_layer_names
        self._inner: dict = {}  # by the id of a model: the names of its first and last nodes

    def add(self, model):
        """Adds a model's layers and what joins them."""
        if not model._is_graph_network:
            self.dot.add_node(self._pydot.Node(str(id(model)), label=model.name))
            return
        if isinstance(model, Sequential) and not model.built:
            model.build()
        for layer in model._layers:
            self._add_layer(layer)
        for layer in model._layers:
            for i, node in enumerate(layer._inbound_nodes):
                if f"{layer.name}_ib-{i}" in model._network_nodes:
                    for origin in nest.flatten(node.inbound_layers):
                        self._join(origin, layer)

    def _add_layer(self, layer):
        name, kind = layer.name, type(layer).__name__
        if isinstance(layer, Wrapper):
            if self._expands and _is_wrapped_model(layer):
                self._add_cluster(layer.layer)
            else:
                name, kind = f"{name}({layer.layer.name})", f"{kind}({type(layer.layer).__name__})"
        if self._expands and isinstance(layer, Network):
            self._add_cluster(layer)
            return
        label = f"{name}: {kind}" if self._shows_names else kind
        if self._shows_shapes:
            label = "{}\n|{{input:|output:}}|{{{{{}}}|{{{}}}}}".format(label, *_shapes(layer))
        self.dot.add_node(self._pydot.Node(str(id(layer)), label=label))

    def _add_cluster(self, model):
        cluster = _cluster(self._pydot, model)
        inner = _Drawing(self._pydot, cluster, self._expands, self._shows_shapes, self._shows_names)
        inner.add(model)
        nodes = cluster.get_nodes()
        self._inner[id(model)] = nodes[0].get_name(), nodes[-1].get_name()
        self.dot.add_subgraph(cluster)

    def _join(self, origin, layer):
        """An edge from a layer to another; into and out of clusters where they are drawn."""
        source, target = str(id(origin)), str(id(layer))
        if self._expands:
            inner = origin.layer if _is_wrapped_model(origin) else origin
            source = self._inner[id(inner)][1] if isinstance(inner, Network) else source
            if isinstance(layer, Network):
                target = self._inner[id(layer)][0]
            elif _is_wrapped_model(layer):
                self._add_edge(target, self._inner[id(layer.layer)][0])
        self._add_edge(source, target)

    def _add_edge(self, source, target):
        if not self.dot.get_edge(source, target):
            self.dot.add_edge(self._pydot.Edge(source, target))


@public("keras.utils.model_to_dot")
def model_to_dot(
    model, show_shapes=False, show_layer_names=True, rankdir="TB", expand_nested=False, dpi=96, subgraph=False
):
    """The graph of a model's layers.

    Args:
      model: a Model.
      show_shapes: whether to show the shapes of inputs and outputs.
      show_layer_names: whether to show the layers' names, and not only their kinds.
      rankdir: "TB" from top to bottom, or "LR" from left to right.
      expand_nested: whether models inside of the model are drawn, as clusters.
      dpi: dots per inch.
      subgraph: whether to return a cluster.

    Returns:
      A pydot.Dot, or a pydot.Cluster; None in a notebook without pydot and Graphviz.

    Raises:
      ImportError: if pydot or Graphviz is not installed.
    """
    message = "Failed to import pydot. You must install pydot and graphviz for `pydotprint` to work."
    if not check_pydot():
        if "IPython.core.magics.namespace" not in sys.modules:
            raise ImportError(message)
        print(message)
        return None
    pydot = _pydot()
    if subgraph:
        dot = _cluster(pydot, model)
    else:
        dot = pydot.Dot()
        dot.set("rankdir", rankdir)
        dot.set("concentrate", True)
        dot.set("dpi", dpi)
        dot.set_node_defaults(shape="record")
    _Drawing(pydot, dot, expand_nested, show_shapes, show_layer_names).add(model)
    return dot


@public("keras.utils.plot_model")
def plot_model(
    model, to_file="model.png", show_shapes=False, show_layer_names=True, rankdir="TB", expand_nested=False, dpi=96
):
    """Writes the picture of a model's layers to a file, in the format that its name ends with; see `model_to_dot`.

    Returns the picture for a notebook, if IPython is installed.
    """
    dot = model_to_dot(model, show_shapes, show_layer_names, rankdir, expand_nested, dpi)
    if dot is None:
        return None
    extension = Path(to_file).suffix[1:]
    dot.write(to_file, format=extension or "png")
    try:
        display = importlib.import_module("IPython.display")
    except ImportError:
        return None
    return display.Image(filename=to_file)
