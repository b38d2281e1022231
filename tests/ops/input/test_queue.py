"""Queues: what goes in comes out, in its order; closing; errors in TensorFlow's words."""

import threading
import time

import numpy as np
import pytest
from random_vectors import assert_matches, case_id, cases, seeds

import stillflow as tf
from stillflow import ops


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def session():
    # Whatever waits for something that never comes fails after this time.
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=20_000)) as session:
        yield session


class Background:
    """A session's run in a thread; `result()` gives what it returned or raises what it raised."""

    def __init__(self, session, fetches):
        self._function = lambda: session.run(fetches)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        try:
            self._value, self._error = self._function(), None
        except Exception as error:
            self._value, self._error = None, error

    @property
    def is_waiting(self):
        self._thread.join(0.15)
        return self._thread.is_alive()

    def result(self):
        self._thread.join(20)
        assert not self._thread.is_alive()
        if self._error is not None:
            raise self._error
        return self._value


def kinds(shapes=((),), **kwargs):
    """A queue of each kind for elements of one int32."""
    return [
        tf.FIFOQueue(10, tf.int32, shapes, **kwargs),
        tf.PaddingFIFOQueue(10, tf.int32, list(shapes), **kwargs),
        tf.RandomShuffleQueue(10, 0, tf.int32, shapes, **kwargs),
    ]


# ---- Elements -----------------------------------------------------------------------------------------------


ELEMENTS = {
    tf.float32: [1.5, -2.0],
    tf.float64: [1.5, -2.0],
    tf.float16: [1.5, -2.0],
    tf.int64: [2**40, -1],
    tf.int32: [7, -1],
    tf.int8: [7, -1],
    tf.uint8: [255, 1],
    tf.uint16: [65535, 1],
    tf.bool: [True, False],
    tf.string: [b"a\0b", b""],
}


@pytest.mark.parametrize("dtype", ELEMENTS, ids=lambda dtype: dtype.name)
def test_every_type_goes_through(dtype, session):
    values = ELEMENTS[dtype]
    q = tf.FIFOQueue(10, [dtype, dtype], shapes=[[2], []])
    fed = tf.placeholder(dtype, [2])
    array = np.array(values, object if dtype == tf.string else dtype.as_numpy_dtype)
    session.run(q.enqueue([fed, values[0]]), {fed: array})
    session.run(q.enqueue_many([[values, values[::-1]], values]))
    array[:] = array[::-1]  # what was put in stays what it was
    first = session.run(q.dequeue())
    assert first[0].tolist() == values and first[1] == values[0]
    batch = session.run(q.dequeue_many(2))
    assert batch[0].tolist() == [values, values[::-1]] and batch[1].tolist() == values


def test_elements_may_have_any_shape_without_shapes(session):
    q = tf.FIFOQueue(10, [tf.int32])
    for value in (1, [1, 2], [[1], [2]], np.zeros([0, 3], np.int32)):
        session.run(q.enqueue([tf.constant(value, tf.int32)]))
    assert session.run(q.dequeue()) == 1
    assert [session.run(q.dequeue()).tolist() for _ in range(3)] == [[1, 2], [[1], [2]], []]
    with pytest.raises(tf.errors.InvalidArgumentError, match="require the components to have specified shapes"):
        session.run(q.dequeue_many(0))


def test_batches_without_elements(session):
    for q in kinds(shapes=[[3]]):
        assert session.run(q.dequeue_many(0)).shape == (0, 3)
        assert session.run(q.dequeue_up_to(0)).shape == (0, 3)
        session.run(q.enqueue_many([np.zeros([0, 3], np.int32)]))
        assert session.run(q.size()) == 0


def test_smaller_elements_are_padded(session):
    q = tf.PaddingFIFOQueue(10, [tf.int32, tf.string], shapes=[[None, None], [None]])
    fed, words = tf.placeholder(tf.int32), tf.placeholder(tf.string)
    enqueue = q.enqueue([fed, words])
    arrays = [np.full([a, b], a * 10 + b, np.int32) for a, b in ((2, 1), (1, 3), (0, 2), (2, 2))]
    for i, array in enumerate(arrays):
        session.run(enqueue, {fed: array, words: [b"x"] * i})
    session.run(q.close())
    numbers, texts = session.run(q.dequeue_up_to(9))
    expected = np.zeros([4, 2, 3], np.int32)
    for i, array in enumerate(arrays):
        expected[i, : array.shape[0], : array.shape[1]] = array
    assert numbers.tolist() == expected.tolist()
    assert texts.tolist() == [[b"x"] * i + [b""] * (3 - i) for i in range(4)]


