"""tf.py_func: Python functions inside graphs."""

import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest

import stillflow as tf

E = tf.errors


def call(function, types, *inputs, **options):
    with tf.Graph().as_default(), tf.Session() as session:
        tensors = [tf.constant(value) for value in inputs]
        return session.run(tf.py_func(function, tensors, types, **options))


def raising(error):
    def function(*arguments):
        raise error

    return function


def test_arguments_are_numpy_values():
    seen = []
    call(lambda *arguments: seen.extend(arguments), [], 1.5, b"s", [b"s", b"t"], [[1, 2]], True)
    assert type(seen[0]) is np.float32
    assert type(seen[1]) is bytes
    assert seen[2].dtype == object
    assert seen[2].tolist() == [b"s", b"t"]
    assert seen[3].dtype == np.int32
    assert seen[3].flags.writeable
    assert type(seen[4]) is np.bool_


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "int8", "int16", "uint8",
                                   "uint16", "bool"])  # fmt: skip
def test_types_go_in_and_come_out(dtype):
    value = np.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)
    np.testing.assert_array_equal(call(lambda x: x.T, tf.as_dtype(dtype), value), value.T, strict=True)
    empty = value[:0]
    np.testing.assert_array_equal(call(lambda x: x, tf.as_dtype(dtype), empty), empty, strict=True)


def test_results():
    assert call(lambda x: (x, x + 1), [tf.int32, tf.int32], 1) == [1, 2]
    assert call(lambda x: [x], tf.int32, 1) == 1
    assert call(lambda x: [1, [2, 3]], [tf.int64, tf.int64], 1)[1].tolist() == [2, 3]
    assert call(lambda: "é", tf.string) == "é".encode()
    assert call(lambda: np.array(["a", "bc"]), tf.string).tolist() == [b"a", b"bc"]
    assert call(lambda: None, []) is None
    assert call(lambda: np.array([1, 2], ">i4"), tf.int32).tolist() == [1, 2]
    assert call(lambda x: x, tf.float32, np.float32(1e-42)) == np.float32(1e-42)
    assert call(lambda: np.float32(1e-30) * np.float32(1e-10), tf.float32) == np.float32(1e-40)  # not flushed


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("boom"), E.InvalidArgumentError),
        (TypeError("boom"), E.InvalidArgumentError),
        (StopIteration("boom"), E.OutOfRangeError),
        (MemoryError("boom"), E.ResourceExhaustedError),
        (NotImplementedError("boom"), E.UnimplementedError),
        (KeyError("boom"), E.UnknownError),
        (KeyboardInterrupt("boom"), E.UnknownError),
        (SystemExit("boom"), E.UnknownError),
        (E.NotFoundError(None, None, "boom"), E.UnknownError),
        (ValueError("b\udc80oom"), E.InvalidArgumentError),
    ],
)
def test_what_becomes_of_errors(error, kind):
    with pytest.raises(
        kind,
        match=rf"^{type(error).__name__}: .*oom.*\nTraceback \(most recent call last\):\n\n(?s:.*)\n\n.*oom.*\n\n",
    ) as caught:
        call(raising(error), tf.float32, name="named")
    assert type(caught.value) is kind
    assert caught.value.op.name == "named"
    assert "in function" in caught.value.message


@pytest.mark.parametrize(
    ("function", "types", "kind", "message"),
    [
        (lambda: 1.0, tf.float32, E.InvalidArgumentError, r"0-th .* by pyfunc_\d+ is double, but expects float"),
        (lambda: 1, tf.int32, E.InvalidArgumentError, "is int64, but expects int32"),
        (lambda: [1, 2], tf.int64, E.InvalidArgumentError, r"pyfunc_\d+ returns 2 values, but expects to see 1"),
        (lambda: None, tf.int64, E.InvalidArgumentError, "returns 0 values, but expects to see 1 values"),
        (lambda: 5, [], E.InvalidArgumentError, "returns 1 values, but expects to see 0 values"),
        (lambda: np.complex64(1), tf.float32, E.InvalidArgumentError, "is complex64, but expects float"),
        (object, tf.float32, E.InternalError, "Unsupported object type object"),
        (lambda: 2**70, tf.int64, E.InternalError, "Unsupported object type int"),
        (lambda: ([[1, 2], [3]],), tf.int64, E.InternalError, "Unsupported object type list"),
        (lambda: np.array([b"a", 1], object), tf.string, E.InternalError, "Unsupported object type int"),
        (lambda: np.datetime64("2020-01-01"), tf.int64, E.InternalError, "Unsupported numpy type"),
        (lambda: np.zeros([1] * 20), tf.float64, E.InternalError, "at most 16 dimensions"),
    ],
)  # fmt: skip
def test_results_that_do_not_fit(function, types, kind, message):
    with pytest.raises(kind, match=message):
        call(function, types)


