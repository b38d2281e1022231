"""Linear models of tf.contrib.learn that an SDCAOptimizer trains: TensorFlow's threads ascend in any order, so that
weights agree with it only where the ascent has come near its end."""

import numpy as np
import pytest

import stillflow as tf

layers, learn = tf.contrib.layers, tf.contrib.learn


def columns():
    real = layers.real_valued_column("x", 2)
    buckets = layers.bucketized_column(layers.real_valued_column("b"), [-0.5, 0.5])
    words = layers.sparse_column_with_keys("c", ["a", "b"])
    return [real, buckets, words, layers.crossed_column([buckets, words], 10)]


def input_fn(labels_type=tf.int32):
    random = np.random.RandomState(0)
    x = random.randn(12, 2).astype(np.float32)
    features = {
        "id": tf.constant([str(i) for i in range(12)]),
        "x": tf.constant(x),
        "b": tf.constant(random.randn(12, 1).astype(np.float32)),
        "c": tf.SparseTensor([[i, 0] for i in range(12)], ["ab"[i % 2] for i in range(12)], [12, 1]),
        "w": tf.constant(np.linspace(0.5, 2, 12, dtype=np.float32)[:, None]),
    }
    return features, tf.cast((x[:, :1] + x[:, 1:] > 0).astype(np.int32), labels_type)


def test_support_vector_machine(tmp_path):
    config = learn.RunConfig(model_dir=str(tmp_path))
    machine = learn.SVM("id", columns(), weight_column_name="w", l2_regularization=1.0, config=config)
    machine.fit(input_fn=input_fn, steps=20)
    found = machine.evaluate(input_fn=input_fn, steps=1)
    assert found["accuracy"] == 1.0
    assert found["loss"] < 0.01
    assert list(machine.predict_classes(input_fn=input_fn)) == [1] * 9 + [0, 0, 1]
    # After 20 steps of TensorFlow 1.15.5.
    weights = {
        "linear/x/weight": [0.7103, 0.4933],
        "linear/b_bucketized/weights": [-0.401, 0.2668, 0.2818],
        "linear/c/weights": [0.203, -0.0555],
        "linear/bias_weight": [0.1475],
    }
    for name, recorded in weights.items():
        np.testing.assert_allclose(np.ravel(machine.get_variable_value(name)), recorded, atol=0.03)
    with pytest.raises(ValueError, match="Kernel SVMs are not currently supported"):
        learn.SVM("id", columns(), kernels=["a"])


def test_regularizations_of_less_than_one_count_as_one():
    """As in TensorFlow's contrib, where 0 is the default; tf.estimator refuses it."""
    found = []
    for given in (0.0, 0.5, 1.0):
        machine = learn.SVM("id", columns(), l2_regularization=given)
        machine.fit(input_fn=input_fn, steps=3)
        found.append(machine.get_variable_value("linear/x/weight"))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    with pytest.raises(ValueError, match="symmetric_l2_regularization should be non-negative"):
        learn.SVM("id", columns(), l2_regularization=-1.0).fit(input_fn=input_fn, steps=1)


@pytest.mark.parametrize(("kind", "labels"), [("LinearClassifier", tf.int32), ("LinearRegressor", tf.float32)])
def test_linear_models_take_the_optimizer(kind, labels):
    optimizer = tf.contrib.linear_optimizer.SDCAOptimizer("id", symmetric_l2_regularization=1.0)
    assert optimizer.get_name() == "SDCAOptimizer"
    model = getattr(learn, kind)(columns(), optimizer=optimizer)
    losses = []
    for _ in range(2):
        model.fit(input_fn=lambda: input_fn(labels), steps=5)
        losses.append(model.evaluate(input_fn=lambda: input_fn(labels), steps=1)["loss"])
    assert losses[1] <= losses[0] < 0.3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda optimizer: learn.LinearClassifier(columns(), n_classes=3, optimizer=optimizer),
            "Unsupported head type",
        ),
        (
            lambda optimizer: learn.LinearClassifier(
                [layers.real_valued_column("tf_virtual_bias_column")], optimizer=optimizer
            ),
            "is a reserved column name",
        ),
        (
            lambda optimizer: learn.LinearClassifier(
                [layers.one_hot_column(layers.sparse_column_with_keys("c", ["a", "b"]))], optimizer=optimizer
            ),
            "No dense tensor representation for column",
        ),
    ],
)
def test_refusals(make, message):
    model = make(tf.contrib.linear_optimizer.SDCAOptimizer("id"))
    with pytest.raises((ValueError, NotImplementedError), match=message):
        model.fit(input_fn=input_fn, steps=1)
