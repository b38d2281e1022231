"""Functions made by function.Defun: their definitions, calls and gradients."""

import importlib


def _defun(tf, *types, **settings):
    return importlib.import_module(tf.__name__ + ".python.framework.function").Defun(*types, **settings)


def two_results(tf):
    @_defun(tf, tf.float32, tf.float32, func_name="Both", out_names=["sum", "difference"])
    def both(x, y):
        """The sum and the difference."""
        return x + y, x - y

    return list(both(tf.constant([1.0, 2.0]), tf.constant([5.0, 3.0]), name="called"))


def gradient_of_a_call(tf):
    @_defun(tf, tf.float32, tf.float32, func_name="Cell")
    def cell(x, w):
        return tf.tanh(tf.matmul(x, w))

    x = tf.constant([[0.5, -1.0]])
    w = tf.constant([[0.25, 2.0], [1.5, -0.75]])
    y = cell(x, w)
    return [y, *tf.gradients(y * 3.0, [x, w])]


def gradient_given_as_a_function(tf):
    @_defun(tf, tf.float32, tf.float32, func_name="ClippedGradient")
    def clipped(x, dy):
        return tf.minimum(dy * 2.0 * x, 1.0)

    @_defun(tf, tf.float32, func_name="ClippedSquare", grad_func=clipped)
    def square(x):
        return x * x

    x = tf.constant([0.25, 4.0, -2.0])
    return [square(x), *tf.gradients(square(x), x)]


def gradient_given_in_python(tf):
    def gradient(op, dy):
        return dy * 100.0 + op.inputs[0]

    @_defun(tf, tf.float32, func_name="Odd", python_grad_func=gradient)
    def odd(x):
        return x * x * x

    x = tf.constant([1.0, 2.0])
    return [odd(x), *tf.gradients(odd(x), x)]


def captured_tensors_and_variables(tf):
    c = tf.constant([10.0, 20.0], name="c")

    @_defun(tf, tf.float32, func_name="Scaled")
    def scaled(x):
        w = tf.get_variable("w", [2], initializer=tf.constant_initializer([3.0, 4.0]), use_resource=True)
        return x * w + c

    x = tf.constant([1.0, 2.0])
    y = scaled(x)
    with tf.control_dependencies([tf.global_variables_initializer()]):
        started = tf.constant(1)
    return [started], [y, *tf.gradients(y, [x, c])]


def captured_by_value(tf):
    c = tf.constant([10.0, 20.0], name="c") * 2.0

    @_defun(tf, tf.float32, func_name="Shifted", capture_by_value=True)
    def shifted(x):
        return x + c

    return [shifted(tf.constant(1.0))]


def of_any_types(tf):
    @_defun(tf, func_name="Twice")
    def twice(x):
        return x + x

    return [twice(tf.constant([1, 2])), twice(tf.constant(1.5)), twice(tf.constant(2.5))]


def calls_in_calls(tf):
    @_defun(tf, tf.float32, func_name="Inner")
    def inner(x):
        return tf.exp(x) * x

    @_defun(tf, tf.float32, func_name="Outer", noinline=True)
    def outer(x):
        return inner(x) + inner(x * 2.0)

    x = tf.constant([0.5, 1.0])
    y = outer(x, noinline=True)
    return [y, *tf.gradients(y, x)]


def integers_beside_floats(tf):
    @_defun(tf, tf.float32, tf.int32, func_name="Picked")
    def picked(x, indices):
        return x * x, indices * 2

    x = tf.constant([1.0, 2.0, 3.0])
    y, doubled = picked(x, tf.constant([2, 0, 2]))
    return [y, doubled, *tf.gradients(y, x)]


def function_without_results(tf):
    @_defun(tf, tf.float32, func_name="Nothing")
    def nothing(x):
        tf.exp(x)

    with tf.control_dependencies([nothing(tf.constant(1.0))]):
        return [tf.constant(7)]
