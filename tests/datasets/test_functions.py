"""Data sets that call functions: failures, ends, positions and interrupted runs. The snippets have their graphs."""

import signal
import threading
import time

import numpy as np
import pytest

import stillflow as tf
from stillflow.formats import protobuf

OUT = "end"


def numbers(*limits):
    return tf.data.Dataset.range(*limits)


def outcomes(dataset, count, session=None):
    """What `count` attempts at the next element bring: values, names of errors, or OUT."""
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    with session or tf.Session() as running:
        running.run(iterator.initializer)
        return taken(running, element, count)


def taken(session, element, count):
    found = []
    for _ in range(count):
        try:
            found.append(plain(session.run(element)))
        except tf.errors.OutOfRangeError:
            found.append(OUT)
        except tf.errors.OpError as error:
            found.append(type(error).__name__)
    return found


def plain(value):
    if isinstance(value, (tuple, list)):
        return tuple(plain(part) for part in value)
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return value.tolist() if hasattr(value, "tolist") else value


def picky(x):
    """Fails for 2, and says for 3 that there is no more."""
    if x == 2:
        raise ValueError("two")
    if x == 3:
        raise StopIteration
    return x


def picked(x):
    return tf.py_func(picky, [x], tf.int64)


# ---- Failures, as TensorFlow 1.15.5 has been seen to answer them --------------------------------------------------


@pytest.mark.parametrize("calls", [None, 1, 2, 5])
def test_a_failing_element_is_passed_over(calls):
    def inverse(x):
        return tf.debugging.check_numerics(1.0 / (tf.cast(x, tf.float32) - 2.0), "bad")

    found = outcomes(numbers(5).map(inverse, num_parallel_calls=calls), 7)
    assert found == [-0.5, -1.0, "InvalidArgumentError", 1.0, 0.5, OUT, OUT]


@pytest.mark.parametrize("calls", [None, 2])
def test_a_mapped_function_that_runs_out_ends_the_pass_there(calls):
    dataset = numbers(6).map(picked, num_parallel_calls=calls)
    assert outcomes(dataset, 7) == [0, 1, "InvalidArgumentError", OUT, 4, 5, OUT]


@pytest.mark.parametrize(
    "transform",
    [
        lambda data: data.filter(lambda x: picked(x) >= 0),
        lambda data: data.flat_map(lambda x: tf.data.Dataset.from_tensors(picked(x))),
        lambda data: data.interleave(lambda x: tf.data.Dataset.from_tensors(picked(x)), cycle_length=2),
    ],
    ids=["filter", "flat_map", "interleave"],
)
def test_other_functions_that_run_out_have_failed(transform):
    found = outcomes(transform(numbers(6)), 7)
    assert found == [0, 1, "InvalidArgumentError", "InternalError", 4, 5, OUT]


def test_an_error_names_the_function_its_node_and_the_iterator():
    iterator = numbers(3).map(picked, num_parallel_calls=2).skip(2).make_initializable_iterator()
    element = iterator.get_next(name="next_one")
    with tf.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            session.run(element)
    text = str(raised.value)
    assert "{{function_node __inference_Dataset_map_picked_" in text
    assert "ValueError: two" in text
    assert "[[{{node PyFunc}}]]" in text
    assert "[[node next_one" in text


def test_predicates_return_one_bool():
    both = numbers(3).filter(lambda x: tf.py_func(lambda _: np.array([True, False]), [x], tf.bool))
    assert outcomes(both, 4) == ["InvalidArgumentError"] * 3 + [OUT]
    for wrong in (lambda x: x, lambda x: (x > 1, x > 2)):
        with pytest.raises(
            ValueError, match="`predicate` return type must be convertible to a scalar boolean tensor"
        ):
            numbers(3).filter(wrong)


def test_functions_return_what_can_be_elements():
    with pytest.raises(TypeError, match=r"Unsupported return value from function passed to Dataset.map\(\): None"):
        numbers(3).map(lambda x: None)
    with pytest.raises(TypeError, match=r"Unsupported return value from function passed to Dataset.map\(\): <object"):
        numbers(3).map(lambda x: object())
    for name in ("flat_map", "interleave"):
        with pytest.raises(TypeError, match="`map_func` must return a `Dataset` object"):
            getattr(numbers(3), name)(lambda x: x)


