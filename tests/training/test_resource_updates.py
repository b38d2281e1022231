"""Optimizers give resource variables the bits that they give reference variables."""

import numpy as np
import pytest

import stillflow as tf

OPTIMIZERS = {
    # Of a resource variable's rows TensorFlow takes the rate in their type, of others' in float32.
    "gradient_descent": lambda: tf.train.GradientDescentOptimizer(0.125),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "adagrad_da": lambda: tf.train.AdagradDAOptimizer(0.1, tf.Variable(np.int64(0), trainable=False)),
    "adadelta": lambda: tf.train.AdadeltaOptimizer(0.1),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
    "rms_prop": lambda: tf.train.RMSPropOptimizer(0.1, momentum=0.5),
    "centered_rms_prop": lambda: tf.train.RMSPropOptimizer(0.1, centered=True),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    "shrinking_ftrl": lambda: tf.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.1),
    "proximal_gradient_descent": lambda: tf.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.02),
    "proximal_adagrad": lambda: tf.train.ProximalAdagradOptimizer(0.1, 0.1, 0.01, 0.02),
}


def trained(make_optimizer, dtype, is_sparse, use_resource):
    generator = np.random.default_rng(1)
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(generator.standard_normal((5, 3)).astype(dtype), use_resource=use_resource)
        value = tf.gather(v, [3, 0, 3, 1]) if is_sparse else v
        loss = tf.reduce_sum(tf.square(value) * generator.standard_normal((1, 3)).astype(dtype))
        train = make_optimizer().minimize(loss)
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        return session.run(v)


# As in TensorFlow, these take their numbers in float32 only.
ONLY_FLOAT32 = ("proximal_gradient_descent", "proximal_adagrad")
CASES = [
    (name, dtype)
    for name in OPTIMIZERS
    for dtype in ((np.float32,) if name in ONLY_FLOAT32 else (np.float32, np.float64, np.float16))
]


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_both_kinds_of_variables_end_with_the_same_bits(name, dtype, is_sparse):
    reference, resource = (
        trained(OPTIMIZERS[name], dtype, is_sparse, use_resource) for use_resource in (False, True)
    )
    assert resource.dtype == dtype
    assert resource.tobytes() == reference.tobytes()


def test_slots_and_other_variables_are_of_the_same_kind():
    with tf.Graph().as_default():
        v = tf.Variable([1.0, 2.0], use_resource=True)
        optimizer = tf.train.AdamOptimizer()
        optimizer.minimize(tf.reduce_sum(tf.square(v)))
        assert [variable.op.type for variable in optimizer.variables()] == ["VarHandleOp"] * 4
        assert optimizer.get_slot(v, "m").shape.as_list() == [2]


def test_a_constraint_holds_after_each_step():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([0.5, 2.0], use_resource=True, constraint=lambda x: tf.clip_by_value(x, 0.0, 1.0))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(-tf.reduce_sum(v))
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_allclose(session.run(v), [0.6, 1.0])
        with pytest.raises(RuntimeError, match="Cannot use a constraint function on a sparse variable"):
            tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.gather(v, [0])))


def test_gradients_that_do_not_fit():
    with tf.Graph().as_default():
        v = tf.Variable([1.0, 2.0], use_resource=True)
        with pytest.raises(ValueError, match="Dimension"):
            tf.train.GradientDescentOptimizer(0.1).apply_gradients([(tf.constant([1.0, 2.0, 3.0]), v)])
        rows = tf.IndexedSlices(tf.ones([1]), tf.constant([7]))
        train = tf.train.AdagradOptimizer(0.1).apply_gradients([(rows, v)])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
                session.run(train)
