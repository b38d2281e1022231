"""What initializers of the weights of layers are called with."""

import stillflow as tf


def test_initializers_get_the_shape_that_was_asked_for(new_graph):
    """An integer alone is filled by three nodes, and so the seeds of what comes next are TensorFlow's."""
    shapes = []

    def initializer(shape, dtype=None):
        shapes.append(shape)
        return tf.zeros(shape, dtype)

    class Own(tf.keras.layers.Layer):
        def build(self, input_shape):
            for shape in (3, (2, 3), [2], tf.TensorShape([4]), None):
                self.add_weight(f"w{len(shapes)}", shape, initializer=initializer)

        def call(self, inputs):
            return inputs

    Own()(tf.zeros([1, 1]))
    assert shapes == [3, (2, 3), [2], tf.TensorShape([4]), ()]
    assert [type(shape) for shape in shapes] == [int, tuple, list, tf.TensorShape, tuple]
    nodes = [op.type for op in tf.get_default_graph().get_operations() if op.name.startswith("own/w0/Init")]
    assert nodes == ["Const", "Const", "Fill"]
