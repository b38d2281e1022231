"""The passes of the plan: which steps are left, and that they give the same bits as the whole graph."""

import re

import numpy as np
import pytest

import stillflow as tf


@pytest.fixture
def session(new_graph):
    with tf.Session(graph=new_graph) as session:
        yield session


def plan(session, fetches, feed_dict=None):
    """The listing of the plan that runs for the fetches."""
    known = {id(p) for request in session._requests.values() for p in request.plans}
    session.run(fetches, feed_dict)
    (new,) = [p for request in session._requests.values() for p in request.plans if id(p) not in known]
    return new.text


def steps(session, fetches, feed_dict=None):
    """The names of the plan's steps."""
    return re.findall(r"^ *\d+  (\S+)", plan(session, fetches, feed_dict), re.MULTILINE)


def programs(session, fetches, feed_dict=None):
    """What each fused step does: lists of operation names."""
    lines = re.findall(r"^       (.*) \| \d+$", plan(session, fetches, feed_dict), re.MULTILINE)
    return [[instruction.split()[0] for instruction in line.split(";")] for line in lines]


def assert_fusion_keeps_bits(session, output, inner, feed_dict=None):
    """The output alone has the same bits as when all inner tensors are fetched with it."""
    alone = session.run(output, feed_dict)
    together = session.run([output, *inner], feed_dict)[0]
    assert alone.tobytes() == together.tobytes()


X = np.linspace(-2, 2, 5001, dtype=np.float32)


# ---- prune --------------------------------------------------------------------------------------------------


def test_only_what_is_needed_runs(session):
    x = tf.placeholder(tf.float32, [3])
    needed = tf.reduce_sum(x)
    tf.matmul(tf.reshape(x, [3, 1]), tf.reshape(x, [1, 3]))
    assert steps(session, needed, {x: [1, 2, 3]}) == ["reduce"]


def test_a_fed_tensor_cuts_off_what_it_was_made_from(session):
    x = tf.placeholder(tf.float32, [3])
    y = tf.cumsum(x)
    total = tf.reduce_sum(y)
    assert steps(session, total, {y: [1, 2, 3]}) == ["reduce"]
    assert session.run(total, {y: [1, 2, 3]}) == 6


def test_control_dependencies_are_needed_too(session):
    w = tf.Variable([0.0])
    session.run(w.initializer)
    x = tf.placeholder(tf.float32, [1])
    with tf.control_dependencies([tf.assign_add(w, [1.0])]):
        y = tf.identity(x)
    assert "assign_add" in steps(session, y, {x: [1]})
    assert session.run(w) == [1]


def test_order_is_that_of_creation_where_nothing_else_says(session):
    w = tf.Variable(1.0)
    session.run(w.initializer)
    double, add = tf.assign(w, w * 2.0), tf.assign_add(w, 3.0)
    session.run([add.op, double.op])
    assert session.run(w) == 5  # 1 * 2 + 3


def test_cycles_are_reported(session, new_graph):
    a = tf.identity(tf.constant(1.0), name="a")
    b = tf.identity(a, name="b")
    a.op._control_inputs.append(b.op)
    with pytest.raises(tf.errors.InvalidArgumentError, match="contains a cycle with 2 nodes"):
        session.run(b)


# ---- lift ---------------------------------------------------------------------------------------------------


def test_shapes_follow_from_what_is_fed(session):
    x = tf.placeholder(tf.float32)
    y = tf.reshape(x, [-1]) * tf.cast(tf.size(x) if hasattr(tf, "size") else 6, tf.float32)
    assert ":float32[6]" in plan(session, y, {x: np.ones((2, 3))})


def test_reshapes_to_sizes_that_are_fed_are_checked(session):
    x, size = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.int32, [])
    for result in (tf.reshape(x, [size]), tf.reshape(tf.reshape(x, [size]), [3])):
        assert session.run(result, {x: [1, 2, 3], size: 3}).tolist() == [1, 2, 3]
        with pytest.raises(tf.errors.InvalidArgumentError, match="with 3 values, but the requested shape has 1"):
            session.run(result, {x: [1, 2, 3], size: 1})


def test_a_fetched_variable_is_read_last(session):
    w = tf.Variable([1.0])
    session.run(w.initializer)
    assert steps(session, [w, tf.assign_add(w, [1.0]).op]) == ["assign_add", "read_variable"]


