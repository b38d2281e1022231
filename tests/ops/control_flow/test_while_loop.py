"""while_loop as a function: arguments, errors, contexts as messages; TensorArrays; loops over parts of tensors."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.ops.control_flow.while_context import WhileContext
from stillflow.testing import assert_same_bits, check_gradient

BAD = tf.errors.InvalidArgumentError


@pytest.fixture
def session(new_graph):
    with tf.Session(graph=new_graph) as session:
        yield session


def add_one(i):
    return i + 1


def below_three(i, *_):
    return i < 3


X = [1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tf.while_loop(1, add_one, [0]), TypeError, "cond must be callable"),
        (lambda: tf.while_loop(below_three, 1, [0]), TypeError, "body must be callable"),
        (lambda: tf.while_loop(below_three, add_one, []), ValueError, "No loop variables provided"),
        (lambda: tf.while_loop(below_three, add_one, [0], parallel_iterations=0), TypeError, "positive integer"),
        (lambda: tf.while_loop(below_three, lambda i: (i, i), [0]), ValueError, "same nested structure"),
        (lambda: tf.while_loop(below_three, lambda i: None, [0]), ValueError, "None values not supported"),
        (
            lambda: tf.while_loop(below_three, lambda i, x: (i + 1, tf.concat([x, x], 0)), [0, tf.constant(X)]),
            ValueError, r"enters the loop with shape \(2,\), but has shape \(4,\) after one iteration",
        ),
        (
            lambda: tf.while_loop(below_three, lambda i, x: (i, x), [0, tf.constant(X)],
                                  [tf.TensorShape([]), tf.TensorShape([3])]),
            ValueError, "The shape invariant specified for .* is not compatible with the initial shape",
        ),
        (
            lambda: tf.while_loop(below_three, lambda i, x: (i, x), [0, tf.constant(X)], [tf.TensorShape([])]),
            ValueError, "same nested structure",
        ),
        (
            lambda: tf.while_loop(below_three, lambda i, x: (i, tf.cast(x, tf.int32)), [0, tf.constant(X)]),
            BAD, "was passed int32 from .* incompatible with expected float32",
        ),
        (lambda: tf.while_loop(lambda i: i, add_one, [tf.constant(0)]), TypeError, "does not match expected type"),
        (lambda: tf.while_loop(lambda x: x < 1, lambda x: x, [tf.constant(X)]), ValueError, "must be rank 0"),
        (
            lambda: tf.while_loop(below_three, add_one, [0], maximum_iterations=tf.constant([1])),
            ValueError, "maximum_iterations must be a scalar, saw shape",
        ),
        (lambda: tf.map_fn(1, tf.constant(X)), TypeError, "fn must be callable"),
        (lambda: tf.map_fn(add_one, tf.constant(1)), ValueError, "elems must be a 1\\+ dimensional Tensor"),
        (lambda: tf.map_fn(lambda x: (x, x), tf.constant(X)), ValueError, "same nested structure"),
        (lambda: tf.scan(lambda a, b: (a, b), tf.constant(X)), ValueError, "same nested structure"),
        (lambda: tf.foldl(1, tf.constant(X)), TypeError, "fn must be callable"),
        (lambda: tf.foldr(1, tf.constant(X)), TypeError, "fn must be callable"),
        (lambda: tf.TensorArray(tf.float32), ValueError, "Size must be provided"),
        (lambda: tf.TensorArray(tf.float32, handle=1, flow=1), TypeError, "Handle must be a Tensor"),
        (lambda: tf.TensorArray(tf.float32, handle=tf.constant(1)), ValueError, "flow must not be None"),
        (lambda: tf.TensorArray(tf.float32, 2, handle=tf.constant(1)), ValueError, "both a handle and size"),
        (lambda: tf.TensorArray(tf.float32, 2).write(0, X).write(1, 1.0), ValueError, "Inconsistent shapes"),
    ],
)  # fmt: skip
def test_bad_arguments(new_graph, call, error, message):
    with new_graph.as_default():
        with pytest.raises(error, match=message):
            call()
        assert new_graph._get_control_flow_context() is None


def test_what_is_in_a_loop_is_not_used_outside(new_graph):
    inside = []

    def body(i):
        inside.append(i * 2)
        return i + 1

    tf.while_loop(below_three, body, [tf.constant(0)])
    with pytest.raises(
        ValueError, match="Cannot use 'while/mul' as input to 'Add' because 'while/mul' is in a while"
    ):
        tf.add(inside[0], 1)
    with pytest.raises(ValueError, match="because they are in different while loops"):
        tf.while_loop(below_three, lambda i: i + inside[0], [tf.constant(0)])
    with pytest.raises(ValueError, match="has been marked as not fetchable"), tf.Session() as session:
        session.run(inside[0])


def test_gradients_have_their_limits(new_graph):
    x = tf.constant(X)
    _, y = tf.while_loop(below_three, lambda i, y: (i + 1, y * y), [tf.constant(0), x])
    with pytest.raises(TypeError, match="Second-order gradient for while loops not supported"):
        tf.gradients(tf.gradients(y, x, grad_ys=x * 1.0)[0], x)
    with pytest.raises(ValueError, match="Cannot compute gradient inside while loop with respect to op 'Const'"):
        tf.while_loop(below_three, lambda i, y: (i + 1, y + tf.gradients(y * 2, x)[0]), [tf.constant(0), x])
    _, z = tf.while_loop(below_three, lambda i, y: (i + 1, y * y), [tf.constant(0), x], back_prop=False)
    assert tf.gradients(z, x) == [None]


def test_stacks_have_the_shape_that_tensorflow_gives_their_handles(new_graph):
    x = tf.constant(X)
    tf.gradients(tf.while_loop(below_three, lambda i, y: (i + 1, y * y), [tf.constant(0), x])[1], x)
    stacks = [op for op in new_graph.get_operations() if op.type == "StackV2"]
    assert stacks and all(op.outputs[0].shape.as_list() == [2] for op in stacks)
    entries = [consumer for op in stacks for consumer in op.outputs[0].consumers()]
    assert {(op.type, *op.outputs[0].shape.as_list()) for op in entries} == {("Enter", 2)}


# ---- Gradients ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [0, 1, 4])
def test_gradients_agree_with_differences(rounds):
    def build(x, w):
        def body(i, y):
            inner = tf.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, tf.sin(z) * w), [tf.constant(0), y])[1]
            return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: inner + w * y, lambda: tf.tanh(inner))

        return tf.while_loop(lambda i, y: i < rounds, body, [tf.constant(0), x])[1]

    check_gradient(build, np.linspace(-1, 2, 6).reshape(2, 3), np.linspace(0.5, 1, 3), wrt=[0, 1] if rounds else [0])


def test_gradients_through_arrays_agree_with_differences():
    def build(x, w):
        given = tf.TensorArray(tf.float64, 3, clear_after_read=False).unstack(x)
        made = tf.TensorArray(tf.float64, 3)

        def body(i, made, s):
            s = tf.tanh(s * w + given.read(i) * given.read((i + 1) % 3))
            return i + 1, made.write(i, s), s

        _, made, last = tf.while_loop(below_three, body, [tf.constant(0), made, x[0]])
        return tf.concat([made.stack(), last[tf.newaxis]], 0)

    check_gradient(build, np.linspace(-1, 2, 6).reshape(3, 2), np.linspace(0.5, 1, 2))


@pytest.mark.parametrize(
    "build",
    [
        lambda x: tf.map_fn(lambda row: row * tf.reduce_sum(row), x),
        lambda x: tf.foldl(lambda a, row: a * row + a, x),
        lambda x: tf.foldr(lambda a, row: a * row + a, x, initializer=x[0]),
        lambda x: tf.scan(lambda a, row: tf.sin(a) * row, x),
        lambda x: tf.scan(lambda a, row: tf.sin(a) * row, x, initializer=x[1], reverse=True),
        lambda x: tf.TensorArray(tf.float64, 2, clear_after_read=False)
        .split(tf.reshape(x, [-1]) ** 2, [3, 3])
        .concat(),
    ],
)
def test_gradients_of_loops_over_parts_agree_with_differences(build):
    check_gradient(build, np.linspace(0.5, 2, 6).reshape(3, 2))


def test_same_bits_everywhere():
    def build(x):
        def body(i, y):
            return i + 1, tf.nn.softmax(tf.matmul(y, y)) + tf.cumsum(y) * 0.01

        y = tf.while_loop(below_three, body, [tf.constant(0), x])[1]
        rows = tf.scan(lambda a, row: a * 0.5 + row, x)
        return y, rows, tf.gradients([y, rows], x)[0]

    assert_same_bits(build, np.random.RandomState(1).standard_normal((70, 70)).astype(np.float32))


# ---- TensorArrays -------------------------------------------------------------------------------------------


def test_the_gradient_of_what_was_split_has_its_size_although_the_array_has_grown(session):
    x = tf.constant([1.0, 2.0, 3.0])
    array = tf.TensorArray(tf.float32, 3, dynamic_size=True).split(x, [1, 1, 1]).write(3, [4.0])
    y = array.concat()
    assert session.run([y, *tf.gradients(y, x)])[1].tolist() == [1, 1, 1]


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.int32, tf.int64, tf.bool, tf.string, tf.float16])
def test_elements_of_every_type(session, dtype):
    values = {tf.string: [b"a", b"b"], tf.bool: [True, False]}.get(dtype, [1, 2])
    x = tf.placeholder(dtype, [2])
    array = tf.TensorArray(dtype, 3, clear_after_read=False).write(1, x[:1]).write(0, x[1:]).write(2, x[:1])
    joined = tf.TensorArray(dtype, 2, infer_shape=False).split(tf.concat([x, x], 0), [1, 3]).concat()
    stacked, first, size, rows = session.run([array.stack(), array.read(1), array.size(), joined], {x: values})
    assert stacked.tolist() == [[values[1]], [values[0]], [values[0]]]
    assert first.tolist() == [values[0]]
    assert size == 3
    assert rows.tolist() == values * 2


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda a, x: a.write(2, x).flow, "Tried to write to index 2 but array is not resizeable and size is: 2"),
        (lambda a, x: a.write(-1, x).flow, "Tried to write to index -1"),
        (lambda a, x: a.write(0, x).write(0, x).flow, "index 0 because it has already been written to"),
        (lambda a, x: a.read(5), "Tried to read from index 5 but array size is: 2"),
        (lambda a, x: tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, x).stack(),
         "Could not read from TensorArray index 1.  Furthermore, the element shape is not fully defined"),
        (lambda a, x: a.write(0, tf.cast(x, tf.int32)).flow, "dtype is float but Op is trying to write dtype int32"),
        (lambda a, x: a.unstack(tf.zeros([3, 2])).flow, r"Max scatter index must be < array size \(2 vs. 2\)"),
        (lambda a, x: a.scatter([[0]], tf.zeros([1, 2])).flow, None),
        (lambda a, x: a.scatter([0], tf.zeros([2, 2])).flow, r"len\(indices\) == values.shape\[0\], but saw: 1 vs"),
        (lambda a, x: a.split(x, [1, 2]).flow, "sum of lengths is 3 and value's shape is: \\[2\\]"),
        (lambda a, x: a.split(x, [2]).flow, "not equal to the size of lengths"),
        (lambda a, x: a.split(x, [3, -1]).flow, "Invalid value in lengths: -1"),
        (lambda a, x: a.write(0, x[0]).write(1, x[0]).concat(), "Did you mean to call pack"),
        (lambda a, x: tf.TensorArray(tf.float32, -1).size(), "Size should be >= 0"),
        (lambda a, x: tf.TensorArray(tf.float32, 0).stack(), None),
    ],
)  # fmt: skip
def test_bad_uses_fail_when_they_run(session, build, message):
    array = tf.TensorArray(tf.float32, 2)
    if message is None:
        with pytest.raises((BAD, ValueError, tf.errors.UnimplementedError)):
            session.run(build(array, tf.constant(X)))
        return
    with pytest.raises(BAD, match=message):
        session.run(build(array, tf.constant(X)))


def test_elements_are_read_once_unless_they_are_kept(session):
    array = tf.TensorArray(tf.float32, 1).write(0, X)
    first = array.read(0)
    with tf.control_dependencies([first]):
        second = array.read(0)
    assert session.run(first).tolist() == X
    with pytest.raises(BAD, match="Could not read index 0 twice because it was cleared after a previous read"):
        session.run(second)
    with tf.control_dependencies([array.close()]):
        closed = array.identity().size()
    with pytest.raises(BAD, match="has already been closed"):
        session.run(closed)


def test_shapes_that_differ_do_not_stack(session):
    array = tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, X).write(1, [1.0])
    with pytest.raises(BAD, match=r"Index 0 has shape: \[2\] but index 1 has shape: \[1\]"):
        session.run(array.stack())
    assert session.run(array.concat()).tolist() == [1, 2, 1]


def test_what_was_not_written_is_zero_if_its_shape_is_known(session):
    array = tf.TensorArray(tf.float32, 2, element_shape=[2]).write(0, X)
    assert session.run(array.stack()).tolist() == [X, [0, 0]]


def test_arrays_grow_only_where_they_may(session):
    n = tf.placeholder(tf.int32, [])
    array = tf.TensorArray(tf.int32, 0, dynamic_size=True)
    _, array = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, i * i)), [tf.constant(0), array])
    stacked = array.stack()
    for count in (1, 5):
        assert session.run(stacked, {n: count}).tolist() == [i * i for i in range(count)]


# ---- Loops over parts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_maps_of_any_size(session, rows):
    x = tf.placeholder(tf.float32, [None, 2])
    value = np.arange(rows * 2, dtype=np.float32).reshape(rows, 2)
    doubled = tf.map_fn(lambda row: row * 2.0, x)
    assert doubled.shape.as_list() == [None, 2]
    if rows:
        assert session.run(doubled, {x: value}).tolist() == (value * 2).tolist()
    sums = tf.scan(lambda a, row: a + row, x, initializer=tf.zeros([2]))
    assert session.run(sums, {x: value}).tolist() == np.cumsum(value, 0).tolist()
    total = tf.foldl(lambda a, row: a + tf.reduce_sum(row), x, initializer=0.0)
    assert session.run(total, {x: value}) == value.sum()


# ---- Contexts -------------------------------------------------------------------------------------------------


def test_loops_come_back_from_messages(new_graph):
    x = tf.constant(X, name="x")
    p = tf.placeholder_with_default(True, [], name="p")

    def body(i, y):
        return i + 1, tf.cond(p, lambda: y * 2.0, lambda: y)

    _, y = tf.while_loop(below_three, body, [tf.constant(0), x], name="loop", maximum_iterations=None)
    tf.identity(y, name="y")
    (context,) = tf.get_collection(tf.GraphKeys.WHILE_CONTEXT)
    message = context.to_proto()
    assert message.context_name == "loop/while_context"
    assert list(message.loop_exit_names) == ["loop/Exit:0", "loop/Exit_1:0"]
    assert message.pivot_name == "loop/LoopCond:0"
    assert [each.WhichOneof("ctxt") for each in message.nested_contexts] == ["cond_ctxt", "cond_ctxt"]
    definition = new_graph.as_graph_def()
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="copy")
        again = WhileContext.from_proto(message, import_scope="copy")
        assert graph._get_control_flow_context() is None
        assert again.name == "copy/loop/while_context"
        assert again.to_proto("copy").SerializeToString(deterministic=True) == message.SerializeToString(
            deterministic=True
        )
        assert again.to_proto("other") is None
        enter = graph.get_operation_by_name("copy/loop/Enter")
        assert enter.get_attr("frame_name") == b"copy/loop/while_context"
        y, x = graph.get_tensor_by_name("copy/y:0"), graph.get_tensor_by_name("copy/x:0")
        (slope,) = tf.gradients(y, x)
        with tf.Session() as session:
            assert session.run([y, slope])[0].tolist() == [8, 16]
            assert session.run(slope).tolist() == [8, 8]
            assert session.run(y, {"copy/p:0": False}).tolist() == X


def test_importing_a_loop_inside_of_a_branch(new_graph):
    with tf.Graph().as_default() as other:
        start = tf.placeholder(tf.float32, [2], name="start")
        _, y = tf.while_loop(below_three, lambda i, y: (i + 1, y * 2.0), [tf.constant(0), start])
        tf.identity(y, name="y")
    p, x = tf.placeholder(tf.bool, []), tf.constant(X)

    def imported():
        return tf.import_graph_def(other.as_graph_def(), {"start:0": x}, ["y:0"], name="inner")[0]

    y = tf.cond(p, imported, lambda: x)
    with tf.Session() as session:
        assert session.run(y, {p: True}).tolist() == [8, 16]
        assert session.run(y, {p: False}).tolist() == X
