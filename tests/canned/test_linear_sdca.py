"""Linear models by dual coordinate ascent end where TensorFlow's do, and its fingerprints are TensorFlow's."""

import numpy as np
import pytest
from stillflow.python.estimator.canned.linear_optimizer.python.utils import sdca_ops

import stillflow as tf

RANDOM = np.random.RandomState(0)
PRICES = RANDOM.normal(size=100).astype(np.float32)
COLORS = RANDOM.choice(["a", "b", "c"], 100)
CLASSES = ((PRICES > 0) ^ (COLORS == "a")).astype(np.int32)
NUMBERS = (2 * PRICES + (COLORS == "b")).astype(np.float32)

# Of TensorFlow 1.15.5.
FINGERPRINTS = {
    b"": [4463240938071824939, 4374473821787594281],
    b"abcd": [-5127603957951857022, 650444106621073625],
    b"12345678": [630108414301932383, 630315799594168895],
    b"y" * 17: [-2117712328619507009, 940160698274262391],
    b"z" * 40: [2572683828800734938, 7029895925570209304],
    bytes(range(150)): [-2272271016404537266, -6468799814043927553],
    bytes(range(256)) * 3: [1748593236589626577, -6003538166387194189],
}


def test_fingerprints_are_tensorflows():
    with tf.Session() as session:
        found = session.run(tf.train.sdca_fprint(list(FINGERPRINTS)))
    assert found.tolist() == list(FINGERPRINTS.values())


def columns():
    fc = tf.feature_column
    return [fc.numeric_column("price"), fc.categorical_column_with_hash_bucket("color", 10)]


def input_of(labels):
    def input_fn():
        features = {"price": PRICES.reshape(-1, 1), "color": COLORS.reshape(-1, 1)}
        features = {key: tf.constant(value) for key, value in features.items()}
        features["id"] = tf.constant([str(i) for i in range(100)])
        return features, tf.constant(labels.reshape(-1, 1))

    return input_fn


@pytest.mark.parametrize(("adaptive", "shards"), [(False, 1), (True, 2)])
@pytest.mark.parametrize(
    ("kind", "l1", "loss", "price"),
    [
        ("Classifier", 0.0, 63.3969, 0.6393543),
        ("Classifier", 0.5, 63.492477, 0.6083044),
        ("Regressor", 0.0, 16.509752, 1.9858327),
        ("Regressor", 0.5, 16.552244, 1.9809895),
    ],
)
def test_models_are_as_good_as_tensorflows(tmp_path, kind, l1, loss, price, adaptive, shards):
    optimizer = tf.estimator.experimental.LinearSDCA(
        "id",
        symmetric_l2_regularization=1.0,
        symmetric_l1_regularization=l1,
        adaptive=adaptive,
        num_table_shards=shards,
    )
    estimator = getattr(tf.estimator, "Linear" + kind)(columns(), model_dir=str(tmp_path), optimizer=optimizer)
    input_fn = input_of(CLASSES if kind == "Classifier" else NUMBERS)
    estimator.train(input_fn, steps=60)
    assert estimator.evaluate(input_fn, steps=1)["loss"] == pytest.approx(loss, rel=1e-4)
    assert estimator.get_variable_value("linear/linear_model/price/weights") == pytest.approx(price, rel=2e-3)
    names = estimator.get_variable_names()
    assert f"ShardedMutableHashTable-1-of-{shards}-keys" in names
    assert "linear/linear/linear_model/price/weights/part_0_unshrunk" in names


