"""cond and case as functions: arguments, errors, contexts as messages, and graphs that are imported."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.composites.case import smart_case
from stillflow.formats import protobuf
from stillflow.ops.control_flow.cond import smart_cond, smart_constant_value
from stillflow.ops.control_flow.context import CondContext, from_control_flow_context_def
from stillflow.testing import assert_same_bits, check_gradient


@pytest.fixture
def p(new_graph):
    with new_graph.as_default():
        yield tf.placeholder(tf.bool, [], name="p")


def one():
    return tf.constant(1.0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: tf.cond(True, one, one), TypeError, "pred must not be a Python bool"),
        (lambda p: tf.cond(p), TypeError, "true_fn argument required"),
        (lambda p: tf.cond(p, one), TypeError, "false_fn argument required"),
        (lambda p: tf.cond(p, one, one, fn1=one), TypeError, "true_fn and fn1 may not be set simultaneously"),
        (lambda p: tf.cond(p, one, one, fn2=one), TypeError, "false_fn and fn2 may not be set simultaneously"),
        (lambda p: tf.cond(p, one(), one), TypeError, "true_fn must be callable"),
        (lambda p: tf.cond(p, one, one()), TypeError, "false_fn must be callable"),
        (lambda p: tf.cond(p, lambda: None, one), ValueError, "true_fn must have a return value"),
        (lambda p: tf.cond(p, one, lambda: None), ValueError, "false_fn must have a return value"),
        (lambda p: tf.cond(p, list, list), ValueError, "must return at least one result"),
        (lambda p: tf.cond(p, one, lambda: tf.constant(1)), ValueError, "must have the same type: float32, int32"),
        (lambda p: tf.cond(p, one, lambda: (one(), one())), ValueError, "same nested structure"),
        (lambda p: tf.cond(p, lambda: [1, 2], lambda: (1, 2)), TypeError, "type list.*type tuple"),
        (lambda p: tf.cond(p, lambda: [one()], one, strict=True), ValueError, "same nested structure"),
        (lambda p: tf.cond(tf.stack([p, p]), one, one), ValueError, "Shape must be rank 0 but is rank 1"),
        (lambda p: tf.cond(tf.constant(1), one, one), TypeError, "type int32 that does not match expected type"),
        (lambda p: tf.case(3), TypeError, "fns must be a list, tuple, or dict"),
        (lambda p: tf.case([p]), TypeError, "must be a 2-tuple"),
        (lambda p: tf.case([(p, 1)]), TypeError, "fn for pred p:0 must be callable"),
        (lambda p: tf.case([(True, one)]), TypeError, "pred must be a Tensor, got: True"),
        (lambda p: tf.case([(one(), one)]), TypeError, "pred must be Tensor of type bool: Const"),
        (lambda p: smart_case([(1, one)], one), TypeError, "pred must be a Tensor or bool, got: 1"),
        (lambda p: smart_cond(p, one, 3), TypeError, "`false_fn` must be callable"),
        (lambda p: smart_cond("x", one, one), TypeError, "must be a Tensor, or a Python bool, or 1 or 0"),
    ],
)
def test_bad_arguments(p, call, error, message):
    with pytest.raises(error, match=message):
        call(p)
    assert tf.get_default_graph()._get_control_flow_context() is None


def test_an_error_in_a_branch_leaves_no_context_behind(p):
    with pytest.raises(ZeroDivisionError):
        tf.cond(p, lambda: 1 / 0, one)
    assert tf.get_default_graph()._get_control_flow_context() is None
    assert not tf.get_collection(tf.GraphKeys.COND_CONTEXT)


def test_known_predicates_call_one_function(p):
    def never():
        raise AssertionError

    assert smart_cond(True, lambda: 1, never) == smart_cond(0, never, lambda: 1) == 1
    assert smart_cond(tf.constant(True), lambda: 1, never) == 1
    assert smart_cond(tf.less(tf.constant(2), 1), never, lambda: 1) == 1
    assert smart_constant_value(p) is None
    assert smart_cond(p, one, one).op.type == "Merge"
    assert smart_case([(False, never), (True, lambda: 2)], default=never) == 2
    assert smart_case([(p, one), (True, one)], default=never).op.type == "Merge"


@pytest.mark.parametrize(
    ("values", "exclusive", "message"),
    [
        ([True, True], True, "more than 1 conditions"),
        ([False, False], False, "None of conditions evaluated as True"),
    ],
)
def test_cases_that_fail(new_graph, values, exclusive, message):
    with new_graph.as_default(), tf.Session() as session:
        preds = [tf.placeholder(tf.bool, []) for _ in values]
        result = tf.case([(pred, one) for pred in preds], default=one if exclusive else None, exclusive=exclusive)
        assert session.run(result, dict(zip(preds, [False, True], strict=True))) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(result, dict(zip(preds, values, strict=True)))


@pytest.mark.parametrize("value", [True, False])
def test_gradients_agree_with_differences(value):
    def build(x, w):
        pred = tf.placeholder_with_default(tf.constant(value), [])
        inner = tf.greater(tf.reduce_sum(x), 0)
        return tf.cond(
            pred,
            lambda: tf.cond(inner, lambda: tf.sin(x) * w, lambda: tf.cos(x) * w) * w,
            lambda: tf.exp(x) + tf.reduce_sum(w),
        )

    check_gradient(build, np.linspace(-1, 2, 6).reshape(2, 3), np.linspace(1, 2, 3))
    check_gradient(build, np.linspace(-2, 1, 6).reshape(2, 3), np.linspace(1, 2, 3))


def test_same_bits_everywhere():
    def build(x):
        y = tf.cond(x[0] > 0, lambda: tf.cumsum(x) * 3.0, lambda: tf.exp(x))
        return y, tf.gradients(y, x)[0]

    x = np.random.RandomState(1).standard_normal(3000).astype(np.float32)
    assert_same_bits(build, x)
    assert_same_bits(build, -x)


# ---- Contexts -----------------------------------------------------------------------------------------------


def nested(p):
    x = tf.constant(3.0, name="x")
    q = tf.logical_not(p, name="q")
    y = tf.cond(p, lambda: tf.cond(q, lambda: x * 2.0, lambda: x + 1.0), lambda: tf.negative(x))
    return tf.identity(y, name="y")


def test_contexts_are_collected_and_become_messages(p):
    nested(p)
    true, false = tf.get_collection(tf.GraphKeys.COND_CONTEXT)
    assert (true.name, true.branch, true.pred.name, true.pivot.name) == (
        "cond/cond_text", 1, "cond/pred_id:0", "cond/switch_t:0",
    )  # fmt: skip
    assert (false.name, false.branch) == ("cond/cond_text_1", 0)
    message = true.to_proto()
    assert [each.cond_ctxt.context_name for each in message.nested_contexts] == [
        "cond/cond/cond_text", "cond/cond/cond_text_1",
    ]  # fmt: skip
    assert message.values_def.external_values["x:0"] == "cond/cond/mul/Switch:1"
    assert true.to_proto("cond").context_name == "cond_text"
    assert true.to_proto("elsewhere") is None
    inner = tf.get_default_graph().get_operation_by_name("cond/cond/mul")._get_control_flow_context()
    assert inner.outer_context is true
    assert inner.IsCondContext() and not inner.IsWhileContext()


def test_contexts_come_back_from_messages(p):
    nested(p)
    contexts = [context.to_proto() for context in tf.get_collection(tf.GraphKeys.COND_CONTEXT)]
    definition = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="copy")
        for message in contexts:
            context = CondContext.from_proto(message, import_scope="copy")
            again = context.to_proto("copy")
            assert again.SerializeToString(deterministic=True) == message.SerializeToString(deterministic=True)
        assert graph._get_control_flow_context() is None
        y, x = graph.get_tensor_by_name("copy/y:0"), graph.get_tensor_by_name("copy/x:0")
        (slope,) = tf.gradients(y, x)
        with tf.Session() as session:
            assert session.run([y, slope], {"copy/p:0": True}) == [4, 1]
            assert session.run([y, slope], {"copy/p:0": False}) == [-3, -1]


def test_unknown_contexts_are_refused(p):
    message = protobuf.message("ControlFlowContextDef")()
    with pytest.raises(NotImplementedError, match="Unknown ControlFlowContextDef field"):
        from_control_flow_context_def(message)


def test_gradients_of_imported_branches_need_no_contexts(p):
    y = nested(p)
    definition = y.graph.as_graph_def()
    with tf.Graph().as_default(), tf.Session() as session:
        y, x = tf.import_graph_def(definition, return_elements=["y:0", "x:0"], name="")
        (slope,) = tf.gradients(y, x)
        assert session.run(y, {"p:0": True}) == 4
        assert session.run(y, {"p:0": False}) == -3
        assert "Switch" in {op.type for op in y.graph.get_operations() if op.name.startswith("gradients")}
        assert slope is not None


def test_importing_inside_of_a_branch(p):
    with tf.Graph().as_default() as other:
        a = tf.placeholder(tf.float32, [], name="a")
        tf.multiply(a, tf.constant(2.0, name="b"), name="c")
    x = tf.constant(3.0)

    def imported():
        return tf.import_graph_def(other.as_graph_def(), {"a:0": x}, ["c:0"], name="inner")[0]

    y = tf.cond(p, imported, lambda: x)
    graph = tf.get_default_graph()
    assert [control.name for control in graph.get_operation_by_name("cond/inner/b").control_inputs] == [
        "cond/switch_t"
    ]
    assert [tensor.op.type for tensor in graph.get_operation_by_name("cond/inner/c").inputs] == ["Switch", "Const"]
    with tf.Session() as session:
        assert session.run(y, {p: True}) == 6
        assert session.run(y, {p: False}) == 3


@pytest.mark.parametrize("taken", [True, False])
def test_shapes_are_known_on_the_side_that_is_always_taken(new_graph, taken):
    rows = tf.shape(tf.placeholder(tf.float32, [4, 3]))[0]
    for pred in (tf.constant(taken), tf.equal(tf.constant(1.5), 1.5 if taken else 2.5)):
        shapes = []

        def fill(shapes=shapes):
            shapes.append(tf.fill([rows], 1.0).shape.as_list())
            return rows

        tf.cond(pred, fill, fill)
        assert shapes == ([[4], [None]] if taken else [[None], [4]])
