"""The optimizers of tensorflow.python.keras.optimizers: steps by hand, states, configs, clipping."""

import numpy as np
import pytest
from stillflow.python.keras import optimizers

import stillflow as tf

GRADIENTS = [np.float32(g) for g in (0.5, -2.0, 1.5)]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default(), tf.Session():
        yield


def steps(optimizer):
    """The values of a variable after each step with a gradient that is fed."""
    K = tf.keras.backend  # noqa: N806
    variable, gradient = K.variable(1.0), tf.placeholder(tf.float32, [])
    update = K.function([gradient], [gradient], optimizer.get_updates(gradient * variable, [variable]))
    found = []
    for value in GRADIENTS:
        update([value])
        found.append(float(K.get_value(variable)))
    return found


def by_hand(kind):
    p, m, v, d, momentum = 1.0, 0.0, 0.0, 0.0, 1.0
    for t, g in enumerate(map(float, GRADIENTS), 1):
        if kind == "SGD":
            lr = 0.1 / (1 + 0.5 * t)
            m = 0.9 * m - lr * g
            p += 0.9 * m - lr * g
        elif kind == "RMSprop":
            v = 0.9 * v + 0.1 * g * g
            p -= 0.1 * g / (v**0.5 + 1e-7)
        elif kind == "Adagrad":
            v += g * g
            p -= 0.1 * g / (v**0.5 + 1e-7)
        elif kind == "Adadelta":
            v = 0.95 * v + 0.05 * g * g
            step = g * (d + 1e-2) ** 0.5 / (v + 1e-2) ** 0.5
            d = 0.95 * d + 0.05 * step * step
            p -= 0.1 * step
        elif kind in ("Adam", "AMSGrad"):
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
            d = max(d, v) if kind == "AMSGrad" else v
            p -= 0.1 * (1 - 0.999**t) ** 0.5 / (1 - 0.9**t) * m / (d**0.5 + 1e-7)
        elif kind == "Adamax":
            m, v = 0.9 * m + 0.1 * g, max(0.999 * v, abs(g))
            p -= 0.1 / (1 - 0.9**t) * m / (v + 1e-7)
        else:
            now, ahead = (0.9 * (1 - 0.5 * 0.96 ** (s * 0.004)) for s in (t, t + 1))
            following = momentum * now * ahead
            momentum *= now
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
            mean = (1 - now) * g / (1 - momentum) + ahead * m / (1 - following)
            p -= 0.1 * mean / ((v / (1 - 0.999**t)) ** 0.5 + 1e-7)
        yield p


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("SGD", {"momentum": 0.9, "decay": 0.5, "nesterov": True}), ("RMSprop", {}), ("Adagrad", {}),
        ("Adadelta", {"epsilon": 1e-2}), ("Adam", {}), ("AMSGrad", {"amsgrad": True}), ("Adamax", {}), ("Nadam", {}),
    ],
)  # fmt: skip
def test_steps_are_those_of_the_formulas(kind, options):
    optimizer = getattr(optimizers, "Adam" if kind == "AMSGrad" else kind)(lr=0.1, **options)
    np.testing.assert_allclose(steps(optimizer), list(by_hand(kind)), rtol=1e-4)
    again = type(optimizer).from_config(optimizer.get_config())
    assert again.get_config() == optimizer.get_config()
    values = optimizer.get_weights()
    optimizer.set_weights([value + 1 for value in values])
    np.testing.assert_array_equal(optimizer.get_weights()[-1], values[-1] + 1)


def test_gradients_are_clipped():
    # Each gradient is one number: its norm is its absolute value.
    for option in ("clipnorm", "clipvalue"):
        found = steps(optimizers.SGD(lr=1.0, **{option: 1.0}))
        np.testing.assert_allclose(found, [0.5, 1.5, 0.5], rtol=1e-6)
        assert optimizers.SGD(**{option: 1.0}).get_config()[option] == 1.0
        with pytest.raises(ValueError, match=f"Expected {option} >= 0, received: -1"):
            optimizers.Adam(**{option: -1.0})
    with pytest.raises(TypeError, match="Unexpected keyword argument passed to optimizer: clip"):
        optimizers.SGD(clip=1.0)


def test_models_are_trained_with_constraints():
    layer = tf.keras.layers.Dense(2, input_shape=(3,), kernel_constraint=lambda w: 0.0 * w + 1.0)
    model = tf.keras.Sequential([layer])
    model.compile(optimizers.Adam(decay=0.1), "mse")
    model.fit(np.ones((4, 3)), np.ones((4, 2)), batch_size=2, verbose=0)
    np.testing.assert_array_equal(layer.get_weights()[0], np.ones((3, 2)))
    assert tf.keras.backend.get_value(model.optimizer.iterations) == 2
    with pytest.raises(ValueError, match="does not match the number of weights"):
        model.optimizer.set_weights([])
    with pytest.raises(ValueError, match="not compatible with provided weight shape"):
        model.optimizer.set_weights([np.zeros(3)] * len(model.optimizer.weights))
