"""tf.contrib.kernel_methods: a classifier of what is not linear, and arguments that are refused."""

import numpy as np
import pytest

import stillflow as tf

kernel_methods = tf.contrib.kernel_methods


def _circles():
    """Points inside of a circle and outside."""
    points = np.random.default_rng(1).uniform(-1, 1, [200, 2]).astype(np.float32)
    return {"x": tf.constant(points)}, tf.constant((np.square(points).sum(1) < 0.5).astype(np.int64)[:, None])


def test_mapped_features_tell_inside_from_outside(tmp_path):
    column = tf.contrib.layers.real_valued_column("x", 2)
    accuracy = []
    for mappers in (None, {column: [kernel_methods.RandomFourierFeatureMapper(2, 60, 0.5, name="rffm")]}):
        classifier = kernel_methods.KernelLinearClassifier(
            [column], str(tmp_path / str(len(accuracy))), kernel_mappers=mappers
        )
        classifier.fit(input_fn=_circles, steps=40)
        accuracy.append(classifier.evaluate(input_fn=_circles, steps=1)["accuracy"])
    assert accuracy[0] < 0.8 and accuracy[1] > 0.85
    classes, probabilities = (
        np.array(list(predict(input_fn=_circles)))
        for predict in (classifier.predict_classes, classifier.predict_proba)
    )
    np.testing.assert_array_equal(probabilities.argmax(1), classes)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, "You should set at least one of feature_columns, kernel_mappers."),
        ({"kernel_mappers": {"x": ["y"]}}, "Invalid kernel mappers."),
    ],
)
def test_classifiers_that_are_refused(arguments, error):
    with pytest.raises(ValueError, match=error):
        kernel_methods.KernelLinearClassifier(**arguments)


@pytest.mark.parametrize("shape", [[3], [2, 4]])
def test_features_of_other_shapes_are_refused(shape):
    with (
        tf.Graph().as_default(),
        pytest.raises(Exception, match="Got 1 instead|got 4 instead"),
    ):
        kernel_methods.RandomFourierFeatureMapper(3, 5).map(tf.zeros(shape))


def test_labels_without_a_score_are_refused():
    with tf.Graph().as_default(), tf.Session() as session:
        loss = kernel_methods.sparse_multiclass_hinge_loss(tf.constant([0, 2]), tf.zeros([2, 2]))
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(loss)