@pytest.mark.parametrize("loss_type", ["hinge_loss", "smooth_hinge_loss", "poisson_loss", "logistic_loss"])
def test_the_duality_gap_closes(loss_type):
    with tf.Graph().as_default(), tf.Session() as session:
        features = np.stack([PRICES, np.ones(100, np.float32)], 1)
        weights = tf.Variable(tf.zeros([2]))
        sparse = tf.Variable(tf.zeros([3]))
        numbers = np.unique(COLORS, return_inverse=True)[1]
        examples = {
            "sparse_features": [sdca_ops._SparseFeatureColumn(np.arange(100), numbers, None)],
            "dense_features": [tf.constant(features)],
            "example_labels": tf.constant(CLASSES.astype(np.float32)),
            "example_weights": tf.ones([100]),
            "example_ids": tf.constant([str(i) for i in range(100)]),
        }
        model = sdca_ops._SDCAModel(
            examples,
            {"sparse_features_weights": [sparse], "dense_features_weights": [weights]},
            {
                "loss_type": loss_type,
                "symmetric_l2_regularization": 2.0,
                "symmetric_l1_regularization": 0.0,
                "adaptive": False,
            },
        )
        step = model.update_weights(model.minimize())
        loss = model.regularized_loss(examples)
        session.run(tf.global_variables_initializer())
        before = session.run(loss)
        if loss_type.endswith("hinge_loss"):  # TensorFlow reports the plain one for both
            assert before == pytest.approx(1.0)
        for _ in range(60):
            session.run(step)
        assert abs(session.run(model.approximate_duality_gap())) < 1e-3
        assert session.run(loss) < before


def run_once(**changes):
    """The new states of two examples with one sparse and one dense feature."""
    inputs = {
        "sparse_example_indices": [np.array([0, 1])],
        "sparse_feature_indices": [np.array([3, 5])],
        "sparse_feature_values": [np.array([1, 2], np.float32)],
        "dense_features": [np.ones((2, 1), np.float32)],
        "example_weights": np.ones(2, np.float32),
        "example_labels": np.array([0, 1], np.float32),
        "sparse_indices": [np.array([3, 5])],
        "sparse_weights": [np.zeros(2, np.float32)],
        "dense_weights": [np.zeros(1, np.float32)],
        "example_state_data": np.zeros((2, 4), np.float32),
        "loss_type": "logistic_loss",
        "l1": 0.0,
        "l2": 1.0,
        "num_loss_partitions": 1,
        "num_inner_iterations": 1,
        **changes,
    }
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(tf.raw_ops.SdcaOptimizerV2(**inputs))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"example_labels": np.array([0, 2], np.float32)}, "Only labels of 0.0 or 1.0 are supported"),
        ({"sparse_feature_indices": [np.array([3, 4])]}, "out of valid range: 4"),
        (
            {"sparse_example_indices": [np.array([0, 0])], "sparse_feature_indices": [np.array([3, 3])]},
            "Duplicate index",
        ),
        ({"dense_features": [np.ones((2, 2), np.float32)]}, "More dense features than we have parameters for: 2"),
        ({"example_state_data": np.zeros((3, 4), np.float32)}, "for example_state_data"),
    ],
)
def test_examples_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run_once(**changes)


def test_a_pass_has_the_same_bits_whenever_it_runs():
    def bits():
        states, sparse, dense = run_once(adaptive=True)
        return [each.tobytes() for each in (states, *sparse, *dense)]

    assert bits() == bits()


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("Classifier", {"n_classes": 3}, "multi-class"),
        ("Classifier", {"sparse_combiner": "mean"}, 'must be "sum"'),
        ("Regressor", {"label_dimension": 2}, "one-dimensional label"),
    ],
)
def test_models_that_it_cannot_train_are_refused(tmp_path, kind, settings, message):
    optimizer = tf.estimator.experimental.LinearSDCA("id")
    with pytest.raises(ValueError, match=message):
        getattr(tf.estimator, "Linear" + kind)(columns(), model_dir=str(tmp_path), optimizer=optimizer, **settings)


def test_weights_shrink_by_the_ratio_of_the_norms():
    weights = [tf.Variable(value, use_resource=False) for value in ([1.0, -2.0, 0.1, 0.0], [[0.5], [-0.75]])]
    shrink = tf.train.sdca_shrink_l1([weight._ref() for weight in weights], l1=0.5, l2=1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(shrink)
        first, second = session.run(weights)
    assert first.tolist() == [0.5, -1.5, 0, 0]
    assert second.tolist() == [[0], [-0.25]]
