"""Gradient tapes in the loops of graphs."""

import stillflow as tf


def test_a_variable_may_have_been_read_before_the_tape_begins():
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.get_variable("v", initializer=2.0, use_resource=True)

        def body(i, total):
            total += variable
            with tf.GradientTape() as tape:
                y = variable * variable * total
            return i + 1, total + tape.gradient(y, variable)

        total = tf.while_loop(lambda i, _: i < 2, body, [0, tf.constant(1.0)])[1]
        session.run(tf.global_variables_initializer())
        assert session.run(total) == 85.0
