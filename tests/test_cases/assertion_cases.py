"""Calls of tf.test.TestCase's assertions: what they do in TensorFlow 1.15.5 is in tests/golden/assertions.json.

Runs in Python 3.7, too, where tools/record_golden.py records it.
"""

import collections

import numpy as np

Point = collections.namedtuple("Point", "x y")
NAN = float("nan")
INF = float("inf")


def cases(tf):
    """{name: a function of a test case}, to be called within a session."""
    found = {}

    def add(name, *calls):
        for i, (args, kwargs) in enumerate(calls):
            found[f"{name}.{i}"] = lambda case, a=args, k=kwargs: getattr(case, name)(*_made(a, tf), **k)

    def call(*args, **kwargs):
        return args, kwargs

    add("assertNear", call(1.0, 1.1, 0.2), call(1.0, 1.5, 0.2), call(INF, INF, 0.0), call(1, 3, 1, msg="m"))
    add("assertArrayNear", call([1, 2], [1.1, 2.1], 0.2), call([1, 2], [1, 3], 0.2), call([1], [1, 2], 1))
    add(
        "assertNDArrayNear",
        call(np.zeros(3), np.full(3, 0.1), 0.2),
        call(np.zeros(3), np.full(3, 0.1), 0.1),
    )
    add(
        "assertAllClose",
        call([1.0, 2.0], [1.0, 2.0 + 1e-7]),
        call([1.0, 2.0], [1.0, 2.1]),
        call([1.0, 2.0], [1.0, 2.1], rtol=0.1),
        call([1.0, 2.0], [1.0, 2.1], atol=0.2),
        call([1.0, NAN], [1.0, NAN]),
        call([1.0, NAN], [1.0, 2.0]),
        call([1.0, INF], [1.0, INF]),
        call([1.0], [1.0, 2.0]),
        call(3.0, 3.1),
        call([[1.0], [2.0, 3.0]], [[1.0], [2.0]]),
        call({"a": 1.0, "b": [2.0]}, {"a": 1.0, "b": [2.0]}),
        call({"a": 1.0}, {"b": 1.0}),
        call({"a": 1.0}, [1.0]),
        call({"a": {"b": 1.0}}, {"a": {"b": 2.0}}),
        call(Point(1.0, [2.0]), Point(1.0, [2.0])),
        call(Point(1.0, [2.0]), {"x": 1.0, "y": [2.0]}),
        call(("tensor", [1.0, 2.0]), [1.0, 2.0]),
        call(("tensor", [1.0, 2.0]), ("tensor", [1.0, 3.0])),
        call([1, 2], [1, 2]),
        call("a", "b"),
    )
    half = np.float16
    add(
        "assertAllCloseAccordingToType",
        call(np.array([1.0], half), np.array([1.001], half)),
        call(np.array([1.0], half), np.array([1.01], half)),
        call(np.array([1.0], np.float32), np.array([1.001], np.float32)),
        call(np.array([1.0], np.float32), np.array([1.001], np.float32), float_rtol=0.01),
        call(np.array([1.0]), np.array([1.0 + 1e-7])),
    )
    add("assertNotAllClose", call([1.0], [2.0]), call([1.0], [1.0]), call([1.0], [2.0], atol=3))
    add(
        "assertAllEqual",
        call([1, 2], [1, 2]),
        call([1, 2], [1, 3]),
        call([1, 2], [[1, 2]]),
        call([1.0, NAN], [1.0, NAN]),
        call(["a", "b"], ["a", "b"]),
        call(["a", "b"], ["a", "c"]),
        call(("tensor", [[1, 2]]), [[1, 2]]),
        call(("tensor", 1), 2),
        call([1, 2], [1, 3], msg="here"),
        call(np.zeros([1, 1, 1, 600]), np.zeros([1, 1, 600])),
    )
    add("assertNotAllEqual", call([1], [2]), call([1], [1]), call([1, 2], [1, 3]))
    add("assertAllGreater", call([2, 3], 1), call([2, 1], 1))
    add("assertAllLess", call([2, 3], 4), call([2, 4], 4))
    add("assertAllGreaterEqual", call([2, 1], 1), call([2, 0], 1))
    add("assertAllLessEqual", call([2, 3], 3), call([2, 4], 3))
    add(
        "assertAllInRange",
        call([1, 2, 3], 1, 3),
        call([1, 2, 3], 1, 3, open_lower_bound=True),
        call([1, 2, 3], 1, 3, open_upper_bound=True),
        call([[1.0, 5.0], [7.0, 2.0]], 1, 3),
        call(list(range(30)), 1, 3),
        call([NAN, 1.0], 1, 3),
        call(["a"], 1, 3),
        call(("tensor", [1.0]), 2, 3),
    )
    add("assertAllInSet", call([1, 2], {1, 2, 3}), call([1, 5, 5, 6], [1, 2]))
    add("assertDTypeEqual", call([1.0], np.float64), call(("tensor", [1.0]), np.float32), call([1], np.float32))
    add(
        "assertShapeEqual",
        call(np.zeros([2, 1]), ("tensor", [[1], [2]])),
        call(np.zeros([2]), ("tensor", [[1], [2]])),
        call([1], ("tensor", [1])),
        call(np.zeros(1), [1]),
    )
    add("assertDeviceEqual", call("/cpu:0", "/device:CPU:0"), call("/cpu:0", "/cpu:1"), call("/job:a", "/cpu:0"))
    add("assertStartsWith", call("abc", "ab"), call("abc", "b"), call("abc", "b", msg="m"))
    versions = "versions { producer: 134 }"
    add(
        "assertProtoEquals",
        call("node { name: 'a' op: 'NoOp' }", ("graph_def", "a", "NoOp")),
        call("node { name: 'b' op: 'NoOp' }", ("graph_def", "a", "NoOp")),
        call(("graph_def", "a", "NoOp"), ("graph_def", "a", "NoOp")),
        call(("graph_def", "a", "NoOp"), ("graph_def", "a", "Abs")),
        call(3, ("graph_def", "a", "NoOp")),
        call(versions, ("graph_def", "a", "NoOp")),
    )
    add("assertItemsEqual", call([1, 2], [2, 1]), call([1, 2], [2, 2]))
    found.update(_raising(tf))
    return found


