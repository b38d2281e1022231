"""tf.contrib.graph_editor: graphs after they were copied, cut and connected anew, and what they compute."""


def _chain(tf):
    a = tf.constant([1.0, 2.0], name="a")
    with tf.name_scope("inner"):
        b = tf.exp(a, name="b")
        c = tf.add(b, a, name="c")
        d = tf.square(c, name="d")
    return a, b, c, d, tf.multiply(d, b, name="e")


def replaced(tf):
    ge = tf.contrib.graph_editor
    a, b, c, d, e = _chain(tf)
    with tf.control_dependencies([tf.no_op("guard")]):
        f = tf.negative(e, name="f")
    new = ge.graph_replace([f, {"d": d}], {b: tf.constant([3.0, 4.0], name="new")}, dst_scope="copy")
    return [new[0], new[1]["d"], f]


def copied(tf):
    ge = tf.contrib.graph_editor
    a, b, c, d, e = _chain(tf)
    tf.add_to_collection("inner/mine", c)
    view = ge.sgv("inner/", graph=tf.get_default_graph())
    copy, info = ge.copy_with_input_replacements(view, {a: tf.constant([5.0, 6.0], name="other")}, dst_scope="one")
    twice, _ = ge.copy_with_input_replacements(view, {}, dst_scope="one", src_scope="inner")
    empty, _ = ge.copy(view, dst_scope="free")
    return [info.transformed(d), *copy.outputs, *twice.outputs, tf.get_collection("one/inner/mine")[0]]


def rerouted(tf):
    ge = tf.contrib.graph_editor
    a, b, c, d, e = _chain(tf)
    x, y = tf.constant([7.0, 8.0], name="x"), tf.constant([0.5, 0.25], name="y")
    ge.reroute_ts(x, b, can_modify=[e.op])
    ge.swap_ts([a], [y], cannot_modify=[b.op])
    return [b, c, d, e]


def connected(tf):
    ge = tf.contrib.graph_editor
    a, b, c, d, e = _chain(tf)
    x = tf.sqrt(tf.constant([9.0, 16.0]), name="x")
    ge.connect(ge.sgv(x.op), ge.sgv(d.op))
    ge.bypass(ge.sgv(c.op).remap_inputs([1]))
    return [d, e]


def detached(tf):
    ge = tf.contrib.graph_editor
    a, b, c, d, e = _chain(tf)
    view, inputs, outputs = ge.detach(ge.sgv(c.op, d.op))
    tf.identity(outputs[0], name="read")
    return [b]


def walks(tf):
    ge = tf.contrib.graph_editor
    a, b, c, d, e = _chain(tf)
    found = [
        ge.get_forward_walk_ops([c.op]),
        ge.get_backward_walk_ops([d.op], inclusive=False),
        ge.get_walks_intersection_ops([b], [e]),
        ge.get_within_boundary_ops(tf.get_default_graph(), [c.op], [d.op], inclusive=False),
        ge.select_ops("^inner/", graph=tf.get_default_graph()),
        ge.filter_ts_from_regex(tf.get_default_graph(), "b:0$"),
        ge.get_name_scope_ops(tf.get_default_graph(), "inner/"),
        ge.get_ops_ios([c.op]),
    ]
    names = [" ".join(sorted(item.name for item in items)) for items in found]
    return [tf.constant(names, name="names"), tf.constant([str(ge.sgv(b.op, c.op)).partition("\n")[2]])]
