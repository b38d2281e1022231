"""RandomFourierFeatures approximates kernels."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.keras.layers.random_features import RandomFourierFeatures


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_products_of_features_approximate_the_kernel(kernel):
    np.random.seed(1)
    x = np.random.RandomState(0).rand(4, 3).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        layer = RandomFourierFeatures(4000, kernel, scale=2.0)
        features = layer(tf.constant(x))
        session.run(tf.global_variables_initializer())
        found = session.run(features)
    differences = x[:, np.newaxis] - x
    if kernel == "gaussian":
        wanted = np.exp(-(differences**2).sum(-1) / (2 * 2.0**2))
    else:
        wanted = np.exp(-np.abs(differences).sum(-1) / 2.0)
    np.testing.assert_allclose(found @ found.T * 2 / 4000, wanted, atol=0.06)
    assert [len(layer.trainable_weights), len(layer.non_trainable_weights)] == [0, 3]


def test_what_it_is_made_of():
    again = RandomFourierFeatures.from_config(RandomFourierFeatures(5, "Laplacian", 3.0, True).get_config())
    assert (again.output_dim, again.kernel_initializer, again.scale) == (5, "Laplacian", 3.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((0,), "output_dim"), ((2, "cosine"), "Unsupported kernel type: 'cosine'"), ((2, "gaussian", 0.0), "`scale`")],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        RandomFourierFeatures(*arguments)
