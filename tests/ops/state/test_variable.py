"""Variables: when a read happens, what it returns, and that it never changes afterwards."""

import gc

import numpy as np
import pytest

import stillflow as tf


@pytest.fixture
def session(new_graph):
    with tf.Session(graph=new_graph) as session:
        yield session


def initialized(session, *values):
    variables = [tf.Variable(value) for value in values]
    session.run([v.initializer for v in variables])
    return variables if len(variables) > 1 else variables[0]


# ---- Values that were read ----------------------------------------------------------------------------------

UPDATES = {
    "assign": lambda w: tf.assign(w, tf.fill([3000], 9.0)),
    "assign_add": lambda w: tf.assign_add(w, tf.ones([3000])),
    "assign_sub": lambda w: tf.assign_sub(w, tf.ones([3000])),
    "scatter_update": lambda w: tf.scatter_update(w, [0, 2999], [9.0, 9.0]),
    "scatter_add": lambda w: tf.scatter_add(w, [0, 2999], [9.0, 9.0]),
    "scatter_nd_add": lambda w: tf.scatter_nd_add(w, [[0], [2999]], [9.0, 9.0]),
    "gradient_descent": lambda w: tf.train.GradientDescentOptimizer(0.25).minimize(tf.reduce_sum(w * w)),
    "momentum": lambda w: tf.train.MomentumOptimizer(1.0, 0.9).minimize(tf.reduce_sum(w * w)),
    "adagrad": lambda w: tf.train.AdagradOptimizer(1.0).minimize(tf.reduce_sum(w * w)),
    "adam": lambda w: tf.train.AdamOptimizer(1.0).minimize(tf.reduce_sum(w * w)),
}


@pytest.mark.parametrize("name", UPDATES)
def test_what_was_fetched_never_changes(session, name):
    w = tf.Variable(tf.ones([3000]))
    update = UPDATES[name](w)
    reads = [w, w.value(), tf.identity(w), tf.reshape(w, [30, 100]), w.read_value()]
    session.run(tf.global_variables_initializer())
    fetched = [session.run(read) for read in reads] + session.run(reads)
    session.run(update)
    session.run(update)
    assert all(np.all(value == 1) for value in fetched)
    assert not np.all(session.run(w) == 1)


def test_what_is_fetched_with_an_update_is_kept_as_it_was(session):
    w = initialized(session, tf.zeros([2000]))
    after = tf.assign_add(w, tf.ones([2000]))
    history = [session.run([w.value(), after]) for _ in range(5)]
    assert [float(now[7]) for _, now in history] == [1, 2, 3, 4, 5]
    assert all(np.ptp(before) == np.ptp(now) == 0 for before, now in history)


def test_writing_to_what_was_fetched_changes_no_variable(session):
    w = initialized(session, tf.zeros([3000]))
    for read in (w, w.value(), tf.reshape(w, [60, 50]), tf.assign_add(w, tf.zeros([3000]))):
        fetched = session.run(read)
        fetched[...] = 5
        assert np.all(session.run(w) == 0)


def test_a_variable_may_be_assigned_another_and_both_go_their_way(session):
    a, b = initialized(session, tf.zeros([2000]), tf.ones([2000]))
    session.run(tf.assign(a, b))
    session.run(tf.assign_add(b, tf.ones([2000])))
    assert np.all(session.run(a) == 1) and np.all(session.run(b) == 2)
    session.run(tf.assign(a, a))
    session.run(tf.scatter_add(a, [0], [1.0]))
    assert session.run(a)[:2].tolist() == [2, 1]


def test_a_constant_is_not_changed_through_a_variable(session):
    c = tf.constant(np.arange(2000, dtype=np.float32))
    w = initialized(session, c)
    session.run(tf.assign_add(w, tf.ones([2000])))
    assert session.run(c)[0] == 0
    session.run(w.initializer)
    assert session.run(w)[0] == 0


def test_fed_arrays_are_not_changed_and_may_change(session):
    x = tf.placeholder(tf.float32, [2000])
    w = initialized(session, tf.zeros([2000]))
    fed = np.ones(2000, np.float32)
    session.run(tf.assign(w, x), {x: fed})
    session.run(tf.assign_add(w, tf.ones([2000])))
    assert np.all(fed == 1)
    session.run(tf.assign(w, tf.reshape(tf.identity(x), [2000])), {x: fed})
    fed[:] = 7
    gc.collect()
    assert np.all(session.run(w) == 1)


# ---- When a read happens ------------------------------------------------------------------------------------


def test_reads_before_and_after_an_update_in_one_run(session):
    w = initialized(session, [1.0, 2.0])
    before = tf.identity(w.read_value())
    with tf.control_dependencies([before]):
        update = tf.assign(w, [10.0, 20.0])
    with tf.control_dependencies([update]):
        after = w.read_value() * 2.0
    values = session.run([before, after])
    assert values[0].tolist() == [1, 2] and values[1].tolist() == [20, 40]


def test_the_output_of_an_update_is_the_variable(session):
    """What an update hands on is a reference: it shows later updates, as in TensorFlow."""
    w = initialized(session, 1.0)
    first = tf.assign_add(w, 1.0)
    second = tf.assign_add(first, 10.0)
    assert session.run([first, second]) == [12, 12]
    assert session.run(w) == 12


def test_a_chain_of_updates_runs_in_its_order(session):
    w = initialized(session, 1.0)
    ref = w
    for _ in range(10):
        ref = tf.assign_add(ref, 1.0)
        with tf.control_dependencies([ref]):
            ref = tf.assign(w, w.read_value() * 2.0)
    session.run(ref.op)
    expected = 1.0
    for _ in range(10):
        expected = (expected + 1) * 2
    assert session.run(w) == expected


