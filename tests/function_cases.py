"""Graphs that call functions, as TensorFlow 1.15.5 makes them of tf.function, with values of several runs."""

import numpy as np


def _function(tf, body):
    return tf.function(body, autograph=False)


def captured_constant(tf):
    c = tf.constant([10.0, 20.0], name="c")
    return _function(tf, lambda x: x * c + 1.0)(tf.constant([1.0, 2.0]))


def nested(tf):
    inner = _function(tf, lambda x: x * 2.0)
    outer = _function(tf, lambda x, y: inner(x) + inner(y) * inner(tf.constant(3.0)))
    return outer(tf.constant(1.0), tf.constant(5.0))


def several_results(tf):
    a, b = _function(tf, lambda x: tf.split(x, 2))(tf.range(6))
    return a, b


def variable(tf):
    v = tf.Variable([1.0, 2.0], use_resource=True, name="v")
    return _function(tf, lambda x: v.read_value() + x)(tf.constant([5.0, 6.0]))


def updated_variable(tf):
    v = tf.Variable(1.0, use_resource=True, name="v")

    def update(x):
        before = v.read_value()
        v.assign_add(x)
        between = v.read_value()
        v.assign_add(2.0 * x)
        return tf.stack([before, between, v.read_value()])

    return _function(tf, update)(tf.constant(1.0))


def random_stream(tf):
    return _function(tf, lambda: tf.random_uniform([3], maxval=1000, dtype=tf.int32, seed=7))()


def branch(tf):
    def body(x):
        return tf.cond(x > 0.0, lambda: x * 10.0, lambda: x - 1.0)

    choose = _function(tf, body)
    return choose(tf.constant(3.0)), choose(tf.constant(-3.0))


def loop(tf):
    def body(n):
        return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), [tf.constant(0), tf.constant(0)])[1]

    return _function(tf, body)(tf.constant(10))


def strings(tf):
    return _function(tf, lambda x: tf.strings.join([x, x], "-"))(tf.constant([b"a", b"\xff\x00"]))


def called_by_name(tf):
    from tensorflow.python.framework import function

    @function.Defun(tf.float32, tf.float32)
    def inner(x, y):
        return x * y, x + y

    @function.Defun(tf.float32)
    def outer(x):
        product, noisy = inner(x, x + 1.0)
        return product + noisy

    return outer(tf.constant(2.0)), outer(tf.constant(3.0)), inner(tf.constant(1.0), tf.constant(5.0))[0]


CASES = {
    function.__name__: function
    for function in (
        captured_constant, nested, several_results, variable, updated_variable, random_stream, branch,
        loop, strings, called_by_name,
    )
}  # fmt: skip
RUNS = 3


def values(session, tensors, initializer):
    """{index of the run and of the tensor: value}."""
    found = {}
    if initializer is not None:
        session.run(initializer)
    for run in range(RUNS):
        for index, value in enumerate(session.run(tensors)):
            found[f"{run}.{index}"] = np.asarray(value, object if isinstance(value, bytes) else None)
    return found


def record(tf):
    """{name: GraphDef, name.fetches: names of tensors, name.run.index: value}; called with TensorFlow."""
    arrays = {}
    # Calls stay calls: TensorFlow's own optimizer would dissolve them.
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.do_function_inlining = False
    for name, function in CASES.items():
        with tf.Graph().as_default() as graph:
            tensors = function(tf)
            tensors = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
            initializer = tf.global_variables_initializer() if tf.global_variables() else None
            with tf.Session(config=config) as session:
                for key, value in values(session, tensors, initializer).items():
                    arrays[f"{name}.{key}"] = value
            arrays[name] = np.frombuffer(graph.as_graph_def().SerializeToString(), np.uint8)
            arrays[f"{name}.fetches"] = np.array([t.name for t in tensors])
            arrays[f"{name}.initializer"] = np.array("" if initializer is None else initializer.name)
    return arrays