# ---- simplify -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "build",
    [
        tf.identity,
        tf.stop_gradient,
        lambda x: tf.reshape(x, [3, 4]),
        lambda x: x * 1.0,
        lambda x: 1.0 * x,
        lambda x: x / 1.0,
        lambda x: x * tf.ones([3, 4]),
        lambda x: tf.reduce_sum(x, []),
        lambda x: tf.tile(x, [1, 1]),
        lambda x: tf.squeeze(tf.expand_dims(x, 1), 1),
        lambda x: tf.cast(tf.identity(x), tf.float32),
    ],
)
def test_what_changes_nothing_takes_no_step(session, build):
    x = tf.placeholder(tf.float32, [3, 4])
    values = np.array([[-0.0, 0.0, np.nan, np.inf]] * 3, np.float32)
    y = build(tf.sqrt(x))
    assert len(steps(session, y, {x: values})) <= 2
    expected = session.run(tf.sqrt(x), {x: values})
    assert session.run(y, {x: values}).tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "build",
    [lambda x: x + 0.0, lambda x: x - 0.0, lambda x: x * 0.0, lambda x: 0.0 + x, lambda x: 0.0 - x, tf.negative],
)
def test_what_changes_a_bit_stays(session, build):
    x = tf.placeholder(tf.float32, [4])
    y = build(x)
    values = np.array([-0.0, 0.0, np.nan, np.inf], np.float32)
    assert steps(session, y, {x: values}) == ["elementwise"]
    with np.errstate(invalid="ignore"):
        expected = {"add": values + 0, "sub": values - 0, "mul": values * 0, "Neg": -values}
    name = y.op.name
    if name in expected and name != "sub":
        np.testing.assert_array_equal(np.signbit(session.run(y, {x: values})[:2]), np.signbit(expected[name][:2]))


def test_reads_are_shared_until_something_is_written(session):
    w = tf.Variable([1.0, 2.0])
    session.run(w.initializer)
    reads = [w.read_value() + 0.0, w.read_value() * 3.0]
    with tf.control_dependencies(reads):
        update = tf.assign_add(w, [1.0, 1.0])
    with tf.control_dependencies([update]):
        after = w.read_value() * 5.0
    names = steps(session, [*reads, after])
    assert names.count("read_variable") == 2
    first, _, last = session.run([*reads, after])
    assert (last == (first + 1) * 5).all()


# ---- merge --------------------------------------------------------------------------------------------------


def test_equal_nodes_become_one(session):
    x = tf.placeholder(tf.float32, [3, 3])
    product = tf.matmul(x, x)
    again = tf.matmul(tf.identity(x), x)
    other = tf.matmul(x, x, transpose_a=True)
    names = steps(session, [product, again, other], {x: np.eye(3)})
    assert names == ["matmul", "matmul"]


def test_random_and_stateful_nodes_are_not_merged(session):
    a, b = tf.random_uniform([4], seed=1), tf.random_uniform([4], seed=1)
    assert steps(session, [a, b]).count("random_uniform") == 2
    w = tf.Variable(0.0)
    session.run(w.initializer)
    session.run([tf.assign_add(w, 1.0), tf.assign_add(w, 1.0)])
    assert session.run(w) == 2


def test_constants_that_differ_in_a_zero_s_sign_are_not_merged(session):
    x = tf.placeholder(tf.float32, [2])
    plus, minus = x / tf.constant(0.0), x / tf.constant(-0.0)
    values = session.run([plus, minus], {x: [1, 1]})
    assert values[0][0] == np.inf and values[1][0] == -np.inf


# ---- uniform and fold ---------------------------------------------------------------------------------------


def test_constants_are_folded(session):
    x = tf.placeholder(tf.float32, [2, 2])
    c = tf.matmul(tf.constant([[1.0, 2], [3, 4]]), tf.constant([[1.0, 0], [1, 1]]))
    y = x * tf.sqrt(tf.exp(c))
    assert programs(session, y, {x: np.ones((2, 2))}) == [["mul"]]
    np.testing.assert_allclose(session.run(y, {x: np.ones((2, 2))}), np.sqrt(np.exp([[3, 2], [7, 4]])), rtol=1e-6)


def test_large_uniform_values_stay_small(session):
    """Zeros of any size, and what is computed from them, are one number."""
    x = tf.placeholder(tf.float32, [1000, 1000])
    y = x + tf.exp(tf.transpose(tf.zeros([1000, 1000]))) * tf.fill([1000, 1000], 3.0)
    text = plan(session, y, {x: np.zeros((1000, 1000))})
    assert re.search(r"elementwise  \S+ 3\.0 ", text)
    assert np.all(session.run(y, {x: np.zeros((1000, 1000))}) == 3)


