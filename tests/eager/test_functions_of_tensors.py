"""tf.function where operations are executed eagerly: traces, variables, gradients, effects."""

import numpy as np
import pytest

import stillflow as tf


def test_traces():
    traced = []

    @tf.function
    def scaled(x, k=1, **other):
        traced.append((str(x.shape) if isinstance(x, tf.Tensor) else x, k, sorted(other)))
        return [x * k, {"other": other.get("z")}]

    scaled(1.0)
    scaled(tf.constant([1.0, 2.0]), k=2)
    np.testing.assert_array_equal(scaled(tf.constant([3.0, 4.0]), 2)[0].numpy(), [6, 8])
    scaled(np.ones([2], np.float32), 2)
    scaled(tf.ones([3]))
    assert scaled(tf.ones([3]), z=tf.constant(5))[1]["other"].numpy() == 5
    assert traced == [(1.0, 1, []), ("(2,)", 2, []), ("(3,)", 1, []), ("(3,)", 1, ["z"])]


def test_signature_and_concrete_function():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int32)])
    def scaled(a, b):
        return tf.reduce_sum(a) * tf.cast(b, tf.float32)

    assert scaled([1.0, 2.0], 3).numpy() == 9
    with pytest.raises(ValueError, match="Python inputs incompatible with input_signature"):
        scaled(tf.constant([1, 2]), 3)
    with pytest.raises(TypeError, match="only pass arguments covered by it"):
        scaled(tf.constant([1.0]), 3, 4)
    concrete = scaled.get_concrete_function()
    assert concrete(a=tf.constant([1.0, 2.0]), b=tf.constant(2)).numpy() == 6
    assert concrete.structured_input_signature[0][0] == tf.TensorSpec([None], tf.float32, "a")
    assert (concrete.output_shapes.as_list(), concrete.output_dtypes) == ([], tf.float32)
    with pytest.raises(TypeError, match="Missing: "):
        concrete(tf.constant([1.0]))


def test_variables_are_made_once():
    class Layer:
        weight = None

        @tf.function
        def __call__(self, x):
            if self.weight is None:
                self.weight = tf.Variable(tf.ones([2]) * 3, name="weight")
            return self.weight * x

    first, second = Layer(), Layer()
    np.testing.assert_array_equal(first(tf.constant(2.0)).numpy(), [6, 6])
    second(tf.constant(1.0))
    first.weight.assign([1.0, 2.0])
    np.testing.assert_array_equal(first(tf.constant(2.0)).numpy(), [2, 4])
    np.testing.assert_array_equal(second.weight.numpy(), [3, 3])

    made: list = []

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def with_value(x):
        if not made:
            made.append(tf.Variable(x))
        return made[0] + 1

    np.testing.assert_array_equal(with_value([1, 2, 3]).numpy(), [2, 3, 4])
    made[0].assign([1, 2, 3, 4])
    assert made.pop().shape.as_list() == [None]

    @tf.function
    def anew():
        made.append(tf.Variable(1.0))
        return made[-1].read_value()

    with pytest.raises(ValueError, match="tried to create variables on non-first call"):
        anew()


def test_gradients():
    weight = tf.Variable(3.0)
    square = tf.function(lambda x: x * x)
    scaled = tf.function(lambda x: x * weight)
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = scaled(square(square(x)))
        first = inner.gradient(y, x)
    np.testing.assert_array_equal(first.numpy(), [12, 96])
    np.testing.assert_array_equal(outer.gradient(first, x).numpy(), [36, 144])
    np.testing.assert_array_equal(outer.gradient(y, weight).numpy(), 17)


def test_gradient_uses_the_random_numbers_of_the_call():
    drop = tf.function(lambda x: tf.nn.dropout(x, rate=0.5) * x)
    x = tf.ones([20])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = drop(x)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy() != 0, y.numpy() != 0)


def _power(x):
    y = x
    for _ in tf.range(3):
        if x > 0:
            y = y * x
    return y