def test_tensors_of_a_function_do_not_leave_it():
    leaked = []
    numbers(3).map(lambda x: leaked.append(x) or x)
    with pytest.raises(ValueError, match="must be from the same graph"):
        tf.add(leaked[0], tf.constant(1, tf.int64))
    with pytest.raises(ValueError, match="defined in another function"):
        numbers(3).map(lambda x: x + leaked[0])


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        (lambda: numbers(3).map(lambda x: x, num_parallel_calls=0), "num_parallel_calls must be greater than zero"),
        (lambda: numbers(3).interleave(numbers, cycle_length=0), "cycle_length must be greater than zero"),
        (lambda: numbers(3).interleave(numbers, 1, block_length=0), "block_length must be greater than zero"),
        (lambda: numbers(3).interleave(numbers, 1, 1, num_parallel_calls=2), "less than or equal to cycle_length"),
    ],
)
def test_numbers_are_checked(dataset, message):
    iterator = dataset().make_initializable_iterator()
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(iterator.initializer)


def test_what_is_left_open_works():
    assert outcomes(numbers(5).map(lambda x: x + 1, num_parallel_calls=-1), 6) == [1, 2, 3, 4, 5, OUT]
    dataset = numbers(3).interleave(lambda x: tf.data.Dataset.from_tensors(x))
    assert sorted(map(str, outcomes(dataset, 4))) == ["0", "1", "2", OUT]


# ---- Generators ---------------------------------------------------------------------------------------------------


def test_generators():
    def count(n):
        yield from range(n)

    data = tf.data.Dataset
    assert outcomes(data.from_generator(lambda: count(2), tf.int32), 4) == [0, 1, OUT, OUT]
    assert outcomes(data.from_generator(lambda: count(2), tf.int32, []).repeat(2), 5) == [0, 1, 0, 1, OUT]
    with_argument = data.from_generator(count, tf.int64, [], args=(tf.constant(3),))
    assert outcomes(with_argument, 4) == [0, 1, 2, OUT]
    pairs = data.from_generator(lambda: iter([("a", {"n": 1.5})]), (tf.string, {"n": tf.float32}), ([], {"n": []}))
    assert pairs.output_shapes == (tf.TensorShape([]), {"n": tf.TensorShape([])})
    assert outcomes(pairs, 2) == [(b"a", {"n": 1.5}), OUT]
    with pytest.raises(TypeError, match="`generator` must be callable"):
        data.from_generator([1, 2], tf.int32)


@pytest.mark.parametrize(
    ("items", "types", "shapes", "expected", "message"),
    [
        ([1, "a"], tf.int32, None, [1, "InvalidArgumentError", OUT], "could not be converted to the expected type"),
        (
            [[1, 2], [1, 2, 3], [3, 4]], tf.int32, [2], [[1, 2], "InvalidArgumentError", [3, 4], OUT],
            r"yielded an element of shape \(3,\) where an element of shape \(2,\) was expected",
        ),
        (
            [(1, 2)], (tf.int32, tf.float32, tf.int32), None, ["InvalidArgumentError", OUT],
            "did not match the expected structure",
        ),
    ],
    ids=["type", "shape", "structure"],
)  # fmt: skip
def test_what_generators_yield_is_checked(items, types, shapes, expected, message):
    dataset = tf.data.Dataset.from_generator(lambda: iter(items), types, shapes)
    assert outcomes(dataset, len(expected)) == expected
    iterator = dataset.skip(0).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            while True:
                session.run(element)


def test_what_a_generator_raises_is_raised_and_then_it_is_over():
    def broken():
        yield 1
        raise RuntimeError("boom")

    assert outcomes(tf.data.Dataset.from_generator(broken, tf.int32), 4) == [1, "UnknownError", OUT, OUT]


def test_generators_that_are_not_needed_any_more_are_let_go():
    closed = []

    def generator():
        try:
            yield from range(100)
        finally:
            closed.append(True)

    iterator = tf.data.Dataset.from_generator(generator, tf.int32).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(element)
        assert not closed
        session.run(iterator.initializer)
        assert closed == [True]
        assert session.run(element) == 0


# ---- One-shot iterators -------------------------------------------------------------------------------------------