def test_parts_that_uniform_values_do_not_have_are_refused(session):
    ones = tf.ones([3, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected begin\[1\] in \[0, 2\], but got 4"):
        session.run(tf.slice(ones, [0, 4], [1, 1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected size\[1\] in \[0, 1\], but got 4"):
        session.run(tf.slice(ones, [0, 1], [1, 4]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="1 is missing from"):
        session.run(tf.transpose(ones, [0, 0]))
    assert session.run(tf.slice(ones, [1, 2], [-1, 0])).shape == (2, 0)


def test_products_of_uniform_matrices_are_one_number(session):
    y = tf.matmul(tf.ones([500, 3]), tf.fill([700, 3], 2.0), transpose_b=True)
    assert np.all(session.run(y) == 6) and session.run(y).shape == (500, 700)


def test_what_fails_while_folding_fails_when_it_runs(session):
    y = tf.constant([5, 6]) // tf.constant([1, 0])
    z = tf.identity(y, name="z")
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero") as caught:
            session.run(z)
        assert caught.value.op is y.op


def test_folded_values_are_those_of_the_kernels(session, rng):
    """Folded, fed, and as part of a larger step."""
    values = rng.standard_normal(300).astype(np.float32)
    x = tf.placeholder(tf.float32, [300])
    for build in (tf.exp, tf.tanh, tf.reduce_sum, tf.cumsum, lambda t: tf.reduce_mean(tf.sigmoid(t) / 3.0)):
        folded = session.run(build(tf.constant(values)))
        assert folded.tobytes() == session.run(build(x), {x: values}).tobytes()


# ---- elementwise fusion -------------------------------------------------------------------------------------


def test_a_chain_becomes_one_step(session):
    x = tf.placeholder(tf.float32, [None])
    a = tf.exp(x)
    b = a * x + 1.0
    c = tf.sqrt(tf.abs(b)) - x
    assert programs(session, c, {x: X}) == [["exp", "mul", "add", "abs", "sqrt", "sub"]]
    assert_fusion_keeps_bits(session, c, [a, b], {x: X})


def test_a_fetched_inner_tensor_ends_a_chain(session):
    x = tf.placeholder(tf.float32, [None])
    a = tf.exp(x)
    b = a + 1.0
    assert programs(session, [a, b], {x: X}) == [["exp"], ["add"]]


def test_a_fed_inner_tensor_is_used(session):
    x = tf.placeholder(tf.float32, [3])
    a = tf.exp(x)
    b = a + 1.0
    assert programs(session, b, {a: [1, 2, 3]}) == [["add"]]
    assert session.run(b, {a: [1, 2, 3]}).tolist() == [2, 3, 4]


def test_what_two_others_read_is_computed_once(session):
    x = tf.placeholder(tf.float32, [4])
    a = tf.exp(x)
    b, c = tf.reduce_sum(a * 2.0), tf.reduce_sum(a * 3.0)
    assert sum(names.count("exp") for names in programs(session, [b, c], {x: [1, 2, 3, 4]})) == 1


def test_a_value_read_twice_by_one_chain_is_fused(session):
    x = tf.placeholder(tf.float32, [None])
    a = tf.tanh(x)
    b = a * a - a
    assert programs(session, b, {x: X}) == [["tanh", "mul", "sub"]]
    assert_fusion_keeps_bits(session, b, [a], {x: X})


def test_a_smaller_operand_is_not_computed_again_for_each_row(session):
    x, y = tf.placeholder(tf.float32, [100]), tf.placeholder(tf.float32, [50, 100])
    z = y + tf.exp(x)
    feeds = {x: np.ones(100), y: np.ones((50, 100))}
    assert programs(session, z, feeds) == [["exp"], ["add"]]


def test_types_change_within_a_chain(session):
    x = tf.placeholder(tf.int32, [None])
    a = tf.cast(x, tf.float64) / 7.0
    b = tf.cast(tf.where(a > 3.0, a, -a), tf.float32)
    values = np.arange(-3000, 3000, dtype=np.int32)
    assert len(programs(session, b, {x: values})) == 1
    assert_fusion_keeps_bits(session, b, [a], {x: values})
    wide = values / 7.0
    np.testing.assert_array_equal(session.run(b, {x: values}), np.where(wide > 3, wide, -wide).astype(np.float32))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_round_between_the_steps_of_a_chain(session, dtype):
    x = tf.placeholder(dtype, [None])
    a = x * x
    b = a + x
    c = b / a
    values = (np.arange(1, 3000) / 7).astype(tf.as_dtype(dtype).as_numpy_dtype)
    assert len(programs(session, c, {x: values})) == 1
    assert_fusion_keeps_bits(session, c, [a, b], {x: values})


def test_very_long_chains_are_cut(session):
    x = y = tf.placeholder(tf.float32, [None])
    inner = []
    for i in range(1200):
        y = y * 1.0001 + float(i % 3)
        inner.append(y)
    values = X[:100]
    assert 1 < len(programs(session, y, {x: values})) < 10
    assert_fusion_keeps_bits(session, y, inner, {x: values})


def test_many_inputs_are_cut(session):
    inputs = [tf.placeholder(tf.float32, [10]) for _ in range(150)]
    y = inputs[0]
    for x in inputs[1:]:
        y = y * x
    feeds = {x: np.full(10, 1 + i / 1000) for i, x in enumerate(inputs)}
    expected = np.float32(1)
    for i in range(150):
        expected = np.float32(expected * np.float32(1 + i / 1000))
    assert np.all(session.run(y, feeds) == expected)


def test_an_error_in_a_chain_names_its_node(session):
    x, y = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
    quotient = tf.floordiv(x + 1, y, name="quotient")
    z = quotient * 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero") as caught:
        session.run(z, {x: [1, 2], y: [1, 0]})
    assert caught.value.op is quotient.op
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[3\] vs. \[2\]") as caught:
        session.run(z, {x: [1, 2, 3], y: [1, 1]})
    assert caught.value.op is quotient.op


def test_random_expressions_have_the_same_bits_fused_or_not(session, rng):
    unary = [tf.exp, tf.tanh, tf.abs, tf.square, tf.negative, tf.sigmoid, lambda t: tf.sqrt(tf.abs(t)), tf.nn.relu]
    binary = [tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum, tf.squared_difference]
    x, y, s = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [])
    feeds = {x: X, y: X[::-1], s: 0.7}
    for _ in range(15):
        values = [x, y, s * x]
        for _ in range(12):
            if rng.integers(2):
                values.append(unary[rng.integers(len(unary))](values[rng.integers(len(values))]))
            else:
                a, b = (values[i] for i in rng.integers(0, len(values), 2))
                values.append(tf.sigmoid(binary[rng.integers(len(binary))](a, b)))
        assert_fusion_keeps_bits(session, values[-1], values[2:-1], feeds)


# ---- emit ---------------------------------------------------------------------------------------------------


def test_buffers_are_taken_over_only_from_the_last_reader(session):
    """A value that something else still needs is not overwritten."""
    x = tf.placeholder(tf.float32, [1000])
    a = tf.cumsum(x)
    b = tf.exp(-a)
    c = tf.reduce_sum(a) + tf.reduce_sum(b)
    values = np.full(1000, 0.01, np.float32)
    for _ in range(3):
        fetched = session.run([a, b, c], {x: values})
        np.testing.assert_allclose(fetched[0], np.cumsum(values), rtol=1e-4)
        np.testing.assert_allclose(fetched[1], np.exp(-fetched[0]), rtol=1e-6)
        assert np.all(values == np.float32(0.01))


def test_a_node_that_reads_a_value_twice(session):
    x = tf.placeholder(tf.float32, [40, 40])
    a = tf.exp(x)
    y = tf.matmul(a, a) + tf.add_n([a, a, a])
    values = np.full((40, 40), 0.5, np.float32)
    e = np.exp(np.float32(0.5))
    np.testing.assert_allclose(session.run(y, {x: values}), np.full((40, 40), 40 * e * e + 3 * e), rtol=1e-5)


def test_fetching_feeds_constants_and_the_same_tensor_twice(session):
    x, c = tf.placeholder(tf.float32, [2]), tf.constant([5.0, 6.0])
    y = x + c
    values = session.run([x, c, y, y, x], {x: [1, 2]})
    assert [value.tolist() for value in values] == [[1, 2], [5, 6], [6, 8], [6, 8], [1, 2]]


def test_folded_strings_keep_their_zeros(session):
    assert session.run(tf.constant(b"a") + tf.constant(b"\0")) == b"a\0"