def test_updates_of_several_variables_see_the_old_values_they_wait_for(session):
    a, b = initialized(session, 1.0, 2.0)
    old_a, old_b = a * 1.0 + 0.0, b + 0.0  # a mere read hands on the variable's memory, in TensorFlow too
    with tf.control_dependencies([old_a, old_b]):
        swap = tf.group(tf.assign(a, old_b), tf.assign(b, old_a))
    session.run(swap)
    assert session.run([a, b]) == [2, 1]
    session.run(swap)
    assert session.run([a, b]) == [1, 2]


# ---- Assignments --------------------------------------------------------------------------------------------


def test_shapes_may_change_only_where_that_was_said(session):
    w = tf.Variable([1.0, 2.0], validate_shape=False)
    x = tf.placeholder(tf.float32)
    session.run(w.initializer)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"lhs shape= \[2\] rhs shape= \[3\]"):
        session.run(tf.assign(w, x), {x: [1, 2, 3]})
    assert session.run(w).tolist() == [1, 2]
    assert session.run(tf.assign(w, x, validate_shape=False), {x: [[1, 2, 3]]}).shape == (1, 3)
    assert session.run(tf.shape(w)).tolist() == [1, 3]


def test_an_update_of_what_has_no_value_is_refused(session):
    w = tf.Variable([1.0], name="w")
    for update in (tf.assign_add(w, [1.0]), tf.assign_sub(w, [1.0]), tf.scatter_nd_add(w, [[0]], [1.0])):
        with pytest.raises(tf.errors.FailedPreconditionError, match="Attempting to use uninitialized value w"):
            session.run(update)
    assert not session.run(tf.is_variable_initialized(w))
    session.run(tf.assign(w, [3.0]))
    assert session.run(tf.is_variable_initialized(w))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int8", "uint16", "int64", "bool", "string"])
def test_variables_hold_any_type(session, dtype):
    numpy_type = tf.as_dtype(dtype).as_numpy_dtype
    values = np.array([b"x", b""] if dtype == "string" else [1, 0]).astype(numpy_type)
    w = tf.Variable(values, dtype=dtype)
    session.run(w.initializer)
    assert session.run(w).tolist() == values.tolist()
    assert session.run(w).dtype == values.dtype


def test_empty_and_scalar_variables(session):
    nothing, number = initialized(session, tf.zeros([0, 3]), 5)
    assert session.run(nothing).shape == (0, 3) and session.run(number) == 5
    assert session.run(tf.assign_add(nothing, tf.zeros([0, 3]))).shape == (0, 3)
    assert session.run(tf.assign_sub(number, 7)) == -2


def test_assigning_another_type_is_refused():
    w = tf.Variable(1.0)
    with pytest.raises(TypeError, match="that does not match type float32"):
        tf.assign(w, tf.constant(1))


def test_increments_of_many_threads_are_all_counted(session):
    import threading

    w, table = initialized(session, np.int64(0), tf.zeros([7, 100]))
    add = tf.assign_add(w, tf.constant(1, tf.int64), use_locking=True)
    scatter = tf.scatter_add(table, [1, 5, 1], tf.ones([3, 100]), use_locking=True)

    def work():
        for _ in range(300):
            session.run([add.op, scatter.op])

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.run(w) == 1800
    assert session.run(table)[[0, 1, 5], 50].tolist() == [0, 3600, 1800]


@pytest.mark.parametrize("use_resource", [False, True])
def test_nothing_is_assigned_to_parts_without_elements(use_resource):
    v = tf.Variable([[1.0, 2.0]], use_resource=use_resource)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value in (7.0, np.zeros((1, 2)), np.zeros((0, 3))):
            session.run(v[5:].assign(np.float32(value)))
        assert session.run(v).tolist() == [[1.0, 2.0]]
        with pytest.raises(tf.errors.UnimplementedError, match=r"l-value shape \[1,2\] does not match .* \[\]"):
            session.run(v[:1].assign(7.0))


def test_functions_of_variables_take_parts_of_them(session):
    a, b = tf.Variable([1.0, 2.0, 3.0], use_resource=False), tf.Variable([1.0, 2.0], use_resource=True)
    first, second = tf.assign(a[1], 5.0), tf.assign(b[0], 7.0)
    assert first.op.type == "StridedSliceAssign"
    session.run(tf.global_variables_initializer())
    assert session.run(first).tolist() == [1.0, 5.0, 3.0]
    assert session.run(second).tolist() == [7.0, 2.0]
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'assign_add'"):
        tf.assign_add(a[0], 1.0)


# ---- Variables of one run -----------------------------------------------------------------------------------


def test_temporary_variables_are_of_one_run(session):
    variable = tf.raw_ops.TemporaryVariable(shape=[2], dtype=tf.float32, var_name="v")
    assigned = tf.raw_ops.AssignAdd(ref=tf.raw_ops.Assign(ref=variable, value=[4.0, 5.0]), value=[6.0, 7.0])
    final = tf.raw_ops.DestroyTemporaryVariable(ref=assigned, var_name="v")
    for _ in range(2):
        np.testing.assert_array_equal(session.run(final), [10, 12])
    untouched = tf.raw_ops.TemporaryVariable(shape=[2], dtype=tf.int32)
    np.testing.assert_array_equal(session.run(tf.identity(untouched)), [0, 0])


@pytest.mark.parametrize("is_twice", [True, False])
def test_temporary_variables_end_once_and_by_their_name(session, is_twice):
    variable = tf.raw_ops.TemporaryVariable(shape=[], dtype=tf.float32)
    ends = [
        tf.raw_ops.DestroyTemporaryVariable(ref=variable, var_name="TemporaryVariable" if is_twice else "other")
        for _ in range(2)
    ]
    with pytest.raises(tf.errors.NotFoundError):
        session.run(ends)
