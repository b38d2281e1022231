"""Names of layers: their class in snake case, numbered within a graph; what layer has one."""

from __future__ import annotations

import collections
import re
import weakref

from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public

_WORD = re.compile(r"(.)([A-Z][a-z0-9]+)")
_INNER_CAPITAL = re.compile(r"([a-z])([A-Z])")

_COUNTS: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # graph -> {name: how often it was asked for}


def name_counts(graph):
    """How often names have been asked for in a graph: a defaultdict that may be changed."""
    return _COUNTS.setdefault(graph, collections.defaultdict(int))


def forget_names():
    """Begins to number names anew, in all graphs."""
    _COUNTS.clear()


def find_layer(layers, name=None, index=None):
    """The layer of that index, else the first one of that name. Raises ValueError if there is none."""
    if index is not None:
        if len(layers) <= index:
            raise ValueError(f"Was asked to retrieve layer at index {index} but model only has {len(layers)} layers.")
        return layers[index]
    if not name:
        raise ValueError("Provide either a layer name or layer index.")
    for layer in layers:
        if layer.name == name:
            return layer
    raise ValueError(f"No such layer: {name}")


@public("python.keras.utils.generic_utils.to_snake_case")
def to_snake_case(name):
    """`name` in snake case: "Conv2DTranspose" is "conv2d_transpose". A leading underscore becomes "private_"."""
    snake = _INNER_CAPITAL.sub(r"\1_\2", _WORD.sub(r"\1_\2", name)).lower()
    return f"private{snake}" if snake.startswith("_") else snake


def unique_object_name(name, name_uid_map=None, avoid_names=None, namespace="", zero_based=False):
    """`name` with the number of times it has been asked for in this graph; the first is bare if `zero_based`.

    Args:
      name: the name that is counted.
      name_uid_map: the counts to use, instead of the default graph's.
      avoid_names: names that are not to be given.
      namespace: what to count the name in.
      zero_based: whether "name" and "name_1" are the first two, rather than "name_1" and "name_2".
    """
    if name_uid_map is None:
        name_uid_map = name_counts(get_default_graph())
    key = namespace, name
    while True:
        number = name_uid_map[key]
        name_uid_map[key] += 1
        if not zero_based:
            number += 1
        unique = f"{name}_{number}" if number else name
        if unique not in (avoid_names or ()):
            return unique
