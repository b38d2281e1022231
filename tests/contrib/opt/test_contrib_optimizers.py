"""What contrib's optimizers promise beyond the nodes of a step: errors, contexts, savers, eager execution."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.contrib.opt import sign_decay

opt = tf.contrib.opt


def test_moving_averages_are_saved_under_the_names_of_variables(tmp_path):
    w = tf.Variable([1.0, 2.0], name="w")
    optimizer = opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.5), average_decay=0.5)
    step = optimizer.minimize(tf.reduce_sum(w))
    saver = optimizer.swapping_saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        path = saver.save(session, str(tmp_path / "model"))
    reader = tf.train.load_checkpoint(path)
    np.testing.assert_array_equal(reader.get_tensor("w"), [0.75, 1.75])
    np.testing.assert_array_equal(reader.get_tensor("w/ExponentialMovingAverage"), [0.5, 1.5])


def test_swapping_saver_needs_a_step_and_all_averages():
    w = tf.Variable([1.0, 2.0], name="w")
    optimizer = opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.5))
    with pytest.raises(RuntimeError, match="Must call apply_gradients or minimize before"):
        optimizer.swapping_saver()
    optimizer.minimize(tf.reduce_sum(w))
    with pytest.raises(ValueError, match="Variable to swap w/ExponentialMovingAverage is not part of variables"):
        optimizer.swapping_saver([w])


def test_optimizers_say_what_is_wrong_with_arguments():
    with pytest.raises(ValueError, match=r"momentum should be positive: -1.0"):
        opt.LARSOptimizer(0.1, momentum=-1.0)
    with pytest.raises(ValueError, match=r"weight_decay should be positive: -1.0"):
        opt.LARSOptimizer(0.1, weight_decay=-1.0)
    with pytest.raises(TypeError, match="must be an instance of tf.train.Optimizer"):
        opt.MultitaskOptimizerWrapper("Adam")
    for make in (sign_decay.get_linear_decay_fn, sign_decay.get_cosine_decay_fn, sign_decay.get_restart_decay_fn):
        with pytest.raises(ValueError, match="global_step is required for"):
            make(10)(None)


def test_weight_decay_may_be_a_function():
    optimizer = opt.extend_with_decoupled_weight_decay(tf.train.GradientDescentOptimizer)(
        lambda: 0.5, learning_rate=1.0
    )
    w = tf.Variable(4.0)
    step = optimizer.apply_gradients([(tf.constant(1.0), w)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(w) == 1.0


def test_avoiding_updates_of_slots_ends_with_the_context():
    optimizer = opt.RegAdagradOptimizer(1.0)
    with pytest.raises(RuntimeError), optimizer.avoid_updating_slots():
        raise RuntimeError
    w = tf.Variable([1.0])
    step = optimizer.minimize(tf.reduce_sum(w))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        np.testing.assert_allclose(session.run(optimizer.get_slot(w, "accumulator")), [1.1])


def test_clipping_a_table_by_its_first_dimension_clips_all_of_it():
    table = tf.Variable([[3.0], [4.0]])
    optimizer = opt.VariableClippingOptimizer(tf.train.GradientDescentOptimizer(0.0), {table: [0]}, 1.0)
    step = optimizer.minimize(tf.reduce_sum(tf.gather(table, [1])))
    assert optimizer.get_slot_names() == []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        np.testing.assert_allclose(session.run(table), [[0.6], [0.8]], rtol=1e-6)


def test_ggt_steps_of_both_kinds_of_variables():
    """Recorded from TensorFlow 1.15.5."""
    reference = tf.Variable(np.array([1.0, 2.0]), name="a")
    resource = tf.Variable(np.array([[3.0], [4.0]]), name="b", use_resource=True)
    optimizer = opt.GGTOptimizer(0.01, window=2)
    step = optimizer.minimize(tf.reduce_sum(reference**2 * [1.0, 3.0]) + tf.reduce_sum(resource**3))
    expected = [
        [0.9996472089815995, 1.997883253889597, 2.995237321251595, 3.9915330155583875],
        [0.9989103896547022, 1.9938203546424813, 2.9885095333792466, 3.9817166254608702],
        [0.9982326503748963, 1.9902236683857997, 2.982654330655724, 3.9723736736877377],
        [0.9976576894465409, 1.9871003507767504, 2.9770866615499783, 3.9632942066842807],
    ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for values in expected:
            session.run(step)
            found = np.concatenate([np.ravel(v) for v in session.run([reference, resource])])
            np.testing.assert_allclose(found, values, rtol=1e-8)
    assert [v.name for v in optimizer.variables()] == ["flat_grad:0", "global_step:0", "grad_buffer:0", "moment1:0"]


def test_ggt_wants_dense_gradients():
    table = tf.get_variable("table", [4, 2])
    with pytest.raises(NotImplementedError, match=r"Sparse gradient updates are not supported\."):
        opt.GGTOptimizer().minimize(tf.reduce_sum(tf.gather(table, [0, 1])))
