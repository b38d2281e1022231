"""tensorflow.python.ops.functional_ops: nodes that call functions made by Defun."""

import pytest
from stillflow.python.framework import func_graph
from stillflow.python.framework.function import Defun
from stillflow.python.ops import functional_ops

import stillflow as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


def test_if_and_gradient(session):
    @Defun(tf.float32)
    def twice(x):
        return x * 2

    @Defun(tf.float32)
    def square(x):
        return x * x

    x = tf.placeholder(tf.float32)
    (y,) = functional_ops.If(x > 0, [x], twice, square)
    assert y.op.type == "If"
    assert session.run([y], {x: 3.0}) == [6.0]
    assert session.run([y], {x: -3.0}) == [9.0]
    (gradient,) = functional_ops.Gradient([tf.constant(5.0), 1.0], square)
    assert session.run(gradient) == 10.0


@pytest.mark.parametrize("rewrite", [False, True])
def test_for(session, rewrite):
    @Defun(tf.int32, tf.float32)
    def body(i, total):
        return tf.cast(i, tf.float32) + total

    outputs = functional_ops.For(100, 0, -3, [0.0], body, rewrite_with_while=rewrite)
    assert outputs[0].op.type == ("While" if rewrite else "For")
    assert session.run(outputs) == [sum(range(100, 0, -3))]
    assert session.run(functional_ops.For(5, 5, 1, [7.0], body)) == [7.0]


def test_loops_with_captured_tensors(session):
    factor = tf.constant(3.0)

    @Defun(tf.int32, tf.float32)
    def body(i, x):
        return x * factor

    assert session.run(functional_ops.For(0, 4, 1, [1.0], body)) == [81.0]

    @Defun(tf.int32, tf.float32)
    def goes_on(n, x):
        return n > 0

    @Defun(tf.int32, tf.float32)
    def step(n, x):
        return n - 1, x * factor

    assert session.run(functional_ops.While([4, 1.0], goes_on, step)) == [0, 81.0]
    with pytest.raises(ValueError, match="without implicitly captured inputs"):
        functional_ops.While([4, 1.0], Defun(tf.int32, tf.float32)(lambda n, x: x < factor), step)
    with pytest.raises(ValueError, match="signatures do not match"):
        functional_ops.While([4], Defun(tf.int32)(lambda n: n > 0), step)


def test_loops_refuse(session):
    @Defun(tf.int32, tf.float32)
    def body(i, x):
        return x

    @Defun(tf.int32, tf.float32)
    def two(i, x):
        return x, x

    for args, message in (
        (([0], 10, 1, [0.0], body), "start must be a scalar, but \\[1\\]"),
        ((0, 10, -1, [0.0], body), "Invalid start/limit/delta: 0 10 -1"),
        ((0, 10, 1, [0.0], two), "For loop body returned 2 arguments. Expected: 1"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(functional_ops.For(*args))


def test_calls(session):
    @Defun(tf.float32, tf.float32)
    def product(x, y):
        return x * y

    target = "/job:localhost/replica:0/task:0/cpu:0"
    (remote,) = functional_ops.remote_call(args=[2.0, 3.0], Tout=[tf.float32], f=product, target=target)
    (called,) = functional_ops.partitioned_call([tf.constant(2.0), tf.constant(4.0)], product)
    assert (remote.op.type, called.op.type) == ("RemoteCall", "PartitionedCall")
    assert session.run([remote, called]) == [6.0, 8.0]


def test_operations_with_state_always_run(session):
    variable = tf.get_variable("v", initializer=1.0, use_resource=True)

    @Defun()
    def increase():
        variable.assign_add(1.0)

    call = functional_ops.partitioned_call(args=increase.captured_inputs, f=increase)
    assert isinstance(call, tf.Operation)
    session.run(variable.initializer)
    session.run(call)
    assert session.run(variable) == 2.0


def test_a_function_that_returns_an_operation_returns_what_is_given_for_it():
    with tf.Graph().as_default():
        graph = func_graph.func_graph_from_py_func("f", tf.no_op, (), {}, op_return_value=tf.constant(3))
    first = next(op for op in graph.get_operations() if op.control_inputs)
    assert [first.type, [op.type for op in first.control_inputs]] == ["Identity", ["NoOp"]]
