"""Queues: the nodes of their methods, and what comes out."""


def fifo_queue(tf):
    q = tf.FIFOQueue(10, [tf.float32, tf.int32], shapes=[[2], []], name="q")
    a = q.enqueue([[1.0, 2.0], 3])
    with tf.control_dependencies([a]):
        b = q.enqueue_many([tf.constant([[3.0, 4.0], [5.0, 6.0]]), [4, 5]], name="many")
    q.enqueue((tf.constant([1.0, 1.0]), 3), name="named")
    with tf.control_dependencies([a]), tf.control_dependencies([b]):
        size = tf.identity(q.size())
    with tf.control_dependencies([size]):
        x, y = q.dequeue()
    with tf.control_dependencies([x]):
        many = q.dequeue_many(1)
    with tf.control_dependencies(many):
        rest = q.dequeue_up_to(1, name="rest")
        closed = q.is_closed()
    with tf.control_dependencies([*rest, closed]):
        close = q.close()
    q.close(cancel_pending_enqueues=True, name="cancel")
    q.is_closed(name="closed")
    q.size(name="how_many")
    with tf.control_dependencies([close]):
        after = tf.identity(q.is_closed())
    return [size, x, y, *many, *rest, closed, after]


def one_component(tf):
    q = tf.FIFOQueue(10, tf.string)
    r = tf.FIFOQueue(10, [tf.string], shapes=[()], shared_name="shared", name="r")
    first = q.enqueue("a")
    with tf.control_dependencies([first]):
        second = q.enqueue(["b"])
    with tf.control_dependencies([second, r.enqueue_many([["x", "y"]])]):
        x = r.dequeue()
    with tf.control_dependencies([x]):
        return [q.dequeue(), x, r.dequeue_many(1)]


def named_components(tf):
    q = tf.PaddingFIFOQueue(10, [tf.int32, tf.float32], shapes=[[None], []], names=["a", "b"], name="scope/q")
    with tf.name_scope("outer"):
        enqueue = [q.enqueue({"b": 1.0, "a": [1, 2, 3]})]
    with tf.control_dependencies(enqueue):
        more = q.enqueue_many({"a": [[4], [5]], "b": [2.0, 3.0]})
    with tf.control_dependencies([more]):
        batch = q.dequeue_many(2)
    with tf.control_dependencies([batch["a"]]):
        up_to = q.dequeue_up_to(1)
    q.dequeue()
    return [batch["a"], batch["b"], up_to["a"], up_to["b"]]


def random_shuffle_queue(tf):
    q = tf.RandomShuffleQueue(30, 2, [tf.int32], shapes=[[]], seed=7)
    results = []
    before = [q.enqueue_many([list(range(20))])]
    for count in (3, 1, 5):
        with tf.control_dependencies(before):
            before = [q.dequeue_many(count)]
        results += before
    with tf.control_dependencies(before):
        before = [q.enqueue_many([list(range(100, 108))])]
    with tf.control_dependencies(before):
        results.append(q.dequeue_many(17))
    tf.set_random_seed(5)
    seeded = tf.RandomShuffleQueue(30, 0, tf.int32)
    with tf.control_dependencies([seeded.enqueue_many([list(range(20))])]):
        results.append(seeded.dequeue())
    shared = tf.RandomShuffleQueue(30, 0, tf.int32, shared_name="shared", name="other")
    with tf.control_dependencies([shared.enqueue_many([list(range(20))])]):
        results.append(shared.dequeue())
    return results


def priority_queue(tf):
    q = tf.PriorityQueue(30, [tf.string, tf.int32], shapes=[[], [1]])
    keys = [3, 1, 2, 1, 3, 1, 2, 2, 3, 1, 0, 3]
    names = ["x%d" % i for i in range(12)]
    enqueue = q.enqueue_many([keys, names, [[i] for i in range(12)]])
    with tf.control_dependencies([enqueue]):
        first = q.dequeue_many(5)
    with tf.control_dependencies(first):
        again = q.enqueue_many([keys[:4], names[:4], [[i] for i in range(4)]])
    with tf.control_dependencies([again]):
        rest = q.dequeue_many(11)
    plain = tf.PriorityQueue(3, tf.int32, shapes=[()], name="plain")
    with tf.control_dependencies([plain.enqueue([tf.constant(4, tf.int64), 5])]):
        return [*first, *rest, *plain.dequeue()]


def chosen_queue(tf):
    p = tf.FIFOQueue(5, [tf.int32], shapes=[[]], name="p")
    q = tf.FIFOQueue(5, [tf.int32], shapes=[[]], name="q")
    r = tf.QueueBase.from_list(tf.constant(1), [p, q])
    with tf.control_dependencies([p.enqueue(1), q.enqueue_many([[2, 3]])]):
        first = r.dequeue()
    with tf.control_dependencies([first]):
        second = q.dequeue()
    with tf.control_dependencies([second]):
        return [first, second, r.size() + p.size()]