def test_one_shot_iterators_go_through_once():
    element = numbers(3).map(lambda x: x * x).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert taken(session, element, 5) == [0, 1, 4, OUT, OUT]
    with tf.Session() as session:
        assert taken(session, element, 2) == [0, 1]


def test_one_shot_iterators_have_no_state_from_outside():
    variable = tf.Variable(1, dtype=tf.int64, use_resource=True)
    for captured in (variable, tf.placeholder(tf.int64, [])):
        with pytest.raises(ValueError, match="Cannot capture a"):
            numbers(3).map(lambda x, y=captured: x + y).make_one_shot_iterator()
    with pytest.raises(ValueError, match="Failed to create a one-shot iterator for a dataset"):
        numbers(3).map(lambda x: x + variable).make_one_shot_iterator()


# ---- Functions see the values of now ------------------------------------------------------------------------------


def test_functions_read_variables_when_they_are_called():
    for use_resource in (True, False):
        with tf.Graph().as_default():
            variable = tf.Variable(10, dtype=tf.int64, use_resource=use_resource)
            dataset = numbers(9).map(lambda x, v=variable: x + v)
            if use_resource:
                iterator = dataset.make_initializable_iterator()
            else:
                with pytest.warns(UserWarning, match="static optimizations are not compatible"):
                    iterator = dataset.make_initializable_iterator()
            element = iterator.get_next()
            with tf.Session() as session:
                session.run(variable.initializer)
                session.run(iterator.initializer)
                first = session.run(element)
                session.run(variable.assign(1000))
                # TensorFlow hands a reference variable's value to the data set when the iterator is initialized.
                assert (first, session.run(element)) == ((10, 1001) if use_resource else (10, 11))


def test_queues_and_placeholders_can_be_captured():
    queue = tf.FIFOQueue(10, tf.int64, [])
    fill = queue.enqueue_many([[5, 6, 7]])
    factor = tf.placeholder(tf.int64, [])
    iterator = numbers(3).map(lambda x: x * factor + 100 * queue.dequeue()).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(fill)
        session.run(iterator.initializer, {factor: 3})
        assert taken(session, element, 4) == [500, 603, 706, OUT]


# ---- Order and bits -----------------------------------------------------------------------------------------------


def heavy(x):
    values = tf.cast(tf.range(2000), tf.float32) * tf.cast(x, tf.float32)
    return tf.reduce_sum(tf.sin(values)), tf.reduce_sum(tf.sqrt(values))


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_results_do_not_depend_on_threads(threads):
    expected = outcomes(numbers(50).map(heavy), 51)
    for calls in (1, 2, 16, 100):
        with tf.Graph().as_default():
            session = tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=threads))
            assert outcomes(numbers(50).map(heavy, num_parallel_calls=calls), 51, session) == expected


def test_random_functions_draw_in_order_whatever_the_number_of_calls():
    def draw(x):
        return x, tf.random_uniform([], maxval=10**6, dtype=tf.int32, seed=3)

    expected = outcomes(numbers(20).map(draw), 20)
    assert len({pair[1] for pair in expected}) > 15
    for calls in (1, 4, 50):
        with tf.Graph().as_default():
            assert outcomes(numbers(20).map(draw, num_parallel_calls=calls).prefetch(3), 20) == expected


# ---- Positions ----------------------------------------------------------------------------------------------------


def noisy(x):
    return x, tf.random_uniform([], maxval=10**6, dtype=tf.int32, seed=3)


