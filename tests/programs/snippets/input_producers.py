"""Input pipelines of queues: the nodes of producers and batches, their summaries and counters."""


def producers(tf):
    tf.train.string_input_producer(["a", "b"])
    tf.train.string_input_producer(["a", "b"], num_epochs=2, shuffle=False, name="named")
    tf.train.string_input_producer(tf.placeholder(tf.string, [None]), capacity=5, seed=3)
    tf.train.range_input_producer(5, num_epochs=1, seed=3, capacity=7, shared_name="shared")
    tf.train.range_input_producer(tf.constant(4), shuffle=False, name="range")
    with tf.name_scope("outer"):
        tf.train.input_producer(tf.zeros([3, 2]), shuffle=False, summary_name="sum", cancel_op=tf.no_op())
        tf.train.input_producer(tf.placeholder(tf.int32), element_shape=[4], num_epochs=3, name="p")
    tf.train.string_input_producer(["x"], cancel_op=tf.no_op(), shared_name="s")


def slices(tf):
    tf.train.slice_input_producer([tf.constant([[1, 2], [3, 4]]), ["x", "y"]])
    tf.train.slice_input_producer([tf.placeholder(tf.float32, [None, 3])], num_epochs=1, shuffle=False, name="s")


def epochs_and_names(tf):
    tf.train.limit_epochs(tf.constant(1.0), 3)
    tf.train.limit_epochs([1, 2])
    tf.train.limit_epochs([1, 2], num_epochs=2, name="twice")
    tf.train.match_filenames_once("/x/*")
    tf.train.match_filenames_once(["/x/*", "/y"], name="many")
    v = tf.Variable(0, name="v")
    tf.count_up_to(v, 5)
    v.count_up_to(7)


def _inputs(tf):
    return tf.constant([1.0, 2.0], name="a"), tf.placeholder(tf.string, [], name="b")


def batches(tf):
    a, b = _inputs(tf)
    tf.train.batch([a, b], 3)
    tf.train.batch([a, b], 3, num_threads=2, capacity=50, allow_smaller_final_batch=True, name="named")
    tf.train.batch({"x": a, "y": b}, 3, shared_name="shared")
    tf.train.batch([tf.zeros([5, 2]), tf.ones([5])], 4, enqueue_many=True)
    tf.train.batch([tf.placeholder(tf.int32, [None])], 4, dynamic_pad=True)
    tf.train.batch([tf.placeholder(tf.int32)], 4, shapes=[[7]])
    tf.train.batch([a], tf.constant(2))
    with tf.name_scope("outer"):
        tf.train.batch((b,), 2)


def shuffled_batches(tf):
    a, b = _inputs(tf)
    tf.train.shuffle_batch([a, b], 3, 20, 7, seed=1)
    tf.train.shuffle_batch({"x": a}, 3, 20, 7, num_threads=2, allow_smaller_final_batch=True, shared_name="s")
    tf.train.shuffle_batch([tf.zeros([5, 2])], 4, 30, 0, enqueue_many=True, name="named")
    tf.set_random_seed(3)
    tf.train.shuffle_batch([b], 2, capacity=10, min_after_dequeue=5)
    tf.train.shuffle_batch([b], 2, capacity=10, min_after_dequeue=5, shared_name="shared")


def joined_batches(tf):
    a, b = _inputs(tf)
    c, d = tf.zeros([2]), tf.constant("d")
    tf.train.batch_join([[a, b], [c, d]], 3)
    tf.train.batch_join([{"x": a, "y": b}, {"x": c, "y": d}], 3, allow_smaller_final_batch=True, name="dicts")
    tf.train.batch_join([[tf.placeholder(tf.int32, [2, None])], [tf.zeros([3, 2], tf.int32)]], 2, enqueue_many=True,
                        dynamic_pad=True)  # fmt: skip
    tf.train.shuffle_batch_join([[a, b], [c, d]], 3, 20, 7, seed=5)
    tf.train.shuffle_batch_join([[a], [c]], 3, 20, 7, enqueue_many=True, allow_smaller_final_batch=True)


def maybe_static(tf):
    a, b = _inputs(tf)
    tf.train.maybe_batch([a, b], True, 3)
    tf.train.maybe_batch([a], tf.constant(True), 3)
    tf.train.maybe_batch([a, tf.zeros([2, 3])], [True, False], 3, enqueue_many=True)
    tf.train.maybe_batch([a], tf.placeholder(tf.bool, [2]), 3, enqueue_many=True, name="some")
    tf.train.maybe_shuffle_batch([a], 3, 20, 7, [True, True], enqueue_many=True, seed=1)
    tf.train.maybe_batch_join([[a], [a]], [True, False], 3, enqueue_many=True)
    tf.train.maybe_shuffle_batch_join([[a], [a]], 3, 20, 7, tf.constant([True, False]), enqueue_many=True)


def sparse(tf):
    s = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 3])
    tf.train.batch([s, tf.constant(1)], 2)
    tf.train.batch({"s": s}, 2, enqueue_many=True, allow_smaller_final_batch=True)
    tf.train.shuffle_batch([s], 2, 10, 3)
    tf.train.batch_join([[s], [s]], 2)


def readers(tf):
    q = tf.train.string_input_producer(["a"], shuffle=False)
    for reader in (tf.TextLineReader(), tf.TextLineReader(skip_header_lines=2, name="lines"), tf.WholeFileReader(),
                   tf.FixedLengthRecordReader(4), tf.FixedLengthRecordReader(4, 1, 2, 3, "fixed", "ZLIB"),
                   tf.TFRecordReader(), tf.IdentityReader(name="identity")):  # fmt: skip
        reader.read(q)
        reader.read_up_to(q, 3, name="up_to")
        reader.num_records_produced()
        reader.num_work_units_completed()
        reader.serialize_state()
        reader.restore_state("x")
        reader.reset(name="again")


def maybe_dynamic(tf):
    a, b = _inputs(tf)
    keep = tf.placeholder(tf.bool, [])
    tf.train.maybe_batch([a, b], keep, 3)
    tf.train.maybe_shuffle_batch([a], 3, 20, 7, keep, seed=1)
    tf.train.maybe_batch_join([[a], [a]], keep, 3)


def maybe_sparse(tf):
    s = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 3])
    keep = tf.placeholder(tf.bool, [])
    tf.train.maybe_batch([s], keep, 2)
    tf.train.maybe_batch([s], keep, 2, enqueue_many=True)
    tf.train.maybe_batch([s], [True, False], 2, enqueue_many=True)
    tf.train.maybe_shuffle_batch([s, [1, 2]], 2, 9, 3, tf.placeholder(tf.bool, [2]), enqueue_many=True)
    tf.train.maybe_batch_join([[s], [s]], keep, 2)
