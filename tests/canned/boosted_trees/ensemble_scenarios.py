"""Ops of boosted trees; tests/golden/boosted_trees_ops.json is TensorFlow 1.15.5's.

Runs in Python 3.7, too, where tools/record_golden.py records it. Each is a function of tf.
"""

import importlib

import numpy as np

RANDOM = np.random.RandomState(4)
COUNT = 120
NODES = RANDOM.randint(0, 3, COUNT).astype(np.int32)
GRADIENTS = RANDOM.normal(size=(COUNT, 1)).astype(np.float32)
HESSIANS = RANDOM.uniform(0.1, 1, (COUNT, 1)).astype(np.float32)
BUCKETS = RANDOM.randint(0, 5, (4, COUNT)).astype(np.int32)
WEIGHTS = RANDOM.uniform(0, 3, 1000).astype(np.float32)
VALUES = (RANDOM.normal(size=1000) * 10).round(1).astype(np.float32)


def module(tf, name):
    root = "stillflow" if tf.__name__ == "stillflow" else "tensorflow"
    return importlib.import_module(root + "." + name)


def _plain(value):
    value = np.asarray(value)
    if value.dtype.kind in "OS":
        return [each.hex() if isinstance(each, bytes) else each for each in value.ravel().tolist()]
    return value.tolist()


def _run(session, fetches):
    return [_plain(value) for value in session.run(list(fetches))]


def _session(tf):
    resources = module(tf, "python.ops.resources")
    session = tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1))
    session.run(resources.initialize_resources(resources.shared_resources()))
    return session


def _sums(tf, trees):
    return trees.make_stats_summary(NODES, GRADIENTS, HESSIANS, list(BUCKETS), max_splits=3, num_buckets=5)


def sums(tf):
    """Sums of dense, of wide and of sparse features."""
    trees = module(tf, "python.ops.boosted_trees_ops")
    wide = BUCKETS[:3].T - (BUCKETS[3] == 2)[:, None]
    several = np.concatenate([GRADIENTS, -GRADIENTS, GRADIENTS * 2], 1)
    places = np.argwhere(BUCKETS[:2].T != 0).astype(np.int32)
    sparse = trees.boosted_trees_sparse_aggregate_stats(
        NODES, GRADIENTS, HESSIANS, places, BUCKETS[:2].T[tuple(places.T)], [COUNT, 2], max_splits=3, num_buckets=5
    )
    with tf.Session() as session:
        return _run(
            session,
            [
                _sums(tf, trees),
                trees.boosted_trees_aggregate_stats(NODES, several, several**2, wide, max_splits=3, num_buckets=5),
                *sparse,
            ],
        )


def splits(tf):
    """The best splits, with and without regularization, of one logit and of several."""
    trees = module(tf, "python.ops.boosted_trees_ops")
    fetches = []
    settings = {"l1": 0.1, "l2": 0.2, "tree_complexity": 0.5, "min_node_weight": 1.0}
    plain = {"l1": 0.0, "l2": 0.0, "tree_complexity": 0.0, "min_node_weight": 0.0}
    several = np.concatenate([GRADIENTS, -GRADIENTS * HESSIANS, GRADIENTS * 2], 1)
    with tf.Session() as session:
        for options in (settings, plain):
            summary = tf.unstack(_sums(tf, trees))
            for each in trees.calculate_best_gains_per_feature([0, 3], summary, max_splits=3, **options):
                fetches += each
            dense = trees.boosted_trees_aggregate_stats(
                NODES, GRADIENTS, HESSIANS, BUCKETS.T - 1, max_splits=3, num_buckets=4
            )
            for kind in ("inequality", "equality"):
                fetches += trees.calculate_best_feature_split(
                    [0, 3], dense, logits_dimension=1, split_type=kind, **options
                )
            places = np.argwhere(BUCKETS[:2].T != 0).astype(np.int32)
            sparse = trees.boosted_trees_sparse_aggregate_stats(
                NODES, GRADIENTS, HESSIANS, places, BUCKETS[:2].T[tuple(places.T)], [COUNT, 2], 3, 5
            )
            fetches += trees.sparse_calculate_best_feature_split([0, 3], *sparse, logits_dimension=1, **options)
        for hessians in (several**2 + 0.1, np.einsum("ni,nj->nij", several, several).reshape(COUNT, 9)):
            dense = trees.boosted_trees_aggregate_stats(NODES, several, hessians, BUCKETS[:1].T, 3, 5)
            options = dict(plain, l2=0.3)
            fetches += trees.calculate_best_feature_split([0, 3], dense, logits_dimension=3, **options)
        return _run(session, fetches)


