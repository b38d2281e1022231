"""What iterators do at run time: beginnings, ends, errors, threads, and being several in one graph."""

import threading
import time

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops

Dataset = tf.data.Dataset


def elements(dataset, feed=None, most=1000):
    """All elements of a data set, in a session of their own."""
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer, feed)
        return rest(session, element, most)


def rest(session, element, most=1000):
    found = []
    try:
        while len(found) < most:
            found.append(session.run(element))
    except tf.errors.OutOfRangeError as error:
        assert error.message.startswith("End of sequence")
    return [value.tolist() if isinstance(value, np.ndarray) else value for value in found]


def test_an_iterator_has_to_be_initialized():
    element = Dataset.range(3).make_initializable_iterator().get_next()
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="has not been initialized"):
        session.run(element)


def test_the_end_comes_again_until_the_next_beginning():
    iterator = Dataset.range(2).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        for _ in range(2):
            session.run(iterator.initializer)
            assert rest(session, element) == [0, 1]
            assert rest(session, element) == []


def test_sessions_have_iterators_of_their_own():
    iterator = Dataset.range(3).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as one, tf.Session() as other:
        one.run(iterator.initializer)
        other.run(iterator.initializer)
        assert [one.run(element), one.run(element), other.run(element)] == [0, 1, 0]


def test_what_was_fed_is_kept():
    fed = tf.placeholder(tf.float32, [None, 2])
    values = np.arange(6, dtype=np.float32).reshape(3, 2)
    iterator = Dataset.from_tensor_slices(fed).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer, {fed: values})
        expected = values.tolist()
        values[:] = -1
        assert rest(session, element) == expected


def test_elements_are_not_changed_by_what_becomes_of_them():
    values = tf.constant(np.ones([4, 3], np.float32))
    iterator = Dataset.from_tensor_slices(values).repeat(2).make_initializable_iterator()
    changed = tf.negative(tf.sqrt(iterator.get_next()))
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert rest(session, changed) == [[-1.0] * 3] * 8


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Dataset.range(3).shard(0, 0),
            r"Number of shards must be greater than zero \(currently num_shards = 0",
        ),
        (lambda: Dataset.range(3).shard(2, 2), r"Index must be between 0 and 1 \(currently index = 2\)"),
        (lambda: Dataset.range(3).batch(0), "Batch size must be greater than zero"),
        (lambda: Dataset.range(3).padded_batch(-1, []), "Batch size must be greater than zero"),
        (lambda: Dataset.range(0, 3, 0), "step must be a non-zero integer"),
        (lambda: Dataset.range(3).shuffle(0), "buffer_size must be greater than zero"),
        (
            lambda: Dataset.range(3).apply(tf.data.experimental.shuffle_and_repeat(2, 0)),
            "count must be greater than zero or equal to -1",
        ),
        (lambda: Dataset.range(3).prefetch(-5), "buffer_size must be >= 0 or set buffer_size to be -1"),
        (lambda: Dataset.range(3).window(0), "Window size must be greater than zero"),
        (lambda: Dataset.range(3).window(1, 0), "Window shift must be greater than zero"),
        (lambda: Dataset.range(3).window(1, 1, 0), "Window stride must be greater than zero"),
        (lambda: Dataset.from_tensor_slices(tf.placeholder_with_default(1, None)), "at least 1-dimensional"),
        (
            lambda: Dataset.from_tensor_slices(tuple(tf.placeholder_with_default([0] * n, None) for n in (1, 2))),
            "same size in the 0th dimension",
        ),
        (
            lambda: Dataset.from_tensors([1]).concatenate(Dataset.from_tensors([1, 2])).batch(2),
            r"Cannot batch tensors with different shapes in component 0. First element had shape \[1\] and element 1 "
            r"had shape \[2\]",
        ),
        (
            lambda: Dataset.from_tensors(tf.placeholder_with_default([[1]], None)).padded_batch(2, [2]),
            "same rank as the padded shape for component0: expected rank 1 but got element with rank 2",
        ),
    ],
)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        elements(make())