def test_gradients_through_loops_and_branches():
    x = tf.constant(2.0)
    power = tf.function(_power)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(lambda x: power(x) + power(2 * x))(x)
    assert (y.numpy(), tape.gradient(y, x).numpy()) == (272, 544)

    @tf.function
    def inside(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = _power(x)
        return tape.gradient(y, x)

    assert inside(x).numpy() == 32


def test_gradients_of_rows_that_a_branch_picks_from_a_variable():
    v = tf.Variable([[1.0], [2.0], [3.0]])

    @tf.function
    def rows(p):
        return tf.gradients(tf.cond(p, lambda: v.sparse_read([2, 0]), lambda: tf.zeros([2, 1])), v)[0]

    slices = rows(tf.constant(True))
    assert (slices.indices.numpy().tolist(), slices.values.numpy().tolist()) == ([2, 0], [[1], [1]])


def test_gradient_that_would_draw_anew_is_refused():
    @tf.function
    def noisy(x):
        for _ in tf.range(2):
            x = x * tf.random_uniform([])
        return x

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = noisy(x)
    with pytest.raises(NotImplementedError, match="inside of a loop or a branch"):
        tape.gradient(y, x)


def test_sparse_gradient_and_effects():
    table = tf.Variable(tf.ones([4, 2]))

    @tf.function
    def looked_up(ids):
        return tf.reduce_sum(tf.nn.embedding_lookup(table, ids))

    with tf.GradientTape() as tape:
        total = looked_up(tf.constant([1, 1]))
    gradient = tape.gradient(total, table)
    assert isinstance(gradient, tf.IndexedSlices)
    np.testing.assert_array_equal(gradient.indices.numpy(), [1, 1])

    @tf.function
    def train(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(table * table * x)
        table.assign_sub(0.25 * tape.gradient(loss, table))
        return loss, table.read_value()

    loss, value = train(tf.constant(1.0))
    assert loss.numpy() == 8
    np.testing.assert_array_equal(value.numpy(), np.full([4, 2], 0.5, np.float32))


@pytest.mark.parametrize(
    "function, args, error, message",
    [
        (lambda x: object(), [1.0], TypeError, "Python functions must return zero or more Tensors"),
        (lambda x: 1, [{1}], TypeError, "must be hashable"),
        (lambda x: x.append(1), [[2]], ValueError, "should not modify structure of input arguments"),
        (lambda x: tf.matmul(x, x), [np.ones([2, 3])], ValueError, "Dimensions must be equal"),
    ],
)
def test_errors(function, args, error, message):
    with pytest.raises(error, match=message):
        tf.function(function)(*args)


def test_python_function_as_it_is():
    seen = []

    @tf.function
    def watched(x):
        seen.append(tf.executing_eagerly())
        return x

    tf.config.experimental_run_functions_eagerly(True)
    try:
        watched(tf.constant(1))
    finally:
        tf.config.experimental_run_functions_eagerly(False)
    watched(tf.constant(1))
    assert seen == [True, False]


def test_variables_are_changed_in_nested_branches():
    scale, count = tf.Variable(4.0), tf.Variable(0)

    def rise():
        return tf.group(tf.cond(scale < 10, lambda: scale.assign(scale * 2).op, tf.no_op), count.assign(0))

    @tf.contrib.eager.defun
    def step(x):
        return tf.cond(
            x > 0,
            lambda: tf.cond(count + 1 >= 2, rise, lambda: count.assign_add(1).op),
            lambda: tf.group(count.assign(0), scale.assign(1.0)),
        )

    values = []
    for x in (1.0, 1.0, 1.0, -1.0):
        step(tf.constant(x))
        values.append((scale.numpy(), count.numpy()))
    assert values == [(4, 1), (8, 0), (8, 1), (1, 0)]


@pytest.mark.parametrize("size", [2, 20], ids=["kept as a constant", "an argument"])
def test_gradients_by_values_from_outside(size):
    value, variable = tf.ones([size, size]), tf.Variable(tf.ones([size, size]))

    @tf.function
    def derivatives(stop):
        y = tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, y * tf.reduce_sum(value * variable)), [0, 1.0])[1]
        return tf.gradients(y, [value, variable], stop_gradients=[variable] if stop else None)

    for stop in (False, True):
        by_value, by_variable = derivatives(stop)
        np.testing.assert_array_equal(by_value.numpy(), np.full([size, size], 2.0 * size**2))
        np.testing.assert_array_equal(by_variable.numpy(), by_value.numpy())


