"""scatter_*: values and errors of all types, order of duplicates, atomicity, same bits."""

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow import _engine
from stillflow.testing import ISAS, THREAD_COUNTS, run_kernel


@pytest.mark.parametrize(("case", "expected"), cases("state"))
def test_values_and_errors_are_those_of_tensorflow(case, expected, request):
    value = evaluate(case)
    name = request.node.callspec.id
    if name == "assign_add_shape_False":
        assert value.startswith(expected)  # and says which sizes
    elif name.startswith("div_"):
        assert_same(value, expected, rtol=1e-2 if "float16" in name else 1e-6)
    else:
        assert_same(value, expected)


def updated(name, table, indices, updates, **options):
    """The variable after one update, with given threads and instruction set."""
    core = _engine.Session(options.pop("threads", 2))
    run_kernel("assign", "v", table, attrs=[1], core=core, output_count=0, **options)
    operation = "set" if name == "update" else name
    run_kernel("scatter", "v", indices, updates, attrs=[operation.encode()], core=core, output_count=0, **options)
    return run_kernel("read_variable", "v", core=core, **options)


def expectation(name, table, indices, updates):
    functions = {
        "update": lambda a, b: b, "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
        "min": np.minimum, "max": np.maximum,
    }  # fmt: skip
    result = table.copy()
    for row, update in zip(indices, updates, strict=True):
        result[row] = functions[name](result[row], update)
    return result


@pytest.mark.parametrize("isa_name", ISAS)
@pytest.mark.parametrize("threads", THREAD_COUNTS)
@pytest.mark.parametrize("name", ["update", "add", "sub", "mul", "div", "min", "max"])
def test_duplicates_apply_in_index_order_with_any_threads(name, threads, isa_name, rng):
    """Hot rows, so that several threads would meet in one."""
    table = rng.uniform(0.5, 2, (50, 33)).astype(np.float32)
    indices = np.minimum(rng.geometric(0.2, 3000), 50) - 1
    updates = rng.uniform(0.9, 1.1, (3000, 33)).astype(np.float32)
    result = updated(name, table, indices, updates, threads=threads, isa_name=isa_name)
    np.testing.assert_array_equal(result, expectation(name, table, indices, updates))


@pytest.mark.parametrize("width", [1, 2, 15, 16, 17, 300])
@pytest.mark.parametrize("count", [0, 1, 2, 255, 256, 257, 5000])
def test_sizes_around_chunks(count, width, rng):
    table = rng.standard_normal((1000, width)).astype(np.float32)
    indices = rng.integers(0, 1000, count)
    updates = rng.standard_normal((count, width)).astype(np.float32)
    result = updated("add", table, indices, updates)
    np.testing.assert_array_equal(result, expectation("add", table, indices, updates))


@pytest.mark.parametrize("index", [-1, 10, 2**31 - 1, -(2**31), 2**40, -(2**63)])
@pytest.mark.parametrize("name", ["scatter_update", "scatter_add", "scatter_div"])
def test_a_bad_index_is_named_and_nothing_is_written(name, index):
    w = tf.Variable(tf.ones([10, 3]))
    dtype = tf.int32 if -(2**31) <= index < 2**31 else tf.int64
    indices = tf.placeholder(dtype)
    update = getattr(tf, name)(w, indices, tf.fill([3, 3], 5.0))
    with tf.Session() as session:
        session.run(w.initializer)
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=rf"indices\[1\] = {index} is not in \[0, 10\)"
        ) as caught:
            session.run(update, {indices: [0, index, 2]})
        assert caught.value.op is update.op
        assert np.all(session.run(w) == 1)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16"])
def test_integer_division_by_zero_is_an_error(dtype):
    w = tf.Variable(np.ones(3, dtype))
    updates = tf.placeholder(dtype)
    with tf.Session() as session:
        session.run(w.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
            session.run(tf.scatter_div(w, [0, 2], updates), {updates: [1, 0]})
        assert np.all(session.run(w) == 1)


def test_scattering_into_an_uninitialized_variable_is_refused():
    w = tf.Variable(tf.zeros([3]), name="w")
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value w"):
        session.run(tf.scatter_add(w, [0], [1.0]))


def test_strings_and_bools_are_set():
    words = tf.Variable(["a", "b", "c"])
    flags = tf.Variable([True, False, True])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(words)
        assert session.run(tf.scatter_update(words, [2, 0], ["x", "y"])).tolist() == [b"y", b"b", b"x"]
        assert session.run(tf.scatter_nd_update(flags, [[1]], [True])).tolist() == [True] * 3
        assert before.tolist() == [b"a", b"b", b"c"]


def test_complex_numbers_are_set_as_a_whole():
    v = tf.Variable(np.arange(6).reshape(3, 2) * (1 + 2j))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        result = session.run(tf.scatter_update(v, [2, 0], [[7 - 1j, 8], [9, 1j]]))
    np.testing.assert_array_equal(result, [[9, 1j], [2 + 4j, 3 + 6j], [7 - 1j, 8]])


def test_methods_of_variables():
    w = tf.Variable(tf.zeros([4, 2]))
    slices = tf.IndexedSlices(tf.constant([[1.0, 2], [3, 4]]), tf.constant([3, 3]))
    with tf.Session() as session:
        session.run(w.initializer)
        assert session.run(w.scatter_add(slices))[3].tolist() == [4, 6]
        assert session.run(w.scatter_sub(slices))[3].tolist() == [0, 0]
        assert session.run(w.scatter_update(slices))[3].tolist() == [3, 4]
        assert session.run(w.scatter_mul(slices))[3].tolist() == [3 * 1 * 3, 4 * 2 * 4]
        assert session.run(w.scatter_div(slices))[3].tolist() == [3, 4]
        assert session.run(w.scatter_min(slices))[3].tolist() == [1, 2]
        assert session.run(w.scatter_max(slices))[3].tolist() == [3, 4]
        assert session.run(w.scatter_nd_add([[0, 1]], [7.0]))[0].tolist() == [0, 7]
        assert session.run(w.scatter_nd_sub([[0, 1]], [5.0]))[0].tolist() == [0, 2]
        assert session.run(w.scatter_nd_update([[0]], [[1.0, 3.0]]))[0].tolist() == [1, 3]
        with pytest.raises(TypeError, match="not IndexedSlices|is not"):
            w.scatter_add(tf.constant([1.0]))
