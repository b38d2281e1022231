"""Feature columns of numbers for whatever an input has."""

from __future__ import annotations

from stillflow.contrib.layers.dense_columns import infer_real_valued_columns
from stillflow.contrib.learn.array_feeds import ArrayFeeds
from stillflow.contrib.learn.estimators import check_input
from stillflow.graph.graph import Graph
from stillflow.names import public


@public("contrib.learn.infer_real_valued_columns_from_input_fn")
def infer_real_valued_columns_from_input_fn(input_fn):
    """A list of columns for the features of input_fn, a function that returns (features, labels).

    Raises ValueError for features that are no dense numbers.
    """
    with Graph().as_default():
        features, _ = input_fn()
        return infer_real_valued_columns(features)


@public("contrib.learn.infer_real_valued_columns_from_input")
def infer_real_valued_columns_from_input(x):
    """A list of columns for an array of examples, or a dict of arrays. Raises ValueError for other than numbers."""
    check_input(x, None, None, None)
    return infer_real_valued_columns_from_input_fn(ArrayFeeds(x, None, None, shuffle=False, epochs=1).input_fn)
