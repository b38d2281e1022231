"""Input pipelines of queues, run: what comes out of producers, readers and batches, and when it ends."""

import collections

import numpy as np
import pytest

import stillflow as tf


class Pipeline:
    """A session with the queue runners started, and a coordinator that stops them."""

    def __enter__(self):
        self.session = tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=30_000))
        self.session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        self.coord = tf.train.Coordinator()
        self.threads = tf.train.start_queue_runners(self.session, self.coord)
        return self

    def __exit__(self, *exception):
        self.coord.request_stop()
        if exception[0] is None:
            self.coord.join(self.threads, stop_grace_period_secs=20)
        self.session.close()

    def run(self, fetches, count):
        return [self.session.run(fetches) for _ in range(count)]

    def run_to_the_end(self, fetches):
        results = []
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                results.append(self.session.run(fetches))
        return results


# ---- Producers ----------------------------------------------------------------------------------------------


def test_strings_in_order_for_some_epochs():
    queue = tf.train.string_input_producer(["a", "b", "c"], num_epochs=2, shuffle=False)
    value = queue.dequeue()
    with Pipeline() as pipeline:
        assert pipeline.run_to_the_end(value) == [b"a", b"b", b"c"] * 2


def test_each_epoch_has_an_order_of_its_own():
    queue = tf.train.range_input_producer(20, seed=4)
    value = queue.dequeue()
    with Pipeline() as pipeline:
        numbers = pipeline.run(value, 60)
    epochs = [numbers[i : i + 20] for i in (0, 20, 40)]
    assert all(sorted(epoch) == list(range(20)) for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2] != list(range(20))
    with Pipeline() as again:
        assert again.run(value, 60) == numbers


def test_rows_of_several_tensors_stay_together():
    numbers, names = np.arange(10).reshape(5, 2), [f"row{i}" for i in range(5)]
    row, name = tf.train.slice_input_producer([tf.constant(numbers), names], num_epochs=3)
    assert row.shape.as_list() == [2] and name.shape.as_list() == []
    with Pipeline() as pipeline:
        pairs = pipeline.run_to_the_end([row, name])
    assert len(pairs) == 15
    for row_value, name_value in pairs:
        assert row_value.tolist() == numbers[int(name_value[3:])].tolist()


def test_rows_of_a_tensor():
    queue = tf.train.input_producer(tf.constant([[1, 2], [3, 4]]), num_epochs=1, shuffle=False)
    rows = queue.dequeue_up_to(9)
    with Pipeline() as pipeline:
        assert [value.tolist() for value in pipeline.run_to_the_end(rows)] == [[[1, 2], [3, 4]]]


def test_no_strings():
    for nothing in ([], (), ""):
        with pytest.raises(ValueError, match="string_input_producer requires a non-null input tensor"):
            tf.train.string_input_producer(nothing)
    queue = tf.train.string_input_producer(tf.placeholder_with_default(np.array([], object), [None]))
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="non-null input tensor"):
        coord = tf.train.Coordinator()
        tf.train.start_queue_runners(session, coord)
        coord.wait_for_stop(20)
        assert session.run(queue.size()) == 0
        coord.join()


def test_the_summary_says_how_full_the_queue_is():
    queue = tf.train.string_input_producer(["a", "b"], capacity=8, num_epochs=2)
    (full,) = tf.get_collection(tf.GraphKeys.SUMMARIES)
    with Pipeline() as pipeline:
        while pipeline.session.run(queue.size()) < 4:
            pass
        summary = tf.Summary.FromString(pipeline.session.run(full))
    assert [(value.tag, value.simple_value) for value in summary.value] == [
        ("input_producer/fraction_of_8_full", 0.5)
    ]


def test_mistakes_of_producers():
    for epochs in (0, -1):
        with pytest.raises(ValueError, match=f"num_epochs must be > 0 not {epochs}"):
            tf.train.limit_epochs(tf.constant(1), epochs)
    with pytest.raises(ValueError, match="must have a fully defined shape or `element_shape` must be specified"):
        tf.train.input_producer(tf.placeholder(tf.int32))
    with pytest.raises(ValueError, match="not compatible"):
        tf.train.input_producer(tf.zeros([2, 3]), element_shape=[4])
    for scalar in (tf.constant("a"), "abc"):
        with pytest.raises(ValueError, match="must have rank at least 1"):
            tf.train.string_input_producer(scalar)
    with pytest.raises(ValueError, match=r"Expected at least one tensor in slice_input_producer\(\)"):
        tf.train.slice_input_producer([])