def test_a_dequeued_value_does_not_change(session):
    """Values are shared with the queue, and variables are updated in place."""
    v = tf.Variable([1.0, 2.0])
    q = tf.FIFOQueue(10, tf.float32, [[2]])
    session.run(v.initializer)
    session.run(q.enqueue(v))
    session.run(v.assign_add([10.0, 10.0]))
    assert session.run(q.dequeue()).tolist() == [1.0, 2.0]


def test_dequeue_many_may_take_more_than_the_queue_holds(session):
    q = tf.FIFOQueue(3, tf.int32, [()])
    batch = Background(session, q.dequeue_many(10))
    session.run(q.enqueue_many([list(range(12))]))
    assert batch.result().tolist() == list(range(10))
    assert session.run(q.size()) == 2


def test_those_who_wait_are_served_in_their_order(session):
    q = tf.FIFOQueue(10, tf.int32, [()])
    large = Background(session, q.dequeue_many(3))
    assert large.is_waiting
    small = Background(session, q.dequeue())
    assert small.is_waiting
    session.run(q.enqueue_many([[1, 2]]))
    assert small.is_waiting
    session.run(q.enqueue_many([[3, 4]]))
    assert large.result().tolist() == [1, 2, 3] and small.result() == 4


def test_the_most_urgent_leaves_first(session):
    q = tf.PriorityQueue(100, [tf.string], shapes=[()])
    urgency = np.random.default_rng(1).permutation(50)
    session.run(q.enqueue_many([urgency, [str(i) for i in urgency]]))
    keys, texts = session.run(q.dequeue_many(50))
    assert keys.tolist() == list(range(50))
    assert texts.tolist() == [str(i).encode() for i in range(50)]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"component 0. Expected \[\], got \[1\]"):
        fed = tf.placeholder(tf.int64)
        session.run(q.enqueue([fed, "x"]), {fed: [1]})


def test_a_random_queue_keeps_a_reserve_until_it_is_closed(session):
    q = tf.RandomShuffleQueue(10, 3, tf.int32, [()], seed=1)
    session.run(q.enqueue_many([list(range(5))]))
    taken = [session.run(q.dequeue()) for _ in range(2)]
    more = Background(session, q.dequeue())
    assert more.is_waiting
    session.run(q.close())
    taken += [more.result(), *session.run(q.dequeue_many(2))]
    assert sorted(taken) == list(range(5))


def test_unseeded_random_queues_differ(session):
    orders = set()
    for _ in range(5):
        q = tf.RandomShuffleQueue(30, 0, tf.int32, [()])
        session.run(q.enqueue_many([list(range(20))]))
        orders.add(tuple(session.run(q.dequeue_many(20))))
    assert len(orders) > 1


# ---- Closing ------------------------------------------------------------------------------------------------


def test_a_closed_queue_is_emptied_and_then_at_its_end(session):
    for q in kinds():
        kind = type(q).__name__
        session.run(q.enqueue_many([[1, 2, 3]]))
        session.run(q.close())
        assert session.run(q.is_closed())
        with pytest.raises(tf.errors.CancelledError, match=f"{kind} '_.*' is closed"):
            session.run(q.enqueue(1))
        with pytest.raises(tf.errors.CancelledError, match="is already closed"):
            session.run(q.close())
        session.run(q.close(cancel_pending_enqueues=True))
        insufficient = rf"{kind} '_\d+_.*' is closed and has insufficient elements \(requested 5, current size 3\)"
        with pytest.raises(tf.errors.OutOfRangeError, match=insufficient):
            session.run(q.dequeue_many(5))
        assert session.run(q.dequeue()) in (1, 2, 3)
        assert len(session.run(q.dequeue_up_to(5))) == 2
        with pytest.raises(tf.errors.OutOfRangeError, match=r"\(requested 5, current size 0\)"):
            session.run(q.dequeue_up_to(5))
        with pytest.raises(tf.errors.OutOfRangeError, match=r"\(requested 1, current size 0\)"):
            session.run(q.dequeue())


