"""k-means and WALS; tests/golden/factorization.json is TensorFlow 1.15.5's.

Runs in Python 3.7, too, where tools/record_golden.py records it. Each is a function of tf and of an empty folder.
"""

import importlib
import tempfile

import numpy as np

RANDOM = np.random.RandomState(4)
CENTERS = np.array([[0, 0, 5], [5, 1, 0], [0, 6, 1], [4, 4, 4]], np.float32)
POINTS = (CENTERS[RANDOM.randint(4, size=60)] + RANDOM.randn(60, 3)).astype(np.float32)
ENTRIES = np.array([(i, j) for i in range(7) for j in range(5) if (i * 3 + j * 5) % 4 < 2], np.int64)
VALUES = np.array([1 + (i * j) % 3 + 0.25 * i for i, j in ENTRIES], np.float32)


def _module(tf, name):
    root = "stillflow" if tf.__name__ == "stillflow" else "tensorflow"
    return importlib.import_module(root + "." + name)


def _ops(tf, folder):
    factorization = _module(tf, "contrib.factorization.python.ops.gen_factorization_ops")
    clustering = _module(tf, "python.ops.gen_clustering_ops")

    with tf.Session() as session:
        found = []
        for k in (1, 3, 9):
            indices, distances = session.run(clustering.nearest_neighbors(POINTS[:20], CENTERS, k))
            found += [indices.tolist(), distances.tolist()]
        for seed, retries in ((1, 0), (7, 2), (9, -1)):
            picked = clustering.kmeans_plus_plus_initialization(POINTS, 5, seed, retries)
            found.append(session.run(picked).tolist())
        chains = [clustering.kmc2_chain_initialization(np.abs(POINTS[:, 0]), seed) for seed in range(6)]
        found.append([int(value) for value in session.run(chains)])
        a, b = POINTS[:6], POINTS[6:11]
        places = np.array([[5, 0], [0, 4], [2, 2], [0, 4]], np.int64)
        for x, y, left, right in ((a, b.T, False, False), (a.T, b.T, True, False), (a, b, False, True)):
            found.append(session.run(factorization.masked_matmul(x, y, places, left, right)).tolist())
        found.append(session.run(factorization.masked_matmul(a.T, b, places, True, True)).tolist())
        for weights in (([0.5] * 5, [1.0, 2.0] * 3 + [1.0], []), ([], [], np.arange(len(VALUES), dtype=np.float32))):
            solved = factorization.wals_compute_partial_lhs_and_rhs(
                POINTS[:5], weights[0], 0.1, weights[1], ENTRIES, VALUES, weights[2], 7, False
            )
            found += [value.tolist() for value in session.run(solved)]
    return found


def _k_means(**settings):
    def scenario(tf, folder):
        points = tf.placeholder(tf.float32, [None, 3])
        graph = tf.contrib.factorization.KMeans(
            inputs=points, num_clusters=4, random_seed=5, **settings
        ).training_graph()
        _, (nearest,), (scores,), is_initialized, init_op, train_op = graph
        nodes = [(node.name, node.op) for node in tf.get_default_graph().as_graph_def().node]
        if settings.get("use_mini_batch"):
            return [nodes]  # TensorFlow counts points before or after it reads the counts, as it happens
        found = []
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(6):
                if session.run(is_initialized):
                    break
                session.run(init_op, {points: POINTS})
            for _ in range(6):
                found.append(session.run([nearest, scores, train_op], {points: POINTS})[:2])
            found = [[indices.tolist(), distances.tolist()] for indices, distances in found]
            found.append(session.run("clusters:0").tolist())
        return [nodes, found]

    return scenario


def _estimator(contrib):
    def scenario(tf, folder):
        if contrib:
            make = tf.contrib.factorization.KMeansClustering
            seed = {"random_seed": 3}
        else:
            make = tf.estimator.experimental.KMeans
            seed = {"seed": 3}
        model = make(
            num_clusters=3, initial_clusters="kmeans_plus_plus", use_mini_batch=False, relative_tolerance=1e-4,
            model_dir=folder, config=tf.estimator.RunConfig(tf_random_seed=2), **seed
        )  # fmt: skip

        def input_fn():
            return tf.train.limit_epochs(tf.convert_to_tensor(POINTS), num_epochs=9)

        model.train(input_fn)
        one = lambda: tf.data.Dataset.from_tensors(POINTS)  # noqa: E731
        return [
            model.cluster_centers().tolist(),
            float(model.score(one)),
            [int(index) for index in model.predict_cluster_index(one)],
            [distances.tolist() for distances in model.transform(one)][:5],
            sorted(model.get_variable_names()),
        ]

    return scenario


def _wals(**settings):
    def scenario(tf, folder):
        tf.set_random_seed(1)
        model = tf.contrib.factorization.WALSModel(7, 5, 2, regularization=0.2, **settings)
        entries = tf.SparseTensor(ENTRIES, VALUES, [7, 5])
        rows, columns = model.update_row_factors(entries), model.update_col_factors(entries)
        projected = model.project_row_factors(tf.SparseTensor([[0, 1], [0, 3]], [1.0, 2.0], [1, 5]))
        nodes = [(node.name, node.op) for node in tf.get_default_graph().as_graph_def().node]
        found = []
        with tf.Session() as session:
            session.run([model.initialize_op])
            session.run(model.worker_init)
            for _ in range(3):
                session.run(model.row_update_prep_gramian_op)
                session.run(model.initialize_row_update_op)
                found.append([float(x) for x in session.run(rows[1:])[1:]])
                if _ == 2:
                    found.append(session.run(projected).tolist())
                session.run(model.col_update_prep_gramian_op)
                session.run(model.initialize_col_update_op)
                found.append([float(x) for x in session.run(columns[1:])[1:]])
            for factors in model.row_factors + model.col_factors:
                found.append(session.run(factors).tolist())
        return [nodes, found]

    return scenario


def scenarios():
    """{name: function of (tf, folder)}"""
    one_each = {"row_weights": [1.0, 2, 1, 1, 2, 1, 1], "col_weights": [0.5] * 5}
    return {
        "ops": _ops,
        "k_means_random": _k_means(),
        "k_means_plus_plus": _k_means(initial_clusters="kmeans_plus_plus", distance_metric="cosine"),
        "k_means_chains": _k_means(initial_clusters="kmc2", kmc2_chain_length=10, use_mini_batch=True),
        "k_means_mini_batch": _k_means(
            initial_clusters=CENTERS, use_mini_batch=True, mini_batch_steps_per_iteration=2, distance_metric="cosine"
        ),
        "k_means_mini_batch_cosine": _k_means(use_mini_batch=True, distance_metric="cosine"),
        "estimator": _estimator(False),
        "contrib_estimator": _estimator(True),
        "wals": _wals(),
        "wals_unweighted": _wals(row_weights=None, col_weights=None),
        "wals_shards": _wals(
            num_row_shards=2, num_col_shards=2, use_factors_weights_cache=False, use_gramian_cache=False,
            use_scoped_vars=True,
        ),
        "wals_weights": _wals(**one_each),
    }  # fmt: skip


def outcome(tf, function):
    """What a scenario returns."""
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        return function(tf, folder)


def outcomes(tf):
    """{name: outcome} of all."""
    return {name: outcome(tf, function) for name, function in sorted(scenarios().items())}
