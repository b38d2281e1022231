"""Ops of boosted trees find TensorFlow's splits, grow its ensembles, and refuse what they cannot read."""

import json
from pathlib import Path

import numpy as np
import pytest
from canned.boosted_trees import ensemble_scenarios as scenarios
from stillflow.core.kernels.boosted_trees import boosted_trees_pb2
from stillflow.python.ops import boosted_trees_ops, resources

import stillflow as tf

RECORDED = json.loads((Path(__file__).parents[2] / "golden" / "boosted_trees_ops.json").read_text())


def agrees(found, expected):
    """Whether both are the same, but for the rounding of numbers."""
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(agrees, found, expected))
    if isinstance(expected, float):
        return found == pytest.approx(expected, rel=1e-4, abs=1e-5)
    return found == expected


@pytest.mark.parametrize("name", sorted(scenarios.scenarios()))
def test_values_and_ensembles_are_tensorflows(name):
    found = json.loads(json.dumps(scenarios.outcome(tf, scenarios.scenarios()[name])))
    assert len(found) == len(RECORDED[name])
    for ours, theirs in zip(found, RECORDED[name], strict=True):
        assert agrees(ours, theirs), f"{ours}\n{theirs}"


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def create(session):
    session.run(resources.initialize_resources(resources.shared_resources()))


def ensemble_of(session, text):
    """An ensemble of a message's text, as its handle."""
    from google.protobuf import text_format

    message = text_format.Parse(text, boosted_trees_pb2.TreeEnsemble())
    ensemble = boosted_trees_ops.TreeEnsemble("trees", serialized_proto=message.SerializeToString())
    create(session)
    assert session.run(ensemble.serialize())[1] == message.SerializeToString(deterministic=True)
    return ensemble.resource_handle


EVERYTHING = """
trees { nodes { dense_split { feature_id: 1 threshold: 0.5 left_id: 1 right_id: 2 } metadata { gain: 2
original_leaf { vector { value: 1 value: -2 } } } } nodes { leaf { scalar: -1.5 } }
nodes { leaf { vector { value: 3 } } } nodes {} }
trees { nodes { categorical_split { feature_id: 1 value: -2 dimension_id: 3 } } }
trees { nodes { bucketized_split { feature_id: -1 default_direction: DEFAULT_RIGHT } metadata {} } }
tree_weights: 1 tree_weights: 0 tree_metadata { num_layers_grown: 3 is_finalized: true post_pruned_nodes_meta {
  new_node_id: 2 logit_change: -1.5 logit_change: 0 } } tree_metadata {}
growing_metadata { num_trees_attempted: 1 num_layers_attempted: 5000000000 last_layer_node_start: 3 }
"""


def test_every_field_of_an_ensemble_is_kept(session):
    ensemble_of(session, EVERYTHING)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (EVERYTHING, "cannot be split"),
        ("trees { nodes { bucketized_split { left_id: 0 right_id: 0 } } } tree_weights: 1", "has the child 0"),
        ("trees { nodes { bucketized_split { left_id: 5 right_id: 9 } } } tree_weights: 1", "has the child 9"),
        ("trees { nodes { categorical_split { feature_id: 7 left_id: 1 right_id: 1 } } }", "cannot be split"),
        ("trees { nodes { leaf { vector { value: 1 value: 2 } } } } tree_weights: 1", "2 values, but there are 1"),
        ("trees {} tree_weights: 1", "no node 0 of tree 0"),
    ],
)
def test_a_malformed_tree_is_an_error(session, text, message):
    handle = ensemble_of(session, text)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(boosted_trees_ops.predict(handle, [[1, 2]], logits_dimension=1))
    with pytest.raises(tf.errors.InvalidArgumentError):
        session.run(boosted_trees_ops.example_debug_outputs(handle, [[1, 2]], logits_dimension=1))
    with pytest.raises(tf.errors.InvalidArgumentError):
        session.run(boosted_trees_ops.training_predict(handle, [7, 0], [0, 99], [[1, 2]], logits_dimension=1))


