"""Variables that have their values from the start. What is expected is what TensorFlow 1.15.5 does."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import stillflow as tf
from stillflow.variables.ref_variable import RefVariable


@pytest.fixture
def vector():
    return tf.Variable([1.0, 2.0, 3.0], name="a")


@pytest.fixture
def matrix():
    return tf.Variable(np.arange(6.0).reshape(2, 3), dtype=tf.float32)


def rows(indices, values):
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices))


def test_text(vector, matrix):
    assert repr(vector) == "<tf.Variable 'a:0' shape=(3,) dtype=float32, numpy=array([1., 2., 3.], dtype=float32)>"
    assert str(tf.Variable("abc")) == "<tf.Variable 'Variable:0' shape=() dtype=string, numpy=b'abc'>"
    assert repr(vector.assign([4.0, 5.0, 6.0])) == (
        "<tf.Variable 'UnreadVariable' shape=(3,) dtype=float32, numpy=array([4., 5., 6.], dtype=float32)>"
    )


def test_what_it_is(vector):
    assert vector.name == "a:0"
    assert vector.dtype is tf.float32
    assert vector.shape.as_list() == [3]
    assert vector.trainable
    assert vector.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert vector.handle.dtype is tf.resource
    assert vector.initializer is None
    assert vector.constraint is None
    assert vector.synchronization is tf.VariableSynchronization.AUTO
    assert vector.aggregation is tf.VariableAggregation.NONE
    assert vector.experimental_ref() == vector.ref()
    assert vector.experimental_ref().deref() is vector
    assert tf.Variable(1.0, name="x").name == tf.Variable(2.0, name="x").name == "x:0"
    with tf.name_scope("scope"):
        assert tf.Variable(1.0).name == "scope/Variable:0"


@pytest.mark.parametrize(
    "initial", [1, 1.5, [True, False], "text", [1 + 2j], np.float16(1.5), np.uint8([1, 2])], ids=repr
)
def test_types(initial):
    variable = tf.Variable(initial)
    assert variable.dtype == tf.constant(initial).dtype
    assert np.array_equal(variable.numpy(), tf.constant(initial).numpy())


def test_a_change_returns_the_variable_changed(vector):
    changed = vector.assign([1.0, 1.0, 1.0]).assign_add([1.0, 2.0, 3.0])
    assert changed.numpy().tolist() == vector.numpy().tolist() == [2.0, 3.0, 4.0]
    assert changed.name == "UnreadVariable"
    assert changed.op is None
    assert (changed + 1.0).numpy().tolist() == [3.0, 4.0, 5.0]
    assert vector.assign_sub([1.0, 1.0, 1.0], read_value=False) is None
    assert vector.numpy().tolist() == [1.0, 2.0, 3.0]
    assert tf.assign(vector, vector * 2.0).numpy().tolist() == [2.0, 4.0, 6.0]


def test_changes_that_do_not_fit(vector):
    with pytest.raises(ValueError, match=r"Shapes \(3,\) and \(2,\) are incompatible"):
        vector.assign([1.0, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[3\].*\[2\].*AssignAddVariableOp"):
        vector.assign_add([1.0, 2.0])
    with pytest.raises(ValueError, match="Tensor conversion requested dtype float32 for Tensor with dtype int32"):
        vector.assign(tf.constant([1, 2, 3]))
    with pytest.raises(TypeError):
        vector.assign("a")
    assert vector.numpy().tolist() == [1.0, 2.0, 3.0]


def test_counting():
    counter = tf.Variable(3)
    assert counter.count_up_to(4).numpy() == 3
    with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 4"):
        counter.count_up_to(4)
    assert tf.count_up_to(counter, 9).numpy() == 4
    assert int(counter) == 5


def test_rows_and_parts_are_read(matrix):
    assert matrix.sparse_read([1, 0]).numpy().tolist() == [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]]
    assert matrix.gather_nd([[1, 2], [0, 0]]).numpy().tolist() == [5.0, 0.0]
    assert tf.gather(matrix, [1], axis=1).numpy().tolist() == [[1.0], [4.0]]
    assert tf.nn.embedding_lookup(matrix, [1, 1]).numpy().tolist() == [[3.0, 4.0, 5.0]] * 2
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 5 is not in \[0, 2\)"):
        matrix.sparse_read([5])


@pytest.mark.parametrize(
    ("change", "expected"),
    [("add", [2, 3, 4]), ("sub", [-2, -1, 0]), ("update", [2, 2, 2]), ("mul", [0, 2, 4]), ("div", [0, 0.5, 1]),
     ("min", [0, 1, 2]), ("max", [2, 2, 2])],
)  # fmt: skip
def test_rows_change(matrix, change, expected):
    method = getattr(matrix, f"scatter_{change}")
    assert method(rows([0], [[2.0, 2.0, 2.0]])).numpy().tolist() == [expected, [3.0, 4.0, 5.0]]
    with pytest.raises(TypeError, match="sparse_delta is not IndexedSlices"):
        method([1])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 7 is not in \[0, 2\)"):
        method(rows([7], [[2.0, 2.0, 2.0]]))


def test_parts_change(matrix):
    matrix.scatter_nd_update([[0, 1]], [7.0])
    matrix.scatter_nd_add([[0, 1]], [2.0])
    assert matrix.scatter_nd_sub([[1, 0]], [1.0]).numpy().tolist() == [[0.0, 9.0, 2.0], [2.0, 4.0, 5.0]]
    assert matrix[0, 1:].assign([7.0, 8.0]).numpy().tolist() == [[0.0, 7.0, 8.0], [2.0, 4.0, 5.0]]
    matrix.batch_scatter_update(tf.IndexedSlices(tf.constant([[9.0], [9.0]]), tf.constant([[2], [0]])))
    assert matrix.numpy().tolist() == [[0.0, 7.0, 9.0], [9.0, 4.0, 5.0]]
    with pytest.raises(tf.errors.UnimplementedError, match=r"sliced l-value shape \[2\] does not match"):
        matrix[0, 1:].assign([7.0, 8.0, 9.0])


def test_what_it_begins_with():
    assert tf.Variable(lambda: tf.ones([2])).numpy().tolist() == [1.0, 1.0]
    assert tf.Variable(lambda: [1, 2], dtype=tf.float64).dtype is tf.float64
    assert tf.Variable([tf.constant(1.0), tf.constant(2.0)]).numpy().tolist() == [1.0, 2.0]
    grows = tf.Variable([1.0], shape=tf.TensorShape([None]))
    assert grows.assign([1.0, 2.0]).numpy().tolist() == [1.0, 2.0]
    assert grows.shape.as_list() == [None]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [({}, ValueError, "initial_value must be specified"),
     ({"initial_value": [1.0], "shape": [2]}, ValueError, "is not compatible with the explicitly supplied"),
     ({"initial_value": [1.0], "collections": 3}, ValueError, "must be a list, tuple, or set"),
     ({"initial_value": [1.0], "constraint": 3}, ValueError, "must be a callable"),
     ({"initial_value": 1.0, "name": "a b"}, ValueError, "is not a valid"),
     ({"variable_def": object()}, ValueError, "Creating ResourceVariable from variable_def is not supported")],
)  # fmt: skip
def test_what_it_cannot_be_made_of(options, error, message):
    with pytest.raises(error, match=message):
        tf.Variable(**options)


def test_collections_and_initializers_have_nothing_to_do(vector):
    assert tf.global_variables() == tf.trainable_variables() == tf.local_variables() == []
    assert tf.global_variables_initializer() is None
    assert tf.variables_initializer([vector]) is None
    assert tf.group(vector.assign([0.0, 0.0, 0.0])) is None
    assert tf.is_variable_initialized(vector).numpy()
    assert vector.initialized_value().numpy().tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("attribute", ["op", "graph"])
def test_what_belongs_to_graphs_is_missing(vector, attribute):
    with pytest.raises(AttributeError, match="is meaningless when eager execution is enabled"):
        getattr(vector, attribute)
    for call in (vector.eval, vector.to_proto, lambda: vector.initial_value):
        with pytest.raises(RuntimeError, match="EAGER mode"):
            call()


def test_what_is_cached_stays():
    cached = tf.Variable([1.0], caching_device="/cpu:0")
    cached.assign([2.0])
    assert cached.value().numpy() == 1.0
    assert cached.read_value().numpy() == cached.numpy() == 2.0


def test_copies(vector):
    assert copy.copy(vector) is vector
    copied = copy.deepcopy(vector)
    copied.assign([9.0, 9.0, 9.0])
    assert copied.name == "a_copy:0"
    assert vector.numpy().tolist() == [1.0, 2.0, 3.0]
    loaded = pickle.loads(pickle.dumps(vector))
    assert repr(loaded) == repr(vector)


def test_operators_in_place_are_refused(vector):
    with pytest.raises(RuntimeError, match=r"Variable \+= value not supported"):
        vector += 1.0
    with pytest.raises(RuntimeError, match=r"Variable \*= value not supported"):
        vector *= 2.0


def test_it_is_no_part_of_a_graph(vector):
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="Attempting to capture an EagerTensor"):
        vector + 1.0
    with tf.Graph().as_default():
        symbol = tf.get_variable("z", [2])
    with pytest.raises(TypeError, match='passed a "Graph" tensor'):
        symbol + 1.0


def test_it_ends_with_the_last_reference_to_it():
    variable = tf.Variable([1.0, 2.0])
    alive = weakref.ref(variable)
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_sum(variable * 2.0)
    del variable
    assert alive() is not None  # the tape watches it
    (gradient,) = tape.gradient(loss, tape.watched_variables())
    assert gradient.numpy().tolist() == [2.0, 2.0]
    del tape, loss
    gc.collect()
    assert alive() is None


def test_creators_are_asked():
    def creator(next_creator, **options):
        return next_creator(**{**options, "initial_value": 2 * options["initial_value"], "use_resource": False})

    with tf.variable_creator_scope(creator):
        variable = tf.Variable(3.0)
    assert variable.numpy() == 6


def test_there_are_no_reference_variables():
    with pytest.raises(RuntimeError, match="tf.Variable not supported when eager execution is enabled"):
        RefVariable(1.0)
