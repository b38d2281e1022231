"""Pairs of GraphDefs: what tf.test.assert_equal_graph_def says of them in TensorFlow 1.15.5 is in tests/golden.

Runs in Python 3.7, too, where tools/record_golden.py records it.
"""


def _base(tf):
    tf.constant(1.0, name="x")
    tf.constant([[1, 2], [3, 4]], name="y")
    tf.constant("abc", name="s")


def _extended(tf):
    _base(tf)
    tf.constant(2.0, name="p")


def _constant(*args):
    return lambda tf: tf.constant(*args, name="x")


def _on(device):
    def build(tf):
        with tf.device(device):
            tf.constant(1.0, name="x")

    return build


def _sum(*order):
    def build(tf):
        pair = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
        tf.add_n([pair[i] for i in order], name="z")

    return build


def _after(*order):
    def build(tf):
        pair = tf.no_op(name="a"), tf.no_op(name="b")
        with tf.control_dependencies([pair[i] for i in order]):
            tf.no_op(name="z")

    return build


def _placeholder(*dims):
    return lambda tf: tf.placeholder(tf.float32, *dims, name="x")


def _node(**attrs):
    """A GraphDef with a node of no known type, its attributes by kind: i_count=3 is an integer."""

    def build(tf):
        graph_def = tf.GraphDef()
        node = graph_def.node.add()
        node.name, node.op = "n", "Foo"
        for name, value in attrs.items():
            kind = name.rpartition("_")[2]
            attr = node.attr[name]
            if value is None:
                attr.list.SetInParent()
            elif isinstance(value, list):
                getattr(attr.list, kind).extend(value)
            elif kind == "func":
                attr.func.name = value
                attr.func.attr["T"].i = 3
            else:
                setattr(attr, kind, value)
        return graph_def

    return build


PAIRS = {
    "same": (_base, _base),
    "unexpected": (_extended, _base),
    "missing": (_base, _extended),
    "device": (_on("/cpu:0"), _on(None)),
    "unexpected on a device": (_on("/cpu:0"), lambda tf: None),
    "value": (_constant(1.0), _constant(2.5)),
    "matrix": (_constant([[1, 2], [3, 4]]), _constant([[1, 2], [3, 5]])),
    "wide matrix": (_constant([[1, 2, 3, 4]]), _constant([[1, 2], [3, 4]])),
    "cube": (_constant([[[1, 2], [3, 4]]]), _constant([[[1], [2]], [[3], [4]]])),
    "strings": (_constant("a"), _constant(["b", "c"])),
    "booleans": (_constant(True), _constant([True, False])),
    "many": (_constant(list(range(100))), _constant(list(range(1, 101)))),
    "empty": (_constant([]), _constant([1.0])),
    "order of inputs": (_sum(0, 1), _sum(1, 0)),
    "number of inputs": (_sum(0, 1), _sum(0, 0, 0)),
    "no control input": (_after(), _after(1)),
    "order of control inputs": (_after(0, 1), _after(1, 0)),
    "other control input": (_after(0), _after(1)),
    "shape": (_placeholder([None, 2]), _placeholder([3, 2])),
    "unknown shape": (_placeholder(), _placeholder([])),
    "more attributes": (_node(a_i=1, a_b=True), _node(a_i=1)),
    "fewer attributes": (_node(a_i=1), _node(a_i=1, a_f=1.5)),
    "internal attributes": (_node(a_i=1, _c_i=3), _node(a_i=1, _c_i=4)),
    "no internal attributes": (_node(a_i=1), _node(a_i=1, _c_i=4)),
    "lists": (_node(a_i=[1, 2, 3]), _node(a_i=None)),
    "lists of strings": (_node(a_s=[b"x", b"y\n"]), _node(a_s=[b"x", b"'\"\\\x01"])),
    "long list": (_node(a_i=list(range(20))), _node(a_i=list(range(21)))),
    "list of fifteen": (_node(a_i=list(range(14))), _node(a_i=list(range(15)))),
    "floats": (_node(a_f=1e20), _node(a_f=1.0 / 3)),
    "lists of floats": (_node(a_f=[1.5, 1e10]), _node(a_f=[2.0])),
    "long string": (_node(a_s=b"x" * 200), _node(a_s=b"y" * 80)),
    "function": (_node(a_func="f"), _node(a_func="g")),
    "types": (_node(a_type=1), _node(a_type=[1, 3])),
}


def outcomes(tf):
    """{name: what is said of the pair}."""
    found = {}
    for name, pair in PAIRS.items():
        graph_defs = []
        for build in pair:
            with tf.Graph().as_default() as graph:
                made = build(tf)
                graph_defs.append(made if isinstance(made, tf.GraphDef) else graph.as_graph_def())
        try:
            tf.test.assert_equal_graph_def(*graph_defs)
            found[name] = "equal"
        except AssertionError as error:
            found[name] = str(error)
    return found
