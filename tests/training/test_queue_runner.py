"""Queue runners: their threads, what ends them, and their messages."""

import pytest

import stillflow as tf


def test_threads_fill_the_queue_until_the_coordinator_stops():
    q = tf.FIFOQueue(10, tf.int32)
    runner = tf.train.QueueRunner(q, [q.enqueue(1)] * 3)
    dequeue, is_closed = q.dequeue(), q.is_closed()
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = runner.create_threads(sess, coord)
        enqueue_name = "QueueRunnerThread-fifo_queue-fifo_queue_enqueue"
        assert [t.name for t in threads] == [enqueue_name] * 3 + ["QueueRunnerThread-fifo_queue-close_on_stop"]
        assert not any(t.daemon or t.is_alive() for t in threads)
        assert runner.create_threads(sess, coord) == []
        for thread in threads:
            thread.start()
        for _ in range(100):
            assert sess.run(dequeue) == 1
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=20)
        assert not any(t.is_alive() for t in threads)
        assert sess.run(is_closed)
        assert len(runner.create_threads(sess, coord)) == 4


def test_the_end_of_the_input_closes_the_queue():
    source = tf.FIFOQueue(-1, tf.int32, [()])
    q = tf.FIFOQueue(5, tf.int32, [()])
    runner = tf.train.QueueRunner(q, [q.enqueue(source.dequeue())] * 2)
    tf.train.add_queue_runner(runner)
    assert tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS) == [runner]
    dequeue = q.dequeue()
    with tf.Session() as sess:
        sess.run(source.enqueue_many([list(range(50))]))
        sess.run(source.close())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(coord=coord)
        assert all(t.daemon for t in threads)
        seen = []
        with pytest.raises(tf.errors.OutOfRangeError, match="'.*fifo_queue_1' is closed and has insufficient elem"):
            while True:
                seen.append(sess.run(dequeue))
        assert sorted(seen) == list(range(50))
        assert not coord.should_stop()
        coord.request_stop()
        coord.join(threads)


def test_an_error_reaches_the_coordinator():
    fed = tf.placeholder(tf.int32, name="fed")
    q = tf.FIFOQueue(5, tf.int32)
    runner = tf.train.QueueRunner(q, [q.enqueue(fed)])
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = runner.create_threads(sess, coord, start=True)
        with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value for placeholder tensor 'fed'"):
            coord.join(threads, stop_grace_period_secs=20)
        assert runner.exceptions_raised == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_without_a_coordinator_is_kept():
    q = tf.FIFOQueue(5, tf.int32)
    runner = tf.train.QueueRunner(q, [q.enqueue(tf.placeholder(tf.int32))])
    with tf.Session() as sess:
        (thread,) = runner.create_threads(sess, start=True)
        thread.join(20)
        assert [type(error) for error in runner.exceptions_raised] == [tf.errors.InvalidArgumentError]


def test_other_exceptions_may_mean_the_end():
    source, q = tf.FIFOQueue(5, tf.int32), tf.FIFOQueue(5, tf.int32)
    ends = (tf.errors.OutOfRangeError, tf.errors.CancelledError)
    runner = tf.train.QueueRunner(source, [source.enqueue(1)], q.close(), q.close(), ends)
    with tf.Session() as sess:
        sess.run(source.close())
        coord = tf.train.Coordinator()
        (thread, _) = runner.create_threads(sess, coord, daemon=True, start=True)
        thread.join(20)
        assert not coord.should_stop() and sess.run(q.is_closed())
        coord.request_stop()
        coord.join()


def test_messages_go_both_ways():
    q = tf.FIFOQueue(10, tf.int32, name="a/q")
    with tf.name_scope("a"):
        pass
    runner = tf.train.QueueRunner(q, [q.enqueue(1)] * 2)
    proto = runner.to_proto()
    assert proto.queue_name == "a/q" and list(proto.enqueue_op_name) == ["q_enqueue"] * 2
    assert (proto.close_op_name, proto.cancel_op_name) == ("q_Close", "q_Close_1")
    assert list(proto.queue_closed_exception_types) == [11]
    assert runner.to_proto(export_scope="a").queue_name == "q" and runner.to_proto(export_scope="b") is None
    again = tf.train.QueueRunner.from_proto(proto)
    assert again.to_proto() == proto and again.name == "a/q"
    graph_def = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        tf.import_graph_def(graph_def, name="imported")
        imported = tf.train.QueueRunner.from_proto(proto, import_scope="imported")
        tf.train.add_queue_runner(imported, collection="mine")
        with tf.Session() as sess:
            coord = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(sess, coord, collection="mine")
            assert len(threads) == 3
            size = tf.QueueBase([tf.int32], None, None, sess.graph.get_tensor_by_name("imported/a/q:0")).size()
            while sess.run(size) < 10:
                pass
            coord.request_stop()
            coord.join(stop_grace_period_secs=20)


def test_mistakes():
    q = tf.FIFOQueue(5, tf.int32)
    for arguments in ((), (q,), (q, [])):
        with pytest.raises(ValueError, match="Must provide queue and enqueue_ops"):
            tf.train.QueueRunner(*arguments)
    with pytest.raises(ValueError, match="mutually exclusive"):
        tf.train.QueueRunner(q, [1], queue_runner_def=1)
    for types in (tf.errors.OutOfRangeError, (ValueError,)):
        with pytest.raises(TypeError, match="must be a tuple of tf.error types"):
            tf.train.QueueRunner(q, [q.enqueue(1)], queue_closed_exception_types=types)
    with pytest.raises(ValueError, match="No default session is registered"):
        tf.train.start_queue_runners()
    with pytest.raises(TypeError, match="sess must be a `tf.Session` object"):
        tf.train.start_queue_runners(3)
    with tf.Session():
        assert tf.train.start_queue_runners() == []