PIPELINES = {
    "group by window": lambda: numbers(30).apply(
        tf.contrib.data.group_by_window(lambda x: x % 3, lambda key, w: w.map(lambda x: x + key), window_size=4)
    ),
    "scan": lambda: numbers(30).apply(tf.contrib.data.scan(np.int64(0), lambda total, x: (total + x, total * x))),
    "unbatch": lambda: numbers(30).batch(5).apply(tf.contrib.data.unbatch()),
    "ignore errors": lambda: numbers(30).apply(tf.contrib.data.ignore_errors()),
    "choose": lambda: tf.contrib.data.choose_from_datasets(
        [numbers(20), numbers(30).map(lambda x: -x)], numbers(60).map(lambda x: x % 2)
    ),
    "parallel interleave": lambda: numbers(30).apply(
        tf.contrib.data.parallel_interleave(lambda x: tf.data.Dataset.range(x % 5), 3, 2)
    ),
    "map": lambda: numbers(20).map(lambda x: x * x),
    "parallel map": lambda: numbers(20).map(lambda x: (x * x, tf.as_string(x)), num_parallel_calls=4),
    "random map": lambda: numbers(20).map(noisy),
    "random map repeated": lambda: numbers(5).map(noisy).repeat(4),
    "random map of a shuffle": lambda: numbers(5).shuffle(5, seed=2).map(noisy).repeat(4),
    "random map, prefetched": lambda: numbers(20).map(noisy, num_parallel_calls=2).prefetch(2),
    "filter": lambda: numbers(60).filter(lambda x: tf.equal(x % 3, 0)),
    "random filter": lambda: numbers(60).filter(lambda x: noisy(x)[1] > 500_000),
    "flat_map": lambda: numbers(8).flat_map(lambda x: numbers(x).map(lambda y: x * 100 + y)),
    "random flat_map": lambda: numbers(8).flat_map(lambda x: numbers(4).map(noisy)),
    "flat_map by a random number": lambda: numbers(20).flat_map(
        lambda x: tf.data.Dataset.from_tensors(noisy(x)).repeat(3)
    ),
    "flat_map of one outside": lambda: outside(numbers(6).shuffle(6, seed=4)),
    "shuffles in turns": lambda: numbers(6).interleave(shuffled, cycle_length=2).repeat(2),
    "shuffles in parallel": lambda: numbers(6).interleave(shuffled, 3, 2, num_parallel_calls=2).repeat(2),
    "windows": lambda: numbers(40).window(3).flat_map(lambda window: window.batch(2)),
    "interleave": lambda: numbers(9).interleave(lambda x: numbers(x).map(noisy), cycle_length=3, block_length=2),
    "generator": lambda: tf.data.Dataset.from_generator(lambda: iter(range(20)), tf.int64, []).map(noisy),
    "generator repeated": lambda: tf.data.Dataset.from_generator(lambda: iter(range(6)), tf.int64, []).repeat(3),
}


def shuffled(x):
    return numbers(x, x + 4).shuffle(4, seed=5)


def outside(dataset):
    return numbers(4).flat_map(lambda x: dataset)


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("is_one_shot", [False, True])
def test_iterators_go_on_where_they_were(name, is_one_shot, tmp_path):
    """From each position: in the same session, and with a checkpoint in a new one."""
    dataset = PIPELINES[name]()
    if is_one_shot:
        iterator = dataset.make_one_shot_iterator()
        start = tf.no_op()
    else:
        iterator = dataset.make_initializable_iterator()
        start = iterator.initializer
    element = iterator.get_next()
    step = tf.Variable(0, name="step")
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run([start, step.initializer])
        everything = taken(session, element, 18)
    for position in (0, 1, 4, 5, 9, 14):
        with tf.Session() as session:
            session.run([start, step.initializer])
            taken(session, element, position)
            path = saver.save(session, str(tmp_path / "model"), global_step=position)
            assert taken(session, element, 3) == everything[position : position + 3]
        with tf.Session() as session:
            if position % 2:
                session.run(start)
                taken(session, element, 2)
            saver.restore(session, path)
            if not position % 2:
                session.run(start)
            assert taken(session, element, 18 - position) == everything[position:]


# ---- Runs that end early ------------------------------------------------------------------------------------------

BLOCKED = {
    "map": lambda queue: numbers(9).map(lambda x: queue.dequeue()),
    "parallel map": lambda queue: numbers(9).map(lambda x: queue.dequeue(), num_parallel_calls=3),
    "filter": lambda queue: numbers(9).filter(lambda x: queue.dequeue() > 0),
    "flat_map": lambda queue: numbers(9).flat_map(lambda x: tf.data.Dataset.from_tensors(queue.dequeue())),
    "prefetch": lambda queue: numbers(9).map(lambda x: queue.dequeue()).prefetch(2),
    "never true": lambda queue: numbers(9).repeat().filter(lambda x: x < 0),
    "always empty": lambda queue: numbers(9).repeat().flat_map(lambda x: numbers(0)),
}