def test_what_cannot_be_called():
    with pytest.raises(ValueError, match="Expected func to be callable, got func of type <class 'int'>"):
        tf.py_func(5, [], tf.int32)


def test_changing_an_argument_is_not_visible_in_the_graph(new_graph):
    def change(x):
        x[:] = 7
        return x

    c = tf.constant(np.zeros(2000, np.float32))
    w = tf.Variable(tf.ones([2000]))
    p = tf.placeholder(tf.float32)
    fed = np.zeros(2000, np.float32)
    with tf.Session() as session:
        session.run(w.initializer)
        for source in (c, w, p, tf.identity(w)):
            changed = tf.py_func(change, [source], tf.float32)
            before, result = session.run([source, changed], {p: fed})
            assert np.all(result == 7)
            assert np.all(before != 7)
            assert np.all(session.run(source, {p: fed}) != 7)
    assert np.all(fed == 0)


def test_a_stateful_function_is_called_in_every_run_and_a_stateless_one_need_not_be(new_graph):
    calls = []

    def count():
        calls.append(1)
        return np.int32(len(calls))

    first, second = (tf.py_func(count, [], tf.int32) for _ in range(2))
    with tf.Session() as session:
        assert session.run([first, second]) == [1, 2]
        assert session.run([first, second]) == [3, 4]
        del calls[:]
        stateless = tf.py_func(count, [], tf.int32, stateful=False)
        assert session.run(stateless) == session.run(stateless) == 1


def test_a_function_may_run_and_close_its_session(new_graph):
    c = tf.constant(3.0)
    session = tf.Session(config=tf.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=1))
    assert session.run(tf.py_func(lambda: session.run(c), [], tf.float32) + 1) == 4
    closing = tf.py_func(lambda: session.close() or np.float32(1), [], tf.float32)
    with pytest.raises((E.CancelledError, RuntimeError)):
        session.run(closing)
        session.run(c)


def test_nodes_are_those_of_tensorflow(new_graph):
    x = tf.constant([1.0], name="x")
    y = tf.py_func(lambda x: x, [x], tf.float32, name="pf")
    z = tf.py_func(lambda *a: a, [x, 2], [tf.float32, tf.int32], stateful=False)
    op = tf.numpy_function(lambda x: None, [x], [])
    assert isinstance(z, list)
    assert y.shape.rank is None
    assert [op.type for op in new_graph.get_operations()] == ["Const", "PyFunc", "Const", "PyFuncStateless", "PyFunc"]
    assert z[0].op.inputs[1].op.name == "PyFuncStateless/input_1"
    assert op.get_attr("Tin") == [tf.float32]
    assert op.get_attr("Tout") == []
    assert op.get_attr("token").startswith(b"pyfunc_")
    assert tf.gradients(y, x) == [None]


def test_a_gradient_can_be_given_to_a_function(new_graph):
    name = f"DoubleOf{id(new_graph)}"
    tf.RegisterGradient(name)(lambda op, grad: grad * 2.0)
    x = tf.constant(3.0)
    with new_graph.gradient_override_map({"PyFunc": name}):
        y = tf.py_func(lambda x: x * 2, [x], tf.float32)
    with tf.Session() as session:
        assert session.run(tf.gradients(y, x)) == [2]


def test_a_function_lives_as_long_as_its_graph():
    def function():
        return np.float32(1)

    reference = weakref.ref(function)
    with tf.Graph().as_default() as graph:
        y = tf.py_func(function, [], tf.float32)
        del function
        with tf.Session() as session:
            assert session.run(y) == 1
        token = y.op.get_attr("token").decode()
    del y, graph, session
    gc.collect()
    assert reference() is None
    with tf.Graph().as_default() as graph, tf.Session() as session:
        dangling = graph.create_op("PyFunc", [], attrs={"token": token.encode(), "Tin": (), "Tout": (tf.float32,)})
        with pytest.raises(E.InvalidArgumentError, match=f"callback {token} is not found"):
            session.run(dangling.outputs[0])


# Python ends such threads by unwinding their stacks, where AddressSanitizer sees writes beyond frames that are gone.
@pytest.mark.release
def test_the_process_ends_while_threads_call_functions():
    program = """
import threading, time
import numpy as np
import stillflow as tf
session = tf.Session()
def loop(tensor):
    while True:
        session.run(tensor)
for function in (lambda: time.sleep(0.01) or np.float32(1), lambda: np.float32(1)):
    tensor = tf.py_func(function, [], tf.float32)
    threading.Thread(target=loop, args=(tensor,), daemon=True).start()
time.sleep(0.2)
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=60, check=False).returncode == 0
