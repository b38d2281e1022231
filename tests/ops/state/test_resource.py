"""Resource variables: types, shapes, updates, errors, and the same bits for every number of threads."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops
from stillflow.graph import op_def
from stillflow.ops import build
from stillflow.testing import assert_same_bits
from stillflow.variables.resource_variable import ResourceVariable

UNINITIALIZED = (
    "Error while reading resource variable v from Container: localhost. This could mean that the variable was "
    "uninitialized."
)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def variable(value, **options):
    return tf.Variable(value, use_resource=True, name="v", **options)


def initialized():
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


TYPES = [np.float16, np.float32, np.float64, np.int8, np.uint8, np.int16, np.int32, np.int64]


@pytest.mark.parametrize("dtype", TYPES)
def test_numbers_are_assigned_added_and_subtracted(dtype):
    v = variable(np.array([1, 2, 3], dtype))
    with initialized() as session:
        assert session.run(v.assign_add(np.array([1, 1, 1], dtype))).tolist() == [2, 3, 4]
        assert session.run(v.assign_sub(np.array([2, 0, 1], dtype))).tolist() == [0, 3, 3]
        assert session.run(v.assign(np.array([5, 6, 7], dtype))).dtype == dtype
        assert v.eval(session).tolist() == [5, 6, 7]


@pytest.mark.parametrize(("dtype", "value"), [(tf.bool, [True, False]), (tf.string, [b"a", b"b"])])
def test_other_types_are_assigned_and_gathered(dtype, value):
    v = variable(value, dtype=dtype)
    with initialized() as session:
        assert session.run(tf.gather(v, [1, 0])).tolist() == value[::-1]
        assert session.run(tf.scatter_update(v, [0], value[1:])).tolist() == [value[1]] * 2
        assert session.run(v.assign(value)).tolist() == value


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (2, 3, 4)])
def test_shapes(shape):
    value = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    v = variable(value)
    assert v.shape.as_list() == list(shape)
    assert v.handle.shape.as_list() == []
    with initialized() as session:
        np.testing.assert_array_equal(session.run(v.assign_add(value)), value * 2)


def test_what_it_is(graph):
    v = variable([1.0, 2.0])
    assert isinstance(v, tf.Variable)
    assert isinstance(v, ResourceVariable)
    assert (v.name, v.op.type, v.dtype, v.handle.dtype) == ("v:0", "VarHandleOp", tf.float32, tf.resource)
    assert repr(v) == "<tf.Variable 'v:0' shape=(2,) dtype=float32>"
    assert v.graph is graph
    assert tf.global_variables() == tf.trainable_variables() == [v]
    with pytest.raises(NotImplementedError, match="does not implement set_shape"):
        v.set_shape([2])
    with pytest.raises(TypeError, match="not iterable"):
        iter(v)


def test_a_read_sees_what_it_waits_for_and_nothing_else():
    v = variable(1.0)
    before = v.value()
    with tf.control_dependencies([before]):
        change = v.assign_add(1.0)
    with tf.control_dependencies([change]):
        after = v + 0.0
    with initialized() as session:
        assert session.run([before, change, after]) == [1.0, 2.0, 2.0]
        assert session.run([after, before]) == [3.0, 2.0]
        held = session.run(v)
        session.run(change)
        assert held == 3.0


def test_a_value_that_was_read_is_not_changed_by_updates():
    v = variable(np.zeros(4, np.float32))
    read = v.value()
    with tf.control_dependencies([read]):
        change = v.assign_add(tf.ones([4]), read_value=False)
    with tf.control_dependencies([change]):
        kept = read + 0.0
    with initialized() as session:
        for _ in range(3):
            session.run(v.initializer)
            assert session.run(kept).tolist() == [0] * 4
            assert session.run(v).tolist() == [1] * 4


def test_feeding_and_loading():
    v = variable([1.0, 2.0])
    with initialized() as session:
        v.load([7.0, 8.0], session)
        assert session.run(v).tolist() == [7.0, 8.0]
        assert session.run(v * 2.0, {v: [1.0, 1.0]}).tolist() == [14.0, 16.0]  # a use reads for itself
        assert session.run(v, {v: [1.0, 1.0]}).tolist() == [1.0, 1.0]


def test_reference_and_resource_variables_of_one_name_differ(graph):
    handle = ops.var_handle_op(dtype=tf.float32, shape=[], shared_name="x")
    reference = ops.variable_v2(dtype=tf.float32, shape=[], shared_name="x")
    with tf.Session() as session:
        session.run([ops.assign_variable_op(handle, 1.0), ops.assign(reference, 2.0)])
        assert session.run([ops.read_variable_op(handle, dtype=tf.float32), reference]) == [1.0, 2.0]


def test_handles_of_one_name_share_the_variable():
    one, two = (ops.var_handle_op(dtype=tf.float32, shape=[], shared_name="x") for _ in range(2))
    with tf.Session() as session:
        session.run(ops.assign_variable_op(one, 3.0))
        assert session.run(ops.read_variable_op(two, dtype=tf.float32)) == 3.0


@pytest.mark.parametrize(
    "use",
    [
        lambda v: v + 1.0,
        lambda v: v.read_value(),
        lambda v: v.assign_add([1.0, 1.0], read_value=False),
        lambda v: v.assign_sub([1.0, 1.0], read_value=False),
        lambda v: tf.gather(v, [0]),
        lambda v: tf.gather_nd(v, [[0]]),
        lambda v: tf.scatter_add(v, [0], [1.0]).op,
        lambda v: ops.apply_gradient_descent(v, 0.1, [1.0, 1.0]),
    ],
)
def test_uninitialized(use):
    v = variable([1.0, 2.0])
    fetch = use(v)
    initialized_op = v.is_initialized()
    with tf.Session() as session:
        assert not session.run(initialized_op)
        with pytest.raises(tf.errors.FailedPreconditionError) as caught:
            session.run(fetch)
        assert UNINITIALIZED in caught.value.message
        session.run(v.initializer)
        session.run(fetch)
        assert session.run(initialized_op)


def test_shapes_that_do_not_fit():
    v = variable([1.0, 2.0])
    with pytest.raises(ValueError, match=r"Shapes \(2,\) and \(3,\) are incompatible"):
        v.assign([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="Dimension"):
        v.assign_add([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="Dimension"):
        tf.scatter_add(v, [0, 1], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="must be"):
        tf.gather(variable(1.0), [0])
    with pytest.raises(ValueError, match="is not compatible with the explicitly supplied"):
        variable([1.0], shape=[3])
    with pytest.raises(TypeError, match="sparse_delta is not IndexedSlices"):
        v.scatter_add([1.0])
    with pytest.raises(ValueError, match="Incompatible type conversion"):
        tf.convert_to_tensor(v, tf.int32)


def test_shapes_that_turn_out_not_to_fit():
    v = variable([1.0, 2.0])
    x = tf.placeholder(tf.float32)
    i = tf.placeholder(tf.int32)
    add, gather, scatter = v.assign_add(x), tf.gather(v, i), tf.scatter_update(v, i, x)
    with initialized() as session:
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(add, {x: [1.0, 2.0, 3.0]})
        for bad in (-1, 2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="is not in"):
                session.run(gather, {i: [0, bad]})
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(scatter, {i: [bad], x: [1.0]})
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(scatter, {i: [0, 1], x: [1.0]})
        assert session.run(v).tolist() == [1.0, 2.0]


def test_a_variable_of_unknown_shape():
    v = variable([1.0], shape=tf.TensorShape(None))
    x = tf.placeholder(tf.float32)
    change, total, row = v.assign(x), tf.reduce_sum(v), tf.gather(v, [0])
    (rows,) = tf.gradients(row, v)
    with initialized() as session:
        session.run(change, {x: [[1.0, 2.0], [3.0, 4.0]]})
        assert session.run(total) == 10.0
        assert session.run(row).tolist() == [[1.0, 2.0]]
        assert session.run(rows).dense_shape.tolist() == [2, 2]


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_repeated_rows_apply_in_order(index_type):
    v = variable(np.zeros((3, 2), np.float32))
    indices = np.array([2, 0, 2], index_type)
    rows = np.array([[1, 2], [3, 4], [10, 20]], np.float32)
    added, updated = tf.scatter_add(v, indices, rows), tf.scatter_update(v, indices, rows)
    with initialized() as session:
        assert session.run(added).tolist() == [[3, 4], [0, 0], [11, 22]]
        assert session.run(updated).tolist() == [[3, 4], [0, 0], [10, 20]]


def test_the_same_bits_everywhere():
    generator = np.random.default_rng(0)
    table = generator.standard_normal((200, 300)).astype(np.float32)
    indices = generator.integers(0, 200, 900)
    rows = generator.standard_normal((900, 300)).astype(np.float32)

    def build():
        v = variable(table)
        with tf.control_dependencies([v.initializer]):
            change = tf.scatter_add(v, indices, rows)
        with tf.control_dependencies([change.op]):
            more = v.assign_sub(table * np.float32(0.3))
        with tf.control_dependencies([more.op]):
            return tf.gather(v, indices)

    assert_same_bits(build)


def test_protos_go_both_ways(graph):
    v = variable([1.0, 2.0], trainable=False)
    proto = v.to_proto()
    assert (proto.is_resource, proto.variable_name, proto.snapshot_name) == (True, "v:0", "v/Read/ReadVariableOp:0")
    again = tf.Variable.from_proto(proto)
    assert isinstance(again, ResourceVariable)
    assert (again.name, again.dtype, again.shape.as_list(), again.trainable) == ("v:0", tf.float32, [2], False)
    with initialized() as session:
        assert session.run(again + v).tolist() == [2.0, 4.0]


def test_scopes_and_the_default_say_which_kind_it_is():
    with tf.variable_scope("a", use_resource=True):
        assert isinstance(tf.get_variable("x", []), ResourceVariable)
        assert isinstance(tf.Variable(1.0), ResourceVariable)
        assert not isinstance(tf.Variable(1.0, use_resource=False), ResourceVariable)
    assert not isinstance(tf.get_variable("y", []), ResourceVariable)
    assert not tf.resource_variables_enabled()
    tf.enable_resource_variables()
    try:
        assert tf.resource_variables_enabled()
        assert isinstance(tf.get_variable("z", []), ResourceVariable)
        parts = tf.get_variable("parts", [4, 2], partitioner=lambda shape, dtype: [2, 1])
        assert all(isinstance(part, ResourceVariable) for part in parts)
        with initialized() as session:
            assert session.run(tf.nn.embedding_lookup(parts, [0, 3])).shape == (2, 2)
    finally:
        tf.disable_resource_variables()


@pytest.mark.parametrize(
    "make",
    [
        lambda handle: ops.assign_variable_op(handle, tf.constant([1, 2], tf.int64)),
        lambda handle: ops.assign_add_variable_op(handle, tf.constant([1.0, 2.0], tf.float64)),
        lambda handle: ops.read_variable_op(handle, dtype=tf.float64),
        lambda handle: ops.resource_scatter_add(handle, [0], tf.constant([1.0], tf.float64)),
        lambda handle: ops.resource_gather(handle, [0], dtype=tf.string),
        lambda handle: build.apply(
            op_def.find("ResourceApplyGradientDescent"),
            None,
            {"var": handle, "alpha": np.float64(1), "delta": np.ones(2)},
        ),
    ],
    ids="assign assign_add read scatter gather train".split(),
)
def test_an_op_of_another_type_than_the_variable(make):
    """A graph that was not built here may say so; nothing must be read as what it is not."""
    v = variable([1.0, 2.0])
    with initialized() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="variable with wrong dtype. Expected float32 got"):
            session.run(make(v.handle))
        np.testing.assert_array_equal(session.run(v), [1, 2])


def test_destroyed_variables_have_no_value():
    v = variable(1.0)
    destroy = [
        tf.raw_ops.DestroyResourceOp(resource=v.handle, ignore_lookup_error=ignore) for ignore in (True, False)
    ]
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(destroy[1])
        with pytest.raises(tf.errors.FailedPreconditionError, match=UNINITIALIZED):
            session.run(v.read_value())
        session.run(destroy[0])
        with pytest.raises(tf.errors.NotFoundError, match="Resource localhost/v does not exist"):
            session.run(destroy[1])
        session.run(v.initializer)
        assert session.run(v) == 1


def test_destroyed_tables_are_not_found():
    table = tf.contrib.lookup.MutableHashTable(tf.int64, tf.int64, -1)
    insert, size = table.insert([1], [2]), table.size()
    with tf.Session() as session:
        session.run(insert)
        assert session.run(size) == 1
        session.run(tf.raw_ops.DestroyResourceOp(resource=table.resource_handle))
        with pytest.raises(tf.errors.NotFoundError):
            session.run(size)