def test_close_wakes_who_waits_for_elements(session):
    for q in kinds():
        session.run(q.enqueue_many([[1, 2]]))
        many = Background(session, q.dequeue_many(3))
        assert many.is_waiting
        session.run(q.close())
        with pytest.raises(tf.errors.OutOfRangeError, match=r"requested 1, current size 0"):
            many.result()
        assert sorted(session.run(q.dequeue_up_to(5))) == [1, 2]  # what it had taken went back


def test_close_gives_a_smaller_batch_to_who_takes_it(session):
    for q in kinds():
        session.run(q.enqueue_many([[1, 2]]))
        some = Background(session, q.dequeue_up_to(3))
        assert some.is_waiting
        none = Background(session, q.dequeue_up_to(3))
        assert none.is_waiting
        session.run(q.close())
        assert sorted(some.result()) == [1, 2]
        with pytest.raises(tf.errors.OutOfRangeError, match="requested 3, current size 0"):
            none.result()


def test_close_waits_for_the_enqueues_before_it(session):
    q = tf.FIFOQueue(1, tf.int32, [()])
    session.run(q.enqueue(1))
    before = Background(session, q.enqueue(2))
    assert before.is_waiting
    close = Background(session, q.close())
    assert close.is_waiting
    after = Background(session, q.enqueue(3))
    assert after.is_waiting
    assert not session.run(q.is_closed())
    assert session.run(q.dequeue()) == 1
    assert before.result() is None and close.result() is None
    with pytest.raises(tf.errors.CancelledError, match="is closed"):
        after.result()
    assert session.run(q.dequeue()) == 2


def test_close_can_cancel_the_enqueues_before_it(session):
    q = tf.FIFOQueue(2, tf.int32, [()])
    session.run(q.enqueue(1))
    waiting = [Background(session, q.enqueue_many([[2, 3, 4]]))]
    assert waiting[0].is_waiting
    waiting.append(Background(session, q.close()))
    assert waiting[1].is_waiting
    session.run(q.close(cancel_pending_enqueues=True))
    for attempt in waiting:
        with pytest.raises(tf.errors.CancelledError, match="Enqueue operation was cancelled"):
            attempt.result()
    assert session.run(q.dequeue_up_to(9)).tolist() == [1, 2]


# ---- The end of a run -----------------------------------------------------------------------------------------


def test_closing_the_session_cancels_who_waits():
    session = tf.Session()
    q, full = tf.FIFOQueue(1, tf.int32, [()]), tf.FIFOQueue(1, tf.int32, [()])
    session.run(full.enqueue(1))
    waiting = {
        "Dequeue": [Background(session, q.dequeue()), Background(session, q.dequeue_many(2))],
        "Enqueue": [Background(session, full.enqueue(1))],
    }
    assert all(attempt.is_waiting for attempts in waiting.values() for attempt in attempts)
    start = time.monotonic()
    session.close()
    for what, attempts in waiting.items():
        for attempt in attempts:
            with pytest.raises(tf.errors.CancelledError, match=f"{what} operation was cancelled"):
                attempt.result()
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("kind", range(3))
def test_a_run_out_of_time_loses_nothing(kind, session):
    q = kinds()[kind]
    session.run(q.enqueue_many([[1, 2]]))
    options = tf.RunOptions(timeout_in_ms=100)
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(q.dequeue_many(3), options=options)
    assert sorted(session.run(q.dequeue_many(2)).tolist()) == [1, 2]
    session.run(q.enqueue_many([list(range(8))]))
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(q.enqueue_many([list(range(10, 20))]), options=options)
    assert session.run(q.size()) == 10
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(q.enqueue(1), options=options)
    assert session.run(q.dequeue_many(8)).shape == (8,)


# ---- Mistakes -----------------------------------------------------------------------------------------------


