import stillflow as tf


def test_a_gradient_of_a_loop_may_wait_for_another_one():
    """TensorFlow 1.15.5's values; programs do this with two optimizers of a recurrent network."""
    x = tf.constant(2.0)

    def body(i, y):
        return [i + 1, tf.cond(y > 4.0, lambda: y * x, lambda: y + x)]

    _, result = tf.while_loop(lambda i, _: i < 3, body, [0, x])
    first = tf.gradients(result, x)
    with tf.control_dependencies(first):
        second = tf.gradients(result * result, x)
        third = tf.gradients(3 * result, x)
    with tf.Session() as session:
        assert session.run([first, second, third]) == [[12.0], [288.0], [36.0]]
