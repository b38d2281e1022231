"""tf.contrib.learn.models and ops: regressions and tables of words."""

import numpy as np
import pytest

import stillflow as tf

learn = tf.contrib.learn


def test_a_linear_regression_of_zeros(new_graph):
    x, y = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1.0, 3.0])
    predictions, loss = learn.models.linear_regression_zero_init(x, y)
    assert [v.op.name for v in tf.global_variables()] == ["linear_regression/weights", "linear_regression/bias"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(predictions).tolist() == [0.0, 0.0]
        assert session.run(loss) == 5.0
    assert len(tf.get_collection(tf.GraphKeys.SUMMARIES)) == 4


def test_a_logistic_regression_learns(new_graph):
    tf.set_random_seed(1)
    x = np.random.RandomState(0).rand(50, 2).astype(np.float32)
    labels = np.eye(2, dtype=np.float32)[(x[:, 0] > x[:, 1]).astype(int)]
    probabilities, loss = learn.models.logistic_regression(tf.constant(x), tf.constant(labels))
    train = tf.train.GradientDescentOptimizer(2.0).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(200):
            session.run(train)
        found = session.run(probabilities)
    assert (found.argmax(1) == labels.argmax(1)).mean() > 0.95


@pytest.mark.parametrize("shape", [[3], [2, 3]])
def test_rows_of_a_table(shape, new_graph):
    ids = tf.constant(np.arange(np.prod(shape)).reshape(shape) % 4)
    found = learn.ops.categorical_variable(ids, 4, 5, "words")
    assert found.shape.as_list() == [*shape, 5]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        table, rows = session.run([tf.global_variables()[0], found])
    np.testing.assert_array_equal(rows, table[np.arange(np.prod(shape)).reshape(shape) % 4])
