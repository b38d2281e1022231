"""What tf.contrib.graph_editor refuses, and what sessions make of graphs that change between runs."""

import pytest

import stillflow as tf

ge = tf.contrib.graph_editor


@pytest.fixture
def chain():
    with tf.Graph().as_default():
        a = tf.constant([1.0, 2.0], name="a")
        b = tf.exp(a, name="b")
        yield a, b, tf.add(b, a, name="c")


def test_what_cannot_be_done_is_said(chain):
    a, b, c = chain
    other = tf.Graph()
    with other.as_default():
        stranger = tf.constant(1.0)
    with pytest.raises(ValueError, match="Targets and replacements are not connected!"):
        ge.graph_replace([b], {c: a})
    with pytest.raises(ValueError, match="does not belong to given graph"):
        ge.make_list_of_t([a, stranger])
    with pytest.raises(ValueError, match="ts0 and ts1 have different sizes: 1 != 2"):
        ge.reroute_ts([a], [b, c])
    with pytest.raises(ValueError, match="Shapes .* and .* are not compatible."):
        ge.reroute_ts(tf.zeros([3]), b)
    with pytest.raises(TypeError, match="allow_graph is False: cannot convert a tf.Graph."):
        ge.make_list_of_op(other, allow_graph=False)
    with pytest.raises(ValueError, match="Use the keyword argument 'graph' to use regex."):
        ge.select_ops("a")
    with pytest.raises(ValueError, match="Wrong keywords argument: other."):
        ge.select_ts(a, other=1)
    with pytest.raises(ValueError, match="Boundary is intersecting with the seeds."):
        ge.get_within_boundary_ops([a.op], [a.op], [a.op])
    with pytest.raises(ValueError, match=r"Found repetition in mapping: \[0, 0\]"):
        ge.sgv(c.op).remap_inputs([0, 0])
    with pytest.raises(ValueError, match=r"Out of \[0, 1\[ range: 2"):
        ge.sgv(c.op).remap_outputs([2])
    with pytest.raises(ValueError, match="is already a control_input of"):
        ge.add_control_inputs(c.op, [a.op, b.op])
        ge.add_control_inputs(c.op, a.op)


def test_sessions_notice_new_inputs(chain):
    _, b, c = chain
    with tf.Session() as sess:
        before = sess.run(c)
        assert ge.reroute_ts(tf.zeros([2]), b) == 1
        assert sess.run(c).tolist() == [1.0, 2.0] != before.tolist()


def test_copies_go_to_other_graphs(chain):
    a, b, c = chain
    graph = tf.Graph()
    copy, info = ge.copy(ge.sgv(b.op, c.op), graph, "scope")
    # As in TensorFlow, each reader of an input has a placeholder of its own, which the view does not know.
    assert (list(copy.inputs), [tensor.name for tensor in copy.outputs]) == ([], ["scope/c:0"])
    assert info.transformed({"c": (c,)})["c"][0].name == "scope/c:0"
    assert info.original(copy.outputs[0]) in (b, c) and info.transformed(a) is None
    feeds = {"scope/geph__a_0:0": [0.0, 0.0], "scope/geph__a_0_1:0": [1.0, 1.0]}
    with tf.Session(graph=graph) as sess:
        assert sess.run("scope/c:0", feeds).tolist() == [2.0, 2.0]


def test_control_dependencies_are_ways(chain):
    a, b, c = chain
    with tf.control_dependencies([c]):
        last = tf.no_op("last")
    controls = ge.ControlOutputs(tf.get_default_graph())
    assert ge.get_forward_walk_ops(c.op, control_outputs=controls) == [c.op, last]
    assert ge.get_backward_walk_ops(last, control_inputs=True, stop_at_ts=[b]) == [last, c.op, a.op]
    ge.remove_control_inputs(last, c.op)
    assert last.control_inputs == []
