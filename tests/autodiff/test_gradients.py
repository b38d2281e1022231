"""tf.gradients, tf.hessians and tf.custom_gradient: mistakes and values that no recorded graph covers."""

import numpy as np
import pytest

import stillflow as tf


def run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda x: tf.gradients(x, x, grad_ys=[x, x]), ValueError, "Passed 2 grad_ys for 1 ys"),
        (lambda x: tf.gradients(x, x, unconnected_gradients="no"), ValueError,
         "Unknown value for unconnected_gradients: 'no'"),
        (lambda x: tf.gradients(x, x, grad_ys=tf.constant("a")), TypeError, "must be real or integer"),
        (lambda x: tf.gradients(tf.square(x), x, grad_ys=[[1.0, 2.0, 3.0]]), ValueError,
         "Dimensions must be equal, but are 3 and 2"),
        (lambda x: tf.gradients(x, None), AttributeError, "no attribute .op"),
        (lambda x: tf.RegisterGradient(5), TypeError, "op_type must be a string"),
        (lambda x: tf.NoGradient(5), TypeError, "op_type must be a string"),
        (lambda x: tf.NotDifferentiable("MatMul"), KeyError, "Registering two gradient with name 'MatMul'"),
    ],
)  # fmt: skip
def test_mistakes(build, error, message, new_graph):
    with pytest.raises(error, match=message):
        build(tf.constant([1.0, 2.0]))


def test_hessians(new_graph):
    x = tf.constant([1.0, 2.0, 3.0])
    m = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    w = np.array([[1, 2, 0], [0, 3, 1], [2, 0, 1]], np.float32)
    y = tf.reduce_sum(tf.square(tf.tensordot(tf.constant(w), x, 1))) + tf.reduce_sum(m * m * m)
    of_x, of_m = tf.hessians(y, [x, m])
    assert of_x.shape == [3, 3]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(of_x), 2 * w.T @ w)
        expected = np.zeros((2, 2, 2, 2))
        for i in range(2):
            for j in range(2):
                expected[i, j, i, j] = 6 * (2 * i + j + 1)
        np.testing.assert_allclose(session.run(of_m), expected)


def test_hessians_of_scalars_empty_and_linear_functions(new_graph):
    x, e = tf.constant(3.0), tf.zeros([0])
    assert run(tf.hessians(tf.exp(x), x))[0].shape == ()
    np.testing.assert_allclose(run(tf.hessians(x * x * x, x)), [18])
    assert run(tf.hessians(tf.reduce_sum(tf.square(e)), e))[0].shape == (0, 0)
    v = tf.constant([1.0, 2.0])
    np.testing.assert_array_equal(run(tf.hessians(tf.reduce_sum(v * 3.0), v))[0], np.zeros((2, 2)))
    with pytest.raises(ValueError, match="None values not supported"):
        tf.hessians(tf.constant(1.0), v)
    p = tf.placeholder_with_default(v, [None])
    np.testing.assert_array_equal(run(tf.hessians(tf.reduce_sum(p * p), p))[0], 2 * np.eye(2))


def test_custom_gradients(new_graph):
    @tf.custom_gradient
    def two(a, b):
        """What it says."""
        return [tf.multiply(a, b, name="r1"), tf.add(a, b, name="r2")], lambda da, db: (da * 2.0, db * 3.0)

    assert (two.__name__, two.__doc__) == ("two", "What it says.")
    x = tf.constant(5.0, name="x")
    results = two(x, 4.0)
    assert isinstance(results, list)
    nodes = [(n.name, n.op, list(n.input)) for n in new_graph.as_graph_def().node]
    assert nodes == [
        ("x", "Const", []),
        ("Const", "Const", []),
        ("r1", "Mul", ["x", "Const"]),
        ("r2", "Add", ["x", "Const"]),
        ("Identity", "Identity", ["r1"]),
        ("Identity_1", "Identity", ["r2"]),
        ("IdentityN", "IdentityN", ["r1", "r2", "x", "Const"]),
    ]
    values, gradient = run([results, tf.gradients(results[0] * 7.0, x)])
    assert values == [20, 9]
    assert gradient == [14]
    single = tf.custom_gradient(lambda x: (x, lambda dy: dy * 5.0))
    np.testing.assert_allclose(run(tf.gradients(tf.square(single(x)), x)), [50])


def test_a_custom_gradient_may_have_one_of_its_own(new_graph):
    @tf.custom_gradient
    def cube(x):
        @tf.custom_gradient
        def gradient(dy):
            return dy * 3.0 * tf.square(x), lambda ddy: ddy * 7.0

        return x**3, gradient

    x = tf.constant(2.0)
    (first,) = tf.gradients(cube(x), x)
    seed = tf.constant(1.0)
    (again,) = tf.gradients(tf.gradients(cube(x), x, grad_ys=seed), seed)
    assert run([first, again]) == [12.0, 7.0]


def test_mistakes_with_custom_gradients(new_graph):
    x = tf.constant(1.0)
    wrong = tf.custom_gradient(lambda x: (x * 2.0, lambda dy: (dy, dy)))
    with pytest.raises(ValueError, match="(?s)Num gradients 3 generated for op .* do not match num inputs 2"):
        tf.gradients(wrong(x), x)
    with pytest.raises(ValueError, match="supports keywords arguments only when eager"):
        wrong(x=x)
    nothing = tf.custom_gradient(lambda x: (x * 2.0, lambda dy: None))
    assert tf.gradients(nothing(x), x) == [None]

    @tf.custom_gradient
    def with_a_variable(x):
        return x * tf.get_variable("w", []), lambda dy: dy

    with pytest.raises(TypeError, match="All variables used by a function wrapped with @custom_gradient"):
        with_a_variable(x)


def test_ops_of_which_tensorflow_has_no_gradient(new_graph):
    x, variable = tf.ones([2]), tf.Variable([1.0, 2.0])
    for source, y in (
        (x, tf.truncatemod(x, 2.0)),
        (x, tf.parallel_stack([x, x])),
        (variable, tf.scatter_update(variable, [0], [2.0]) * 2),
        (variable, variable[:1].assign([2.0]) * 2),
    ):
        with pytest.raises(LookupError, match="No gradient defined for operation"):
            tf.gradients(y, source)
    assert tf.gradients(tf.scatter_add(variable, [0], [2.0]), variable) == [None]


def test_gradients_in_parts_pass_sums_and_products(new_graph):
    table = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for build in (lambda: table * 3.0, lambda: 1.0 + table * table, lambda: table - table / 2.0, lambda: table**2.0):
        parts, whole = tf.gather(build(), [0, 0, 2]), build()
        by_parts, by_whole = (
            tf.gradients(parts, table)[0],
            tf.gradients(whole, table, [[[2.0] * 2, [0.0] * 2, [1.0] * 2]])[0],
        )
        with tf.Session() as session:
            np.testing.assert_allclose(*session.run([tf.convert_to_tensor(by_parts), by_whole]))
