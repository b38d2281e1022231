"""Devices and colocations of nodes, and what is said of where a program asks for them."""

from pathlib import Path

import stillflow as tf
from stillflow.graph.error_interpolation import interpolate
from stillflow.graph.traceable_stack import TraceableObject, TraceableStack


def _file_names(scopes):
    return {Path(scope.filename).name for scope in scopes}


def test_a_node_knows_the_device_scopes_around_it():
    def on_second(op):
        return "/cpu:1"

    with tf.device("/cpu"), tf.get_default_graph().device("/cpu:0"):
        inner = tf.constant(0.0)
    with tf.device(on_second):
        chosen = tf.constant(0.0)
    assert [scope.obj for scope in inner.op._device_assignments] == ["/cpu:0", "/cpu"]
    assert _file_names(inner.op._device_assignments) == {"test_placement_scopes.py"}
    assert chosen.op._device_assignments[0].obj.startswith("on_second<")
    assert tf.constant(0.0).op._device_assignments == []


def test_a_node_knows_what_it_is_placed_with():
    first = tf.constant(0.0, name="first")
    with tf.colocate_with(first):
        second = tf.constant(0.0)
    assert list(second.op._colocation_dict) == ["first"]
    assert _file_names(second.op._colocation_dict.values()) == {"test_placement_scopes.py"}
    assert first.op._colocation_dict == {}


def test_messages_tell_of_nodes_that_they_name(new_graph):
    with tf.device("/cpu:0"):
        a = tf.constant(1.0, name="a")
    with tf.colocate_with(a):
        tf.negative(a, name="b")
    assert interpolate("{{node missing}}: bad", new_graph) == "{{node missing}}: bad"
    assert "bad node a (defined at " in interpolate("bad {{node a}}", new_graph)
    assert "Input Source operations connected to node b:\n a (defined at" in interpolate("{{node b}}", new_graph)
    assert interpolate("{{colocation_node a}}", new_graph).count("tf.device(/cpu:0)") == 2
    assert "tf.colocate_with(a)" in interpolate("{{colocation_node b}}", new_graph)


def test_a_stack_knows_where_objects_come_from():
    stack = TraceableStack()
    assert stack.push_obj("first") == TraceableObject.SUCCESS
    stack.push_obj("second", offset=10_000)
    assert list(stack.peek_objs()) == ["second", "first"]
    assert _file_names([list(stack.peek_traceable_objs())[1]]) == {"test_placement_scopes.py"}
    assert stack.pop_obj() == "second"
    assert len(stack.copy()) == 1
    assert TraceableObject("object", "file.py", 3).copy_metadata().lineno == 3


def test_objects_are_told_where_nodes_would_be():
    class Probe:
        device = None

        def _set_device(self, device):
            self.device = device

    graph, probe = tf.Graph(), Probe()
    graph._apply_device_functions(probe)
    assert probe.device is None
    with graph.device("/cpu:0"):
        graph._apply_device_functions(probe)
    assert probe.device == "/device:CPU:0"
