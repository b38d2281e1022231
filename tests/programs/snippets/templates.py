"""tf.make_template, init_scope, containers, and variables whose scopes they open."""


def _weighted(tf):
    def weighted(x, s=1):
        return x * tf.get_variable("w", [s], initializer=tf.ones_initializer())

    return weighted


def templates(tf):
    first = tf.make_template("t", _weighted(tf), s=3)
    second = tf.make_template("t", _weighted(tf), create_scope_now_=True)
    found = [first(1.0), second(2.0), first(3.0), second(4.0)]
    outer = tf.make_template("u", lambda x: first(x) * tf.get_variable("q", [], initializer=tf.zeros_initializer()))
    found += [outer(1.0), outer(2.0)]
    assert [v.name for v in outer.variables] == ["u/q:0"]
    assert [v.name for v in first.trainable_variables] == ["t_1/w:0"]
    assert (first.name, first.var_scope.name, second.variable_scope_name) == ("t", "t_1", "t/")
    with tf.variable_scope("outer"):
        inner = tf.make_template("in", _weighted(tf))
        found += [inner(1.0), inner(2.0)]
    shared = [tf.make_template("one", _weighted(tf), unique_name_="one") for _ in range(2)]
    found.append(shared[0](1.0))
    return found


def init_scopes(tf):
    x = tf.constant([1.0, 2.0], name="x")
    with tf.control_dependencies([x]), tf.name_scope("a"):
        with tf.init_scope():
            y = tf.identity(tf.constant(1.0), name="y")
        z = tf.constant(2.0, name="z")
    with tf.init_scope():
        tf.constant(3.0)
    return [y, z]


def containers(tf):
    with tf.container("c"):
        v = tf.Variable(1.0, name="v")
        with tf.container("d"):
            tf.Variable(2.0, name="w")
    tf.Variable(3.0, name="x")
    return [v]


def device_specs(tf):
    spec = tf.DeviceSpec(job="ps", task=1, device_type="gpu", device_index=0)
    with tf.device(spec):
        a = tf.constant(1.0, name="a")
        with tf.device(tf.DeviceSpec.from_string("/cpu:0")):
            tf.constant(2.0, name="b")
    with tf.device(lambda op: spec):
        tf.constant(3.0, name="c")
    return [] if a.device else [a]


def tables(tf):
    tf.tables_initializer()
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, tf.no_op(name="table"))
    tf.tables_initializer()
    return []
