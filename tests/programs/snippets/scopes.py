"""What graphs keep on their nodes: names, control dependencies, devices, colocation, attributes."""


def name_scopes(tf):
    with tf.name_scope("outer") as outer:
        a = tf.constant(1.0, name="a")
        with tf.name_scope("inner"):
            tf.identity(a, name="b")
        with tf.name_scope("inner"):
            tf.identity(a, name="b")
        with tf.name_scope("Inner"):
            tf.identity(a)
            tf.identity(a)
    with tf.name_scope(outer):
        tf.identity(a, name="again")
        with tf.name_scope(None):
            tf.identity(a, name="a")
    with tf.name_scope("outer"):
        tf.identity(a, name="a")
    with tf.name_scope("values", values=[a]):
        tf.add(a, a)
    with tf.name_scope(None, "default", [a]):
        tf.add(a, a)
    with tf.name_scope("one/two/three"):
        tf.add(a, 1.0)
    return [a]


def dependencies(tf):
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    with tf.control_dependencies([a, b, a]):
        c = tf.constant(3.0, name="c")
        d = tf.add(c, a, name="d")
        with tf.control_dependencies([c]):
            tf.no_op(name="e")
            f = tf.identity(d, name="f")
            with tf.control_dependencies(None):
                tf.constant(4.0, name="g")
        tf.identity(a, name="h")
    tf.group(d, f, name="together")
    with tf.control_dependencies([tf.Variable(1.0, name="v")]):
        tf.constant(5.0, name="i")
    with tf.control_dependencies([tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))]):
        tf.constant(6.0, name="j")
    return [d, f, tf.tuple([a, b], control_inputs=[c])[1]]


def devices(tf):
    with tf.device("/cpu:0"):
        tf.constant(1.0, name="a")
        with tf.device("/job:worker"):
            tf.constant(1.0, name="b")
            with tf.device("/job:ps/task:3/device:GPU:1"):
                tf.constant(1.0, name="c")
            with tf.device(None):
                tf.constant(1.0, name="d")
        with tf.device(lambda op: "/job:" + op.name):
            tf.constant(1.0, name="e")
            with tf.device("/task:7"):
                tf.constant(1.0, name="f")
        with tf.device(lambda op: "/cpu:0" if op.type == "Const" else "/gpu:1"), tf.device("/job:y"):
            tf.add(tf.constant(2.0, name="j"), 1.0, name="k")
    with tf.device("/job:z"), tf.device(lambda op: "/cpu:0"):
        tf.constant(1.0, name="l")
    w = tf.constant(1.0, name="w")
    with tf.device("/job:x"), tf.get_default_graph().colocate_with(w.op):
        a = tf.constant(1.0, name="g")
        with tf.get_default_graph().colocate_with(a.op):
            tf.constant(1.0, name="h")
        with tf.get_default_graph().colocate_with(a.op, ignore_existing=True):
            tf.constant(1.0, name="i")
    return []


def defaults_of_names(tf):
    for _ in range(2):
        x = tf.placeholder(tf.float32, [None, 2])
        y = tf.Variable(tf.zeros([2, 2]))
        tf.matmul(x, y)
        tf.zeros([2]), tf.ones([2]), tf.fill([2], 1.0), tf.range(3)
        tf.reduce_sum(x), tf.reduce_mean(x, 0), tf.argmax(x, 1)
        tf.random_uniform([2], seed=3), tf.random_normal([2], seed=3), tf.truncated_normal([2], seed=3)
        tf.group(y.initializer), tf.no_op()
        tf.cast(x, tf.int32), tf.reshape(x, [-1]), tf.transpose(x), tf.expand_dims(x, 0)
    tf.global_variables_initializer()
    return []


def overridden_gradients(tf):
    x = tf.constant([1.0, 2.0], name="x")
    with tf.get_default_graph().gradient_override_map({"Square": "Identity", "Exp": "NoGradientHere"}):
        y = tf.square(x)
        tf.exp(x)
    return [y]


def seeds(tf):
    tf.random_uniform([2])
    tf.set_random_seed(5)
    a = tf.random_uniform([2])
    b = tf.random_uniform([2], seed=9)
    tf.constant(0)
    c = tf.random_normal([2])
    return [a, b, c]