def test_a_training_loop_over_a_data_set():
    tf.set_random_seed(1)
    layer, optimizer = tf.keras.layers.Dense(2), tf.keras.optimizers.Adam()
    pairs = tf.data.Dataset.from_tensors((tf.ones([7]), tf.ones([], tf.int32))).repeat(10).batch(4)

    @tf.function
    def train():
        for x, y in pairs:
            with tf.GradientTape() as tape:
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=layer(x), labels=y)
                loss = tf.reduce_mean(losses)
            weights = layer.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))

    train()
    assert optimizer.iterations.numpy() == 3
    np.testing.assert_allclose(layer.bias.numpy(), [-0.002999178832, 0.002999178832], rtol=1e-6)


def test_tapes_in_functions_of_data_sets():
    value, variable = tf.constant(5.0), tf.Variable(2.0)

    def by_both(x):
        with tf.GradientTape() as tape:
            tape.watch(value)
            y = x * value * value * variable
        return tf.stack(tape.gradient(y, [value, variable]))

    found = [each.numpy().tolist() for each in tf.data.Dataset.from_tensor_slices([1.0, 2.0]).map(by_both)]
    assert found == [[20.0, 25.0], [40.0, 50.0]]

    @tf.function
    def total():
        found = tf.constant(0.0)
        for x in tf.data.Dataset.range(4):
            if x > 1:
                found += by_both(tf.cast(x, tf.float32))[1]
        return found

    assert total().numpy() == 125.0


def test_variables_are_shown_without_values_in_functions():
    variable, shown = tf.Variable(2.0, name="v"), []
    tf.function(lambda: shown.append(repr(variable)))()
    assert shown == ["<tf.Variable 'v:0' shape=() dtype=float32>"]


def test_custom_gradients_in_functions_get_the_variables():
    layer, x = tf.keras.layers.Dense(2, kernel_initializer="ones"), tf.constant([[1.0, 2.0]])

    @tf.custom_gradient
    def custom(x):
        def gradient(dy, variables=None):
            return 7.0 * dy, [5.0 * tf.ones_like(variable) for variable in variables]

        return layer(x), gradient

    for function in (custom, tf.function(custom)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        by_x, by_kernel, by_bias = tape.gradient(y, [x, *layer.weights])
        np.testing.assert_array_equal(by_x.numpy(), [[7.0, 7.0]])
        np.testing.assert_array_equal(by_kernel.numpy(), np.full([2, 2], 5.0))
        np.testing.assert_array_equal(by_bias.numpy(), [5.0, 5.0])


def test_ranges_are_arguments():
    assert tf.function(lambda numbers: tf.reduce_sum(tf.constant(list(numbers))))(range(5)).numpy() == 10


def test_tapes_in_loops_and_branches_that_have_read_what_they_watch():
    variable, value = tf.Variable(2.0), tf.constant(3.0)

    @tf.function
    def total():
        found = tf.constant(0.0)
        for i in tf.range(3):
            found += variable * 2.0 + value
            if i > 0:
                found += value * variable
                with tf.GradientTape() as tape:
                    tape.watch(value)
                    y = variable * variable * value * tf.cast(i, tf.float32)
                found += tf.add_n(tape.gradient(y, [variable, value]))
        return found

    assert total().numpy() == 3 * (4.0 + 3.0) + 2 * 6.0 + (1 + 2) * (12.0 + 4.0)