@pytest.mark.parametrize("name", BLOCKED)
def test_a_closed_session_ends_what_waits(name):
    iterator = BLOCKED[name](tf.FIFOQueue(3, tf.int64, [])).make_initializable_iterator()
    element = iterator.get_next()
    session = tf.Session()
    session.run(iterator.initializer)
    raised = []

    def run():
        try:
            session.run(element)
        except tf.errors.OpError as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    time.sleep(0.1)
    session.close()
    thread.join(20)
    assert not thread.is_alive()
    assert isinstance(raised[0], tf.errors.CancelledError)


@pytest.mark.parametrize("name", BLOCKED)
def test_a_run_ends_when_its_time_is_over_and_the_iterator_can_be_used_again(name):
    queue = tf.FIFOQueue(30, tf.int64, [])
    iterator = BLOCKED[name](queue).make_initializable_iterator()
    element = iterator.get_next()
    fill = queue.enqueue_many([tf.range(1, 20, dtype=tf.int64)])
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(2):
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(element, options=tf.RunOptions(timeout_in_ms=150))
        session.run(fill)
        if name not in ("never true", "always empty"):
            assert session.run(element, options=tf.RunOptions(timeout_in_ms=20_000)) is not None


ENDLESS = {
    "interleave": lambda ones: ones.repeat().interleave(lambda x: numbers(0), cycle_length=2),
    "flat_map": lambda ones: ones.repeat().flat_map(lambda x: numbers(0)),
    "filter": lambda ones: ones.repeat().filter(lambda x: x < 0),
    "shuffle": lambda ones: ones.apply(tf.data.experimental.shuffle_and_repeat(3)).filter(lambda x: x < 0),
    "shard": lambda ones: ones.repeat().filter(lambda x: x < 0).shard(2, 1),
    "batch": lambda ones: ones.repeat().filter(lambda x: x < 0).batch(2),
    "window": lambda ones: ones.repeat().filter(lambda x: x < 0).window(2).flat_map(lambda x: x),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_run_that_ends_where_a_pass_does_ends_no_iterator(name):
    iterator = ENDLESS[name](tf.data.Dataset.from_tensors(1)).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(40):
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(element, options=tf.RunOptions(timeout_in_ms=5))


@pytest.mark.parametrize("name", BLOCKED)
def test_an_interrupt_reaches_a_function(name):
    iterator = BLOCKED[name](tf.FIFOQueue(3, tf.int64, [])).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
        began = time.monotonic()
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            session.run(element)
        assert time.monotonic() - began < 20
        timer.join()


# ---- Graphs that nobody vouches for -------------------------------------------------------------------------------


def function_graph():
    numbers(4).map(lambda x: (x, tf.cast(x, tf.float32))).make_one_shot_iterator().get_next()
    return tf.get_default_graph().as_graph_def()


def edited(graph_def, op_type, edit):
    copy = type(graph_def).FromString(graph_def.SerializeToString())
    nodes = [*copy.node, *(node for function in copy.library.function for node in function.node_def)]
    for node in nodes:
        if node.op == op_type:
            edit(node)
    return copy


@pytest.mark.parametrize(
    "edit",
    [
        lambda node: node.attr["output_types"].list.type.__setitem__(0, 1),
        lambda node: node.attr["output_types"].list.type.append(1) or node.attr["output_shapes"].list.shape.add(),
        lambda node: node.attr["output_types"].list.type.pop() and node.attr["output_shapes"].list.shape.pop(),
        lambda node: setattr(node.attr["f"].func, "name", "nothing"),
        lambda node: (
            setattr(node, "op", "FlatMapDataset"),
            node.attr.pop("preserve_cardinality"),
            node.attr.pop("use_inter_op_parallelism"),
        ),
    ],
)
def test_functions_that_do_not_fit_their_node_are_errors(edit):
    with tf.Graph().as_default():
        graph_def = function_graph()
    broken = edited(graph_def, "MapDataset", edit)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(broken, name="")
        with pytest.raises((tf.errors.OpError, ValueError)):
            session.run("IteratorGetNext:0")


def test_graphs_with_functions_are_written_and_read():
    with tf.Graph().as_default():
        graph_def = function_graph()
    read = protobuf.message("GraphDef").FromString(graph_def.SerializeToString())
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(read, name="")
        assert graph.as_graph_def() == read
        assert [plain(session.run(["IteratorGetNext:0", "IteratorGetNext:1"])) for _ in range(2)] == [
            (0, 0.0),
            (1, 1.0),
        ]
