"""Plugin assets: files that TensorBoard's plugins read, which a FileWriter writes with the graph."""

from __future__ import annotations

import abc

from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public

# The collection of the plugins' names, and what begins the name of the collection with a plugin's asset.
_COLLECTION = "__tensorboard_plugin_asset__"


@public("python.summary.plugin_asset.PluginAsset")
class PluginAsset(abc.ABC):
    """What a plugin makes of a graph: files, by name. A class says the plugin's name in `plugin_name`."""

    plugin_name: str | None = None

    @abc.abstractmethod
    def assets(self):
        """{name of a file: what is in it, as text}."""


@public("python.summary.plugin_asset.get_plugin_asset")
def get_plugin_asset(plugin_asset_cls, graph=None):
    """The one asset of that class in a graph, made if need be.

    Raises:
      ValueError: if the class has no `plugin_name`, or another class has the same.
    """
    graph = graph or get_default_graph()
    if not plugin_asset_cls.plugin_name:
        raise ValueError(f"Class {plugin_asset_cls.__name__} has no plugin_name")
    name = _COLLECTION + plugin_asset_cls.plugin_name
    if not graph.get_collection(name):
        graph.add_to_collection(name, plugin_asset_cls())
        graph.add_to_collection(_COLLECTION, plugin_asset_cls.plugin_name)
    found = _only_item(graph, name)
    if not isinstance(found, plugin_asset_cls):
        raise ValueError(
            f"Plugin name collision between classes {plugin_asset_cls.__name__} and {type(found).__name__}"
        )
    return found


@public("python.summary.plugin_asset.get_all_plugin_assets")
def get_all_plugin_assets(graph=None):
    """The assets of a graph, by default of the default graph."""
    graph = graph or get_default_graph()
    return [_only_item(graph, _COLLECTION + name) for name in graph.get_collection(_COLLECTION)]


def _only_item(graph, name):
    items = graph.get_collection(name)
    if len(items) != 1:
        raise ValueError(f"Collection for {name} had {len(items)} items, expected 1")
    return items[0]