def _grow(trees, ensemble, nodes, mode, gain, depth=2, features=(0, 3)):
    count = len(nodes)
    contributions = [[[0.25 * (i + 1)] for i in range(count)], [[-0.5 * i - 0.1] for i in range(count)]]
    return trees.update_ensemble(
        ensemble.resource_handle,
        feature_ids=list(features),
        node_ids=[nodes, nodes],
        gains=[[gain * (1 - 3 * (i % 2)) for i in range(count)], [gain * (i % 2) for i in range(count)]],
        thresholds=[[2] * count, [1] * count],
        left_node_contribs=[contributions[0], contributions[1]],
        right_node_contribs=[contributions[1], contributions[0]],
        learning_rate=0.1,
        max_depth=depth,
        pruning_mode=mode,
    )


def _growing(mode, gain):
    def scenario(tf):
        trees = module(tf, "python.ops.boosted_trees_ops")
        ensemble = trees.TreeEnsemble("trees")
        cached = tf.placeholder(tf.int32, [2, None])
        states = [*ensemble.get_states(), *ensemble.serialize()]
        predicted = trees.predict(ensemble.resource_handle, list(BUCKETS), logits_dimension=1)
        partial = trees.training_predict(
            ensemble.resource_handle, cached[0], cached[1], list(BUCKETS), logits_dimension=1
        )
        debug = trees.example_debug_outputs(ensemble.resource_handle, list(BUCKETS[:, :5]), logits_dimension=1)
        center = trees.center_bias(ensemble.resource_handle, [[0.3]], [[0.5]], l1=0.1, l2=0.2)
        found, places = [], np.array([[0] * COUNT, [-1] * COUNT], np.int32)
        with _session(tf) as session:
            for _ in range(2):
                found += _run(session, [center])
                found += _run(session, states)
            for nodes in ([0], [1, 2], [0], [1], [0]):
                session.run(_grow(trees, ensemble, nodes, mode, gain))
                values = session.run(list(partial), {cached: places})
                places = np.stack(values[1:])
                found += [_plain(value[:30]) for value in values] + _run(session, [*states, predicted[:30], debug])
        return found

    return scenario


def categories(tf):
    """Splits of every kind, by the second version of the op."""
    trees = module(tf, "python.ops.boosted_trees_ops")
    ensemble = trees.TreeEnsemble("trees")
    kinds = [b"EQUALITY_DEFAULT_RIGHT"], [b"INEQUALITY_DEFAULT_RIGHT"], [b"INEQUALITY_DEFAULT_LEFT"]
    states = [*ensemble.get_states(), *ensemble.serialize()]
    predicted = trees.predict(ensemble.resource_handle, list(BUCKETS[:3]), logits_dimension=1)
    found = []
    with _session(tf) as session:
        for node, best in enumerate((0, 1, 2)):
            grow = trees.update_ensemble_v2(
                ensemble.resource_handle,
                feature_ids=[0, 1, 2],
                dimension_ids=[[1], [0], [2]],
                node_ids=[[node]] * 3,
                gains=[[1.0 if i == best else 0.5] for i in range(3)],
                thresholds=[[1], [2], [3]],
                left_node_contribs=[[[0.1]], [[0.2]], [[0.3]]],
                right_node_contribs=[[[-0.1]], [[-0.2]], [[-0.3]]],
                split_types=list(kinds),
                max_depth=4,
                learning_rate=0.5,
                pruning_mode=0,
            )
            session.run(grow)
            found += _run(session, [*states, predicted[:20]])
    return found


def quantiles(tf):
    """Boundaries of streams, and values in buckets."""
    trees = module(tf, "python.ops.boosted_trees_ops")
    found = []
    for epsilon, count in ((0.3, 3), (0.05, 20), (0.01, 100)):
        with tf.Graph().as_default():
            streams = trees.QuantileAccumulator(epsilon, 2, count, name="streams")
            values, weights = tf.placeholder(tf.float32, [2, None]), tf.placeholder(tf.float32, [None])
            summaries = trees.make_quantile_summaries(tf.unstack(values), weights, epsilon)
            add, flush, boundaries = streams.add_summaries(tf.unstack(values), weights), streams.flush(), None
            boundaries = streams.get_bucket_boundaries()
            buckets = trees.boosted_trees_bucketize(tf.unstack(values), boundaries)
            with _session(tf) as session:
                for first in range(0, 1000, 250):
                    part = slice(first, first + 250)
                    feeds = {values: np.stack([VALUES[part], VALUES[part] ** 2]), weights: WEIGHTS[part]}
                    session.run(add, feeds)
                found += [_plain(value[:20]) for value in session.run(summaries, feeds)]
                session.run(flush)
                found += _run(session, boundaries)
                found += [_plain(value[:30]) for value in session.run(buckets, feeds)]
    return found


def scenarios():
    """{name: function of tf}"""
    return {
        "sums": sums,
        "splits": splits,
        "grown": _growing(0, 1.0),
        "pruned_before": _growing(1, 1.0),
        "pruned_after": _growing(2, -1.0),
        "categories": categories,
        "quantiles": quantiles,
    }


def outcome(tf, function):
    """What a scenario returns."""
    with tf.Graph().as_default():
        return function(tf)


def outcomes(tf):
    """{name: outcome} of all."""
    return {name: outcome(tf, function) for name, function in sorted(scenarios().items())}