def test_static_mistakes():
    q = tf.FIFOQueue(2, [tf.int32, tf.float32], shapes=[(), (2,)])
    for vals, message in (
        ([1, [1.0, 2.0, 3.0]], r"Shapes \(3,\) and \(2,\) are incompatible"),
        ({"a": 1}, "Queue must have names to enqueue a dictionary"),
    ):
        with pytest.raises(ValueError, match=message):
            q.enqueue(vals)
    with pytest.raises(TypeError, match="Expected int32"):
        q.enqueue([1.5, [1.0, 2.0]])
    with pytest.raises(ValueError, match=r"Shape \(\) must have rank at least 1"):
        q.enqueue_many([1, [1.0, 2.0]])
    with pytest.raises(ValueError, match="Dimensions 2 and 1 are not compatible"):
        q.enqueue_many([[1, 2], [[1.0, 2.0]]])
    with pytest.raises(ValueError, match="Input 'n' must be >= 0, but is -1"):
        q.dequeue_many(-1)
    named = tf.FIFOQueue(3, [tf.int32, tf.float32], names=["a", "b"], shapes=[(), ()])
    with pytest.raises(ValueError, match="You must enqueue a dictionary in a Queue with names"):
        named.enqueue([1, 2.0])
    with pytest.raises(
        ValueError, match=r"do not match names of Queue.  Dictionary: \(\['a'\]\), Queue: \(\['a', 'b'"
    ):
        named.enqueue({"a": 1})
    with pytest.raises(ValueError, match="List of names must have the same length as the list of dtypes"):
        tf.FIFOQueue(3, [tf.int32], names=["a", "b"])
    with pytest.raises(ValueError, match="Queue shapes must have the same length as dtypes"):
        tf.FIFOQueue(3, [tf.int32], shapes=[(), ()])
    with pytest.raises(ValueError, match="All shapes must be fully defined"):
        tf.FIFOQueue(3, tf.int32, shapes=[[None]])
    for shapes in (None, [None], [], [3]):
        with pytest.raises(ValueError, match="When providing partial shapes, a list of shapes must be provided"):
            tf.PaddingFIFOQueue(3, tf.int32, shapes)
    with pytest.raises(TypeError, match="shapes must be a TensorShape or a list or tuple"):
        tf.FIFOQueue(3, tf.int32, shapes=3)
    with pytest.raises(TypeError, match="A list of queues expected"):
        tf.QueueBase.from_list(0, [])
    with pytest.raises(TypeError, match="matching component dtypes"):
        tf.QueueBase.from_list(0, [q, tf.FIFOQueue(3, tf.int32)])