def test_an_element_that_is_too_large_to_be_padded():
    dataset = Dataset.from_tensors(tf.placeholder_with_default([1, 2, 3], None)).padded_batch(2, [2])
    with pytest.raises(tf.errors.DataLossError, match="Attempted to pad to a smaller size than the input element"):
        elements(dataset)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Dataset.from_tensor_slices(1), ValueError, "has insufficient rank for batching"),
        (lambda: Dataset.from_tensor_slices(([1, 2], [1])), ValueError, "Dimensions 2 and 1 are not compatible"),
        (lambda: Dataset.range(1, 2, 3, 4), ValueError, "Invalid arguments to RangeDataset"),
        (
            lambda: Dataset.zip([Dataset.range(2)]),
            TypeError,
            "do not support Python lists; please use a tuple instead",
        ),
        (lambda: Dataset.zip((1,)), TypeError, "must be a nested structure of `Dataset` objects"),
        (lambda: Dataset.range(2).concatenate(Dataset.from_tensors(1.0)), TypeError, "have different types"),
        (lambda: Dataset.range(2).padded_batch(2, [1]), ValueError, "is not compatible with the corresponding input"),
        (lambda: Dataset.range(2).padded_batch(2, [], 1.5), TypeError, "does not match output type"),
        (lambda: Dataset.range(3).batch("a"), TypeError, "Expected int64, got 'a'"),
        (lambda: list(Dataset.range(3)), RuntimeError, "only supported inside of tf.function or when eager"),
        (lambda: Dataset.range(3).apply(lambda dataset: 3), TypeError, "must return a Dataset. Got 3"),
        (lambda: tf.data.get_output_types(3), TypeError, "must be a Dataset or Iterator object, but got"),
        (lambda: tf.data.Iterator.from_structure(tf.int32).initializer, ValueError, "does not have an initializer"),
        (
            lambda: tf.data.Iterator.from_structure(tf.int32).make_initializer(Dataset.range(2)),
            TypeError,
            "Expected output types tf.int32 but got dataset with output types tf.int64",
        ),
        (
            lambda: tf.data.Iterator.from_structure(tf.int64, [2]).make_initializer(Dataset.range(2)),
            TypeError,
            "Expected output shapes compatible with",
        ),
    ],
)
def test_what_cannot_be_built(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_edges_of_counts():
    numbers = Dataset.range(3)
    assert elements(numbers.shuffle(2).repeat(0)) == []
    assert elements(numbers.repeat(0)) == elements(numbers.take(0)) == elements(numbers.skip(-1)) == []
    assert elements(numbers.take(-1)) == elements(numbers.skip(0)) == [0, 1, 2]
    assert elements(numbers.skip(5).repeat()) == []
    assert elements(numbers.repeat(), most=7) == [0, 1, 2, 0, 1, 2, 0]
    assert elements(Dataset.range(2**63 - 2, 2**63 - 1, 5)) == [2**63 - 2]
    assert elements(numbers.batch(10**15)) == [[0, 1, 2]]
    assert elements(numbers.shuffle(10**15, seed=1).batch(3)) == elements(numbers.shuffle(4, seed=1).batch(3))


def test_a_string_that_stands_for_an_iterator():
    numbers = [Dataset.range(3).make_initializable_iterator(), Dataset.range(5, 8).make_initializable_iterator()]
    words = Dataset.from_tensors("word").make_initializable_iterator()
    handle = tf.placeholder(tf.string, [])
    element = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    with tf.Session() as session, tf.Session() as other:
        session.run([iterator.initializer for iterator in [*numbers, words]])
        first, second = session.run([iterator.string_handle() for iterator in numbers])
        assert [session.run(element, {handle: each}) for each in (first, second, first)] == [0, 5, 1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Data type mismatch at component 0"):
            session.run(element, {handle: session.run(words.string_handle())})
        for bad in (b"", b"iterator", b"\0\1\2"):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse string_handle"):
                session.run(element, {handle: bad})
        with pytest.raises(tf.errors.NotFoundError, match="does not exist"):
            session.run(element, {handle: b"iterator:123456789"})
        with pytest.raises(tf.errors.NotFoundError, match="does not exist"):
            other.run(element, {handle: first})


def test_a_shared_name_is_one_iterator():
    iterators = [Dataset.range(5).make_initializable_iterator(shared_name="shared") for _ in range(2)]
    with tf.Session() as session:
        session.run(iterators[0].initializer)
        first, second = (iterator.get_next() for iterator in iterators)
        assert [session.run(first), session.run(second), session.run(first)] == [0, 1, 2]
    other = Dataset.from_tensors("word").make_initializable_iterator(shared_name="shared")
    with tf.Session() as session:
        session.run(iterators[0].initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Data type mismatch"):
            session.run(other.initializer)


def test_threads_share_an_iterator():
    iterator = Dataset.range(4000).prefetch(3).batch(2).make_initializable_iterator()
    element = iterator.get_next()
    found = []
    with tf.Session() as session:
        session.run(iterator.initializer)
        threads = [threading.Thread(target=lambda: found.extend(rest(session, element, 4000))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
    assert sorted(number for pair in found for number in pair) == list(range(4000))


def test_closing_ends_what_takes_long():
    endless = Dataset.range(2**62).skip(2**61).prefetch(1).make_initializable_iterator()
    element = endless.get_next()
    session = tf.Session()
    session.run(endless.initializer)
    errors = []

    def run():
        try:
            session.run(element)
        except tf.errors.OpError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.1)
    session.close()
    thread.join(20)
    assert not thread.is_alive()
    assert isinstance(errors[0], tf.errors.CancelledError)


def test_a_run_out_of_time_can_be_asked_again():
    iterator = Dataset.range(2**62).skip(2**61).prefetch(1).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(2):
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(element, options=tf.RunOptions(timeout_in_ms=50))


def test_variants_survive_what_moves_tensors():
    """Data sets in tensors are shared, not copied: whoever moves them has to count."""
    windows = Dataset.range(6).window(2).make_initializable_iterator()
    variant = windows.get_next()._variant_tensor
    stacked = tf.stack([variant, variant, variant])
    chosen = tf.gather(tf.transpose(tf.concat([stacked, stacked[1:]], 0)), [4, 0, 0])
    with tf.Session() as session:
        session.run(windows.initializer)
        for _ in range(3):
            assert session.run(tf.shape(tf.tile(chosen, [3]))).tolist() == [9]
        with pytest.raises(TypeError):
            session.run(chosen)


def test_what_is_no_data_set():
    zeros = ops.zeros_like(Dataset.range(2)._variant_tensor)
    iterator = tf.data.Iterator.from_structure(tf.int64)
    start = ops.make_iterator(zeros, iterator._iterator_resource)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="must be a Dataset object"):
        session.run(start)