def _raising(tf):
    """Assertions about what is raised."""

    def raising(method, *args, **kwargs):
        error = kwargs["error"]

        def run(case):
            with getattr(case, method)(*args):
                if error is not None:
                    raise error

        return run

    op_error = tf.errors.InvalidArgumentError(None, None, "negative input")
    return {
        "opError.0": raising("assertRaisesOpError", "negative", error=op_error),
        "opError.1": raising("assertRaisesOpError", "positive", error=op_error),
        "opError.2": raising("assertRaisesOpError", "x", error=ValueError("x")),
        "opError.3": raising("assertRaisesOpError", "x", error=None),
        "opError.4": raising("assertRaisesOpError", lambda e: "neg" in e.message, error=op_error),
        "predicate.0": raising("assertRaisesWithPredicateMatch", ValueError, "a.c", error=ValueError("abc")),
        "predicate.1": raising("assertRaisesWithPredicateMatch", ValueError, "a.d", error=ValueError("abc")),
        "predicate.2": raising("assertRaisesWithPredicateMatch", TypeError, lambda e: True, error=ValueError("a")),
        "regexp.0": raising("assertRaisesRegexp", ValueError, "a.c", error=ValueError("abc")),
    }


def _made(args, tf):
    return [_one(arg, tf) for arg in args]


def _one(arg, tf):
    if isinstance(arg, tuple) and arg[:1] == ("tensor",):
        return tf.constant(arg[1])
    if isinstance(arg, tuple) and arg[:1] == ("graph_def",):
        graph_def = tf.GraphDef()
        node = graph_def.node.add()
        node.name, node.op = arg[1:]
        return graph_def
    return arg


def outcomes(tf):
    """{name: "passes", or the type of the exception and what it says first}."""

    class Case(tf.test.TestCase):
        def runTest(self):  # noqa: N802
            pass

    found = {}
    with tf.Graph().as_default(), tf.Session():
        for name, function in cases(tf).items():
            try:
                function(Case())
                found[name] = "passes"
            except Exception as error:
                found[name] = f"{type(error).__name__}: {error}"
    return found
