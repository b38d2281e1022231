"""Which features matter: in an ensemble, and for the prediction of an example."""

from __future__ import annotations

import collections

import numpy as np

from stillflow.formats import protobuf
from stillflow.names import public


def _message(kind, serialized):
    message = protobuf.message(kind)()
    message.ParseFromString(serialized)
    return message


@public("python.estimator.canned.boosted_trees_utils._sum_by_feature_col_name_and_sort")
def sums_by_name(names, vals):
    """{name: the sum of its values}, the largest first."""
    sums: dict[str, float] = {}
    for name, value in zip(names, vals, strict=False):
        sums[name] = sums.get(name, 0) + value
    return collections.OrderedDict(sorted(sums.items(), key=lambda item: abs(item[1]), reverse=True))


@public("python.estimator.canned.boosted_trees._compute_feature_importances_per_tree")
def importances_of_tree(tree, num_features):
    """What the splits of each feature have gained in a Tree message. Raises ValueError for other splits."""
    importances = np.zeros(num_features)
    for node in tree.nodes:
        kind = node.WhichOneof("node")
        if kind == "bucketized_split":
            importances[node.bucketized_split.feature_id] += node.metadata.gain
        elif kind == "leaf":
            if node.metadata.gain != 0:
                raise AssertionError("a leaf has a gain")
        else:
            raise ValueError(f"Unexpected split type {kind}")
    return importances


@public("python.estimator.canned.boosted_trees._compute_feature_importances")
def importances(tree_ensemble, num_features, normalize):
    """What the splits of each feature have gained in a TreeEnsemble message; with `normalize` as shares of 1.

    Raises AssertionError for shares of what is negative, or of nothing.
    """
    per_tree = np.array([importances_of_tree(tree, num_features) for tree in tree_ensemble.trees])
    weights = np.array(tree_ensemble.tree_weights).reshape(-1, 1)
    found = np.sum(per_tree * weights, axis=0)
    if normalize:
        if not np.all(found >= 0):
            raise AssertionError("feature_importances must be non-negative.")
        total = np.sum(found)
        if not total > 0:
            raise AssertionError("Trees are all empty or contain only a root node.")
        found /= total
    return found


def importances_by_name(serialized, feature_names, normalize):
    """{name of a column: what its splits have gained}, of the bytes of a TreeEnsemble."""
    ensemble = _message("boosted_trees.TreeEnsemble", serialized)
    return sums_by_name(feature_names, importances(ensemble, len(feature_names), normalize))


@public("python.estimator.canned.boosted_trees_utils._identity")
def _identity(logits):
    return logits


@public("python.estimator.canned.boosted_trees_utils._sigmoid")
def _sigmoid(logits):
    return 1 / (1 + np.exp(-np.array(logits)))


@public("python.estimator.canned.boosted_trees_utils._parse_debug_proto_string")
def parse_debug_output(example_proto_serialized):
    """(features that were asked, logits before and after each answer) of the bytes of a DebugOutput."""
    message = _message("boosted_trees.DebugOutput", example_proto_serialized)
    return message.feature_ids, message.logits_path


@public("python.estimator.canned.boosted_trees_utils._compute_directional_feature_contributions")
def contributions(example_feature_ids, example_logits_paths, activation, feature_col_names):
    """(the prediction before any answer, {name of a column: what its answers have changed})."""
    predictions = np.array(activation(example_logits_paths))
    changes = predictions[1:] - predictions[:-1]
    sums = np.bincount(example_feature_ids, weights=changes, minlength=len(feature_col_names))
    return predictions[0], sums_by_name(feature_col_names, sums)


@public("python.estimator.canned.boosted_trees_utils._parse_explanations_from_prediction")
def explained(serialized_debug_proto, feature_col_names, classification=False):
    """(bias, {name of a column: what it has added to the prediction}) of the bytes of a DebugOutput."""
    features, path = parse_debug_output(serialized_debug_proto)
    return contributions(features, path, _sigmoid if classification else _identity, feature_col_names)