def test_mistakes_at_run_time(session):
    q = tf.FIFOQueue(-1, [tf.int32, tf.float32], shapes=[(), (2,)])
    a, b = tf.placeholder(tf.int32), tf.placeholder(tf.float32)
    one, many, n = q.enqueue([a, b]), q.enqueue_many([a, b]), tf.placeholder(tf.int32)
    for op, feeds, message in (
        (one, {a: [1, 2], b: [1, 2]}, r"Shape mismatch in tuple component 0. Expected \[\], got \[2\]"),
        (one, {a: 1, b: [1, 2, 3]}, r"Shape mismatch in tuple component 1. Expected \[2\], got \[3\]"),
        (many, {a: [1, 2], b: [[1, 2]]}, r"Shape mismatch in tuple component 1. Expected \[2,2\], got \[1,2\]"),
        (many, {a: 1, b: [[1, 2]]}, "Shape mismatch in tuple component 0"),
        (q.dequeue_many(n), {n: -1}, "DequeueManyOp requested -1 < 0 elements"),
        (q.dequeue_many(n), {n: [1, 2]}, "must be a scalar"),
        (q.dequeue_up_to(-1), {}, "DequeueUpToOp requested -1 < 0 elements"),
        (ops.queue_enqueue_v2(q.queue_ref, [b, a]), {a: 1, b: 1},
         "Signature mismatch, have: resource, float, int32-> expected: resource, int32, float->"),
        (ops.queue_enqueue_v2(q.queue_ref, [a]), {a: 1}, "Signature mismatch"),
        (ops.queue_dequeue_v2(q.queue_ref, component_types=[tf.float32]), {},
         "Signature mismatch, have: resource->float expected: resource->int32, float"),
        (ops.queue_dequeue_v2(q.queue_ref, component_types=[tf.int32, tf.float32], timeout_ms=5), {},
         "Timeout not supported yet"),
        (tf.RandomShuffleQueue(3, 5, tf.int32).size(), {}, "min_after_dequeue 5 must be < capacity 3"),
        (tf.RandomShuffleQueue(3, -1, tf.int32).size(), {}, "min_after_dequeue -1 must be >= 0"),
        (ops.queue_size_v2(ops.fifo_queue_v2(component_types=[tf.int32], shapes=[[], []])), {},
         "Different number of component types"),
    ):  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(op, feeds)
    free = tf.FIFOQueue(-1, [tf.int32, tf.float32])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Component 1 has 1, and should have 2"):
        session.run(free.enqueue_many([a, b]), {a: [1, 2], b: [1]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="rank at least 1"):
        session.run(free.enqueue_many([a, b]), {a: [1], b: 1})
    assert session.run(q.size()) == session.run(free.size()) == 0


# ---- Names and handles ----------------------------------------------------------------------------------------


def test_queues_of_one_shared_name_are_one_queue(session):
    first = tf.FIFOQueue(3, tf.int32, shared_name="shared")
    again = tf.FIFOQueue(3, tf.int32, shared_name="shared")
    with tf.container("other"):
        other = tf.FIFOQueue(3, tf.int32, shared_name="shared")
    session.run(first.enqueue(1))
    assert session.run([again.size(), other.size()]) == [1, 0]
    for q, message in (
        (tf.FIFOQueue(4, tf.int32, shared_name="shared"),
         "Shared queue 'shared' has capacity 3 but requested capacity was 4"),
        (tf.FIFOQueue(3, tf.float32, shared_name="shared"),
         "Shared queue 'shared' has component types int32 but requested component types were float"),
        (tf.FIFOQueue(3, tf.int32, shapes=[()], shared_name="shared"),
         r"Shared queue 'shared' has component shapes \[\] but requested component shapes were \[\[\]\]"),
        (tf.RandomShuffleQueue(3, 1, tf.int32, shared_name="shared"), "Expected FIFOQueue, found RandomShuffleQueue"),
    ):  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(q.size())
    with tf.Session() as another:
        assert another.run(again.size()) == 0


def test_handles_are_checked_when_they_are_used(session):
    q = tf.FIFOQueue(3, tf.int32)
    chosen = tf.placeholder(tf.int32)
    pair = tf.QueueBase.from_list(chosen, [q, tf.FIFOQueue(3, tf.int32, name="second")])
    session.run(pair.enqueue(1), {chosen: 1})
    assert session.run([q.size(), pair.size()], {chosen: 1}) == [0, 1]
    variable = tf.Variable(1, use_resource=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="wrong type"):
        session.run(ops.queue_size_v2(variable.handle))
    with pytest.raises((tf.errors.OpError, TypeError, ValueError)):
        session.run(q.queue_ref)
    with pytest.raises(tf.errors.InvalidArgumentError, match="A handle is one resource"):
        session.run(ops.queue_size_v2(ops.stack([q.queue_ref, q.queue_ref])))


def test_the_first_versions_of_the_ops(session):
    handle = ops.fifo_queue(component_types=[tf.int32], shapes=[[]], name="old")
    container, name = session.run(handle)
    assert container == b"localhost" and name.endswith(b"_old")
    q = tf.QueueBase([tf.int32], [[]], None, handle)
    session.run(q.enqueue_many([[1, 2, 3]]))
    assert session.run(q.dequeue()) == 1
    assert session.run(q.dequeue_many(1)).tolist() == [2]
    session.run(q.close())
    assert session.run(q.dequeue_up_to(5)).tolist() == [3]
    assert session.run([q.size(), q.is_closed()]) == [0, True]
    session.run(q.close(cancel_pending_enqueues=True))


@pytest.mark.parametrize("case", cases("queue"), ids=case_id)
def test_a_random_queue_has_the_order_of_tensorflow(session, case):
    queue = ops.random_shuffle_queue_v2(
        component_types=[tf.int64],
        shapes=[[]],
        capacity=case["capacity"],
        min_after_dequeue=case["min_after_dequeue"],
        **seeds(case),
    )
    elements = tf.placeholder(tf.int64, [None])
    number = tf.placeholder(tf.int32, [])
    types = {"component_types": [tf.int64]}
    runs = {
        "enqueue_many": ops.queue_enqueue_many_v2(queue, [elements]),
        "dequeue": ops.queue_dequeue_v2(queue, **types),
        "dequeue_many": ops.queue_dequeue_many_v2(queue, number, **types),
        "dequeue_up_to": ops.queue_dequeue_up_to_v2(queue, number, **types),
        "close": ops.queue_close_v2(queue),
    }
    expected = iter(case["out"])
    for name, *arguments in case["steps"]:
        feed = (
            {elements: np.arange(*arguments)}
            if name == "enqueue_many"
            else {number: arguments[0]}
            if arguments
            else {}
        )
        value = session.run(runs[name], feed)
        if name.startswith("dequeue"):
            assert_matches(next(expected), value[0])
    assert next(expected, None) is None