def test_file_names_are_looked_up_once(tmp_path):
    for name in ("b.txt", "a.txt", "c.csv"):
        (tmp_path / name).write_text(name)
    names = tf.train.match_filenames_once(str(tmp_path / "*.txt"))
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        (tmp_path / "d.txt").write_text("")
        assert [name.decode()[-5:] for name in session.run(names)] == ["a.txt", "b.txt"]


def test_counting_up():
    for variable in (tf.Variable(0), tf.Variable(0, dtype=tf.int64), tf.Variable(0, use_resource=True)):
        count = variable.count_up_to(2)
        with tf.Session() as session:
            with pytest.raises(tf.errors.FailedPreconditionError):
                session.run(count)
            session.run(variable.initializer)
            assert [session.run(count) for _ in range(2)] == [0, 1]
            with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 2"):
                session.run(count)
            assert session.run(variable) == 2
            assert session.run(tf.count_up_to(variable, 9)) == 2
    with pytest.raises(ValueError, match="must be rank 0"):
        tf.Variable([0, 1]).count_up_to(3)
    with pytest.raises(TypeError, match="not in list of allowed values"):
        tf.count_up_to(tf.Variable(1.0), 3)


# ---- Batches ------------------------------------------------------------------------------------------------


def numbers(limit, **kwargs):
    return tf.train.range_input_producer(limit, shuffle=False, **kwargs).dequeue()


def test_batches_in_order():
    number = numbers(10, num_epochs=1)
    batch = tf.train.batch({"n": number, "square": number * number}, 4)
    assert batch["n"].shape.as_list() == [4]
    with Pipeline() as pipeline:
        results = pipeline.run_to_the_end(batch)
    assert [result["n"].tolist() for result in results] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert results[1]["square"].tolist() == [16, 25, 36, 49]


def test_the_last_batch_may_be_smaller():
    batch = tf.train.batch([numbers(10, num_epochs=1)], 4, allow_smaller_final_batch=True)
    assert batch.shape.as_list() == [None]
    with Pipeline() as pipeline:
        assert [value.tolist() for value in pipeline.run_to_the_end(batch)][-1] == [8, 9]


def test_batches_of_batches_and_padding():
    number = numbers(6, num_epochs=1)
    many = tf.train.batch([tf.fill([3], number)], 9, enqueue_many=True, name="many")
    padded = tf.train.batch([tf.fill([number], number), tf.as_string(number)], 3, dynamic_pad=True, name="padded")
    assert padded[0].shape.as_list() == [3, None]
    with Pipeline() as pipeline:
        # Each number goes to one of the two.
        assert all(value.shape == (9,) for value in pipeline.run_to_the_end(many))
        values = []
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                values.append(pipeline.session.run(padded))
    for array, text in values:
        for row, name in zip(array, text, strict=True):
            n = int(name)
            assert row.tolist() == [n] * n + [0] * (array.shape[1] - n)


def test_several_threads_lose_nothing():
    batch = tf.train.batch([numbers(200, num_epochs=5)], 7, num_threads=4, allow_smaller_final_batch=True)
    with Pipeline() as pipeline:
        values = np.concatenate(pipeline.run_to_the_end(batch))
    assert collections.Counter(values.tolist()) == dict.fromkeys(range(200), 5)


def test_shuffled_batches():
    batch = tf.train.shuffle_batch([numbers(100, num_epochs=1)], 10, 50, 20, num_threads=2, seed=3)
    with Pipeline() as pipeline:
        batches = [value.tolist() for value in pipeline.run_to_the_end(batch)]
    everything = [number for values in batches for number in values]
    assert sorted(everything) == list(range(100)) and everything != sorted(everything)
    # With 20 left behind and 50 at most, the first batch is of the first 60.
    assert max(batches[0]) < 60


def test_a_seed_makes_the_order_the_same():
    orders = []
    for _ in range(2):
        with tf.Graph().as_default():
            number = numbers(64, num_epochs=1, capacity=64)
            batch = tf.train.shuffle_batch([number], 16, 64, 0, seed=3)
            queue_size = tf.get_default_graph().get_tensor_by_name("shuffle_batch/random_shuffle_queue_Size:0")
            with Pipeline() as pipeline:
                while pipeline.session.run(queue_size) < 64:
                    pass  # all are in before any is out
                orders.append([value.tolist() for value in pipeline.run_to_the_end(batch)])
    assert orders[0] == orders[1]


