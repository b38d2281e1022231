"""What optimizers refuse, how they name their variables, and the halves of minimize."""

import numpy as np
import pytest

import stillflow as tf


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.train.AdagradOptimizer(0.1, 0.0), "initial_accumulator_value must be positive: 0.0"),
        (lambda: tf.train.ProximalAdagradOptimizer(0.1, -1.0), "initial_accumulator_value must be positive: -1.0"),
        (lambda: tf.train.AdagradDAOptimizer(0.1, None, 0.0), "initial_gradient_squared_accumulator_value must be"),
        (
            lambda: tf.train.FtrlOptimizer(0.1, learning_rate_power=0.5),
            "learning_rate_power 0.500000 needs to be neg",
        ),
        (lambda: tf.train.FtrlOptimizer(0.1, initial_accumulator_value=-1.0), "initial_accumulator_value -1.0000"),
        (lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=-1.0), "l1_regularization_strength -1.0000"),
        (lambda: tf.train.FtrlOptimizer(0.1, l2_regularization_strength=-1.0), "l2_regularization_strength -1.0000"),
        (
            lambda: tf.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=-1.0),
            "l2_shrinkage_regularization_strength -1.000000 needs to be positive",
        ),
        (lambda: tf.train.AdamOptimizer(name=""), "Must specify the optimizer name"),
    ],
)
def test_numbers_out_of_range_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


SLOTS = {
    "AdadeltaOptimizer": ["accum", "accum_update"],
    "AdagradOptimizer": ["accumulator"],
    "AdamOptimizer": ["m", "v"],
    "FtrlOptimizer": ["accum", "linear"],
    "MomentumOptimizer": ["momentum"],
    "ProximalAdagradOptimizer": ["accumulator"],
    "ProximalGradientDescentOptimizer": [],
    "RMSPropOptimizer": ["momentum", "rms"],
}


@pytest.mark.parametrize("name", SLOTS)
def test_slots_have_their_names_and_places(name):
    arguments = (0.1, 0.9) if name == "MomentumOptimizer" else (0.1,)
    optimizer = getattr(tf.train, name)(*arguments)
    variable = tf.Variable([1.0, 2.0], name="v")
    optimizer.minimize(tf.reduce_sum(tf.square(variable)))
    assert optimizer.get_slot_names() == SLOTS[name]
    for slot_name in SLOTS[name]:
        slot = optimizer.get_slot(variable, slot_name)
        assert slot.op.name.startswith("v/" + optimizer.get_name())
        assert slot.shape == variable.shape
        assert slot in optimizer.variables()
        assert slot not in tf.trainable_variables()
    assert optimizer.get_slot(variable, "other") is None


def test_a_loss_that_depends_on_no_variable_is_refused():
    tf.Variable([1.0])
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        tf.train.RMSPropOptimizer(0.1).minimize(tf.constant(1.0))


def test_no_variables_at_all_are_refused():
    with pytest.raises(ValueError, match="No variables to optimize."):
        tf.train.FtrlOptimizer(0.1).minimize(tf.constant(1.0))
    with pytest.raises(ValueError, match="No variables provided."):
        tf.train.FtrlOptimizer(0.1).apply_gradients([])


def test_integers_are_refused():
    with pytest.raises(ValueError, match="Invalid type"):
        tf.train.AdadeltaOptimizer(0.1).compute_gradients(tf.constant(1), [tf.Variable([1.0])])


def test_gradients_of_another_shape_are_refused():
    variable = tf.Variable([1.0, 2.0])
    for optimizer in (tf.train.FtrlOptimizer(0.1), tf.train.RMSPropOptimizer(0.1), tf.train.AdadeltaOptimizer(0.1)):
        with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal, but are 2 and 3"):
            optimizer.apply_gradients([(tf.constant([1.0, 2.0, 3.0]), variable)])


def test_rates_may_be_fed():
    rate = tf.placeholder(tf.float32, [])
    variable = tf.Variable([1.0])
    step = tf.train.ProximalGradientDescentOptimizer(rate).apply_gradients([(tf.constant([1.0]), variable)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step, {rate: 0.25})
        session.run(step, {rate: 0.5})
        np.testing.assert_array_equal(session.run(variable), [0.25])
