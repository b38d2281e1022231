"""Names of what a run feeds and fetches."""

from __future__ import annotations

import collections
import json

from stillflow.names import public_module

public_module("python.debug.lib.common")

GRPC_URL_PREFIX = "grpc://"

RunKey = collections.namedtuple("RunKey", ["feed_names", "fetch_names"])


def get_graph_element_name(elem):
    """The name of a tensor, operation or variable; the text of what has none."""
    return elem.name if hasattr(elem, "name") else str(elem)


def get_flattened_names(feeds_or_fetches):
    """The names of all elements of nested lists, tuples and dicts; of dicts the values'."""
    if isinstance(feeds_or_fetches, dict):
        feeds_or_fetches = list(feeds_or_fetches.values())
    if isinstance(feeds_or_fetches, (list, tuple)):
        return [name for item in feeds_or_fetches for name in get_flattened_names(item)]
    return [get_graph_element_name(feeds_or_fetches)]


def get_run_key(feed_dict, fetches):
    """The names of feeds and fetches as a text in JSON."""
    return json.dumps(RunKey(get_flattened_names(feed_dict), get_flattened_names(fetches)))