def test_joined_batches():
    parts = [[numbers(30, num_epochs=1, name=f"n{i}") + 100 * i, tf.constant(f"from{i}")] for i in range(3)]
    batch = tf.train.batch_join(parts, 6)
    shuffled = tf.train.shuffle_batch_join(parts, 6, 30, 5, seed=1)
    for values, names in (batch, shuffled):
        with Pipeline() as pipeline:
            results = pipeline.run_to_the_end([values, names])
        for numbers_of_batch, names_of_batch in results:
            for number, name in zip(numbers_of_batch, names_of_batch, strict=True):
                assert name == b"from%d" % (number // 100)


def test_elements_that_are_not_kept():
    number = numbers(20, num_epochs=1)
    even = tf.equal(number % 2, 0)
    batch = tf.train.maybe_batch([number], even, 5)
    with Pipeline() as pipeline:
        assert [value.tolist() for value in pipeline.run_to_the_end(batch)] == [[0, 2, 4, 6, 8], [10, 12, 14, 16, 18]]


def test_rows_that_are_not_kept():
    number = numbers(10, num_epochs=1)
    rows = tf.stack([number, number + 100, number + 200])
    keep = tf.stack([True, False, tf.equal(number % 2, 0)])
    batch = tf.train.maybe_batch([rows], keep, 15, enqueue_many=True)
    shuffled = tf.train.maybe_shuffle_batch([tf.range(4)], 2, 9, 2, False, enqueue_many=True)
    with Pipeline() as pipeline:
        (values,) = pipeline.run_to_the_end(batch)
        with pytest.raises(tf.errors.DeadlineExceededError):
            pipeline.session.run(shuffled, options=tf.RunOptions(timeout_in_ms=100))
    assert sorted(values.tolist()) == sorted([*range(10), *range(200, 210, 2)])


def sparse_row(number):
    """A sparse vector with `number` ones."""
    indices = tf.cast(tf.expand_dims(tf.range(number), 1), tf.int64)
    shape = tf.cast(tf.stack([number + 1]), tf.int64)
    return tf.SparseTensor(indices, tf.fill([number], tf.as_string(number)), shape)


@pytest.mark.parametrize("keep", [None, "scalar"])
def test_sparse_batches(keep):
    number = numbers(6, num_epochs=1)
    tensors = {"s": sparse_row(number), "n": number}
    if keep is None:
        batch, kept = tf.train.batch(tensors, 3), range(6)
    else:
        batch, kept = tf.train.maybe_batch(tensors, tf.greater(number, 2), 3), range(3, 6)
    with Pipeline() as pipeline:
        results = pipeline.run_to_the_end(batch)
    seen = []
    for result in results:
        assert result["s"].dense_shape.tolist() == [3, max(result["n"]) + 1]
        expected = [[i, j] for i, n in enumerate(result["n"]) for j in range(n)]
        assert result["s"].indices.tolist() == expected
        assert result["s"].values.tolist() == [b"%d" % n for n in result["n"] for _ in range(n)]
        seen.extend(result["n"].tolist())
    assert seen == list(kept)


def test_rows_of_sparse_tensors():
    sparse = tf.SparseTensor([[0, 1], [2, 0], [2, 2]], [1.0, 2.0, 3.0], [4, 3])
    everything = tf.train.batch([sparse], 4, enqueue_many=True)
    some = tf.train.maybe_batch_join([[sparse], [sparse]], [False, True, True, False], 2, enqueue_many=True)
    with Pipeline() as pipeline:
        value = pipeline.session.run(everything)
        assert value.indices.tolist() == [[0, 1], [2, 0], [2, 2]] and value.dense_shape.tolist() == [4, 3]
        assert value.values.tolist() == [1.0, 2.0, 3.0]
        value = pipeline.session.run(some)
        assert value.dense_shape.tolist() == [2, 3] and 0 <= len(value.values) <= 4


def test_numbers_of_sparse_tensors_are_checked():
    from stillflow import ops

    sparse = [[[0, 0]], [1.0], [2, 2]]
    with tf.Session() as session:
        number = session.run(ops.add_sparse_to_tensors_map(*sparse, shared_name="map"))
        take = ops.take_many_sparse_from_tensors_map([int(number)], dtype=tf.float32, shared_name="map")
        assert session.run(take).sparse_shape.tolist() == [1, 2, 2]
        for op, message in (
            (take, "Unable to find SparseTensor: 0 in map: map"),
            (ops.add_sparse_to_tensors_map([[0, 0]], [1.0, 2.0], [2, 2]), "Number of values must match"),
            (ops.add_sparse_to_tensors_map([[0, 0]], [1.0], [2]), "Number of dimensions must match"),
            (ops.add_many_sparse_to_tensors_map([[0]], [1.0], [2]), "Rank of input SparseTensor should be > 1"),
            (ops.add_many_sparse_to_tensors_map([[5, 0]], [1.0], [2, 2]), "unexpected column value"),
            (ops.add_many_sparse_to_tensors_map(tf.zeros([0, 2], tf.int64), [], [-2, 2]), "must be >= 0"),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(op)
        one = session.run(ops.add_sparse_to_tensors_map(*sparse, shared_name="map"))
        two = session.run(ops.add_sparse_to_tensors_map([[0]], [1.0], [2], shared_name="map"))
        take = ops.take_many_sparse_from_tensors_map([int(one), int(two)], dtype=tf.float32, shared_name="map")
        with pytest.raises(tf.errors.InvalidArgumentError, match="Inconsistent rank across SparseTensors"):
            session.run(take)
        one = session.run(ops.add_sparse_to_tensors_map(*sparse, shared_name="map"))
        take = ops.take_many_sparse_from_tensors_map([int(one)], dtype=tf.int32, shared_name="map")
        with pytest.raises(tf.errors.InvalidArgumentError, match="dtype mismatch"):
            session.run(take)


def test_mistakes_of_batches():
    a, unknown = tf.zeros([2]), tf.placeholder(tf.float32)
    train = tf.train
    for call, error, message in (
        (lambda: train.batch([], 2), ValueError, r"Expected at least one tensor in batch\(\)"),
        (lambda: train.batch_join([], 2), ValueError, "Expected at least one set of tensors"),
        (lambda: train.batch([unknown], 2), ValueError, "Cannot infer Tensor's rank"),
        (lambda: train.batch([tf.constant(1)], 2, enqueue_many=True), ValueError, "must have rank at least 1"),
        (lambda: train.batch([tf.placeholder(tf.float32, [None])], 2), ValueError, "must be fully defined"),
        (lambda: train.batch_join([[a], [tf.zeros([2], tf.int32)]], 2), TypeError,
         "Expected types to be consistent: float32 vs. int32"),
        (lambda: train.batch_join([[a], [tf.zeros([3])]], 2), ValueError, "are not compatible"),
        (lambda: train.batch_join([{"x": a}, {"y": a}], 2), ValueError, "must have the same keys"),
        (lambda: train.maybe_batch([a], tf.placeholder(tf.bool), 2), ValueError, "dimensions must be known"),
        (lambda: train.maybe_batch([a], [True], 2), ValueError, "cannot be a vector when `enqueue_many=False`"),
        (lambda: train.maybe_batch([a], [[True]], 2, enqueue_many=True), ValueError, "must be 0 or 1 dimensions"),
        (lambda: train.shuffle_batch([a], 2, 5, 5), ValueError, "capacity 5 must be bigger than min_after_dequeue 5"),
        (lambda: train.batch([a], 2, num_threads=0), ValueError, "Must provide queue and enqueue_ops"),
        (lambda: train.batch_join([[a], [tf.SparseTensor([[0]], [1.0], [2])]], 2), TypeError, "all or none"),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            call()


# ---- All of it ----------------------------------------------------------------------------------------------


def test_files_to_batches(tmp_path):
    """Names, lines, columns, batches: every line of every file once an epoch."""
    for i in range(3):
        (tmp_path / f"{i}.csv").write_text("a,b\n" + "".join(f"{i * 10 + j},{j / 4}\n" for j in range(10)))
    names = tf.train.match_filenames_once(str(tmp_path / "*.csv"))
    queue = tf.train.string_input_producer(names, num_epochs=2)
    _, line = tf.TextLineReader(skip_header_lines=1).read(queue)
    number, fraction = tf.decode_csv(line, [[0], [0.0]])
    batch = tf.train.shuffle_batch([number, fraction], 8, 40, 10, num_threads=2, allow_smaller_final_batch=True)
    with Pipeline() as pipeline:
        results = pipeline.run_to_the_end(batch)
    found = [(int(n), float(f)) for ns, fs in results for n, f in zip(ns, fs, strict=True)]
    assert sorted(found) == sorted([(i * 10 + j, j / 4) for i in range(3) for j in range(10)] * 2)


def test_a_broken_line_stops_the_pipeline(tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n3\n")
    queue = tf.train.string_input_producer([str(tmp_path / "a.csv")])
    _, line = tf.TextLineReader().read(queue)
    batch = tf.train.batch(tf.decode_csv(line, [[0], [0]]), 5)
    with tf.Session() as session:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)
        with pytest.raises((tf.errors.OutOfRangeError, tf.errors.CancelledError)):
            session.run(batch)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expect 2 fields but have 1"):
            coord.join(threads, stop_grace_period_secs=20)