def test_bytes_that_are_no_ensemble_are_refused(session):
    ensemble = boosted_trees_ops.TreeEnsemble("trees")
    with pytest.raises(tf.errors.NotFoundError, match="not initialized"):
        session.run(ensemble.get_states())
    create(session)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to parse tree ensemble proto"):
        session.run(ensemble.deserialize(3, b"\x0a\xff"))


def test_only_leaves_of_the_last_tree_are_split(session):
    handle = ensemble_of(session, "trees { nodes { leaf {} } } tree_weights: 1 tree_metadata {}")
    update = {
        "feature_ids": [0], "gains": [[1.0]], "thresholds": [[1]], "left_node_contribs": [[[1.0]]],
        "right_node_contribs": [[[1.0]]], "learning_rate": 1.0, "max_depth": 3, "pruning_mode": 0,
    }  # fmt: skip
    session.run(boosted_trees_ops.update_ensemble(handle, node_ids=[[0]], **update))
    for node in (0, 3, -1):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"Node {node} is not a leaf"):
            session.run(boosted_trees_ops.update_ensemble(handle, node_ids=[[node]], **update))


@pytest.mark.parametrize(
    ("nodes", "bucket", "message"), [([3], 0, "node_ids"), ([0], 8, "bucket 8"), ([-1], 0, "-1")]
)
def test_examples_outside_of_the_sums_are_refused(session, nodes, bucket, message):
    ones = np.ones((1, 1), np.float32)
    sums = boosted_trees_ops.make_stats_summary(nodes, ones, ones, [[bucket]], max_splits=3, num_buckets=4)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(sums)


def test_predictions_do_not_depend_on_threads():
    found = []
    for threads in (1, 2, 3):
        with tf.Graph().as_default():
            config = tf.ConfigProto(intra_op_parallelism_threads=threads)
            with tf.Session(config=config) as session:
                handle = ensemble_of(
                    session,
                    "trees { nodes { bucketized_split { threshold: 2 left_id: 1 right_id: 2 } } nodes { leaf { "
                    "scalar: 0.1 } } nodes { leaf { scalar: 0.7 } } } trees { nodes { leaf { scalar: 3e-8 } } } "
                    "tree_weights: 1 tree_weights: 0.3",
                )
                features = np.arange(1000, dtype=np.int32) % 5
                found.append(session.run(boosted_trees_ops.predict(handle, [features], logits_dimension=1)).tobytes())
    assert len(set(found)) == 1


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.4])
def test_quantiles_are_as_near_as_epsilon_says(session, epsilon):
    rng = np.random.default_rng(3)
    values = rng.exponential(size=5000).astype(np.float32)
    weights = rng.uniform(0, 2, 5000).astype(np.float32)
    streams = boosted_trees_ops.QuantileAccumulator(epsilon, 1, 4)
    part = tf.placeholder(tf.int32, [None])
    add = streams.add_summaries([tf.gather(values, part)], tf.gather(weights, part))
    create(session)
    for indices in np.split(np.arange(5000), 10):
        session.run(add, {part: indices})
    session.run(
        tf.raw_ops.BoostedTreesQuantileStreamResourceFlush(
            quantile_stream_resource_handle=streams.resource_handle, num_buckets=5, generate_quantiles=True
        )
    )
    found = session.run(streams.get_bucket_boundaries())[0]
    ranks = [weights[values <= each].sum() / weights.sum() for each in found]
    np.testing.assert_allclose(ranks, [0, 0.25, 0.5, 0.75, 1], atol=2 * epsilon + 1e-3)


def test_values_that_are_no_numbers_are_put_somewhere(session):
    values = np.array([np.nan, 1, np.inf, -np.inf, np.nan, 0], np.float32)
    summary = boosted_trees_ops.make_quantile_summaries([np.tile(values, 50)], [1.0], 0.1)
    assert session.run(summary)[0].shape[1] == 4
    buckets = boosted_trees_ops.boosted_trees_bucketize([values], [[0.0, 2.0]])
    assert set(session.run(buckets)[0]) <= {0, 1}


@pytest.mark.parametrize("epsilon", [0.0, -1.0, np.nan, 1.0, 3.0])
def test_an_epsilon_that_is_no_share_is_refused(session, epsilon):
    boosted_trees_ops.QuantileAccumulator(epsilon, 1, 4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="epsilon"):
        create(session)
