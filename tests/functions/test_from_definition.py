"""FunctionDef messages made of graphs, and made graphs again."""

import pytest

import stillflow as tf
from stillflow.functions.automatic_control import AutomaticControlDependencies, automatic_control_dependencies
from stillflow.graph.function_def import graph_to_function_def
from stillflow.traced_functions.from_definition import function_def_to_graph, function_def_to_graph_def


def definition():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, name="x")
        other = tf.placeholder(tf.int32, [], name="Other")
        with tf.control_dependencies([other]):
            unique = tf.unique(x, name="found")
        y = tf.add(unique.y, 1.0, name="Sum")
        made = graph_to_function_def(graph, graph.get_operations(), [x, other], [y, unique.idx])
    made.signature.name = "unique_plus_one"
    return made


def test_definition_names_outputs_by_their_ops():
    made = definition()
    assert [arg.name for arg in made.signature.input_arg] == ["x", "other"]
    assert dict(made.ret) == {"sum": "Sum:z:0", "found": "found:idx:0"}
    assert [list(node.input) for node in made.node_def] == [["x", "^other"], [], ["found:y:0", "Sum/y:output:0"]]


def test_definition_runs_as_a_graph_with_given_shapes():
    body = function_def_to_graph(definition(), input_shapes=[[3], []])
    assert body.name == "unique_plus_one"
    assert body.inputs[0].shape == [3]
    assert body.get_operation_by_name("found").control_inputs == [body.inputs[1].op]
    with tf.Session(graph=body) as session:
        values, positions = session.run(body.outputs, {body.inputs[0]: [4.0, 4.0, 2.0], body.inputs[1]: 1})
    assert values.tolist() == [5.0, 3.0]
    assert positions.tolist() == [0, 0, 1]


def test_graph_def_and_its_names():
    graph_def, names = function_def_to_graph_def(definition(), [None, []])
    assert [list(node.input) for node in graph_def.node] == [[], [], ["x:0", "^other"], [], ["found:0", "Sum/y:0"]]
    assert "shape" not in graph_def.node[0].attr
    assert names["found:idx:0"] == "found:1"
    assert names["^Sum"] == "^Sum"


def test_another_number_of_shapes_is_refused():
    for convert in (function_def_to_graph, function_def_to_graph_def):
        with pytest.raises(ValueError, match="Length of input_shapes must match"):
            convert(definition(), [[1]])


def test_results_wait_for_effects():
    with tf.Graph().as_default():
        v = tf.Variable(1.0, use_resource=True)
        with AutomaticControlDependencies() as control:
            v.assign(v + 1)
            v.assign(2 * v)
            value = control.mark_as_return(v.read_value())

        @automatic_control_dependencies
        def effects():
            v.assign_add(1.0)
            return tf.constant(5.0)

        five = effects()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run(value) == 4.0
            assert session.run(five) == 5.0
            assert session.run(v.read_value()) == 5.0
    assert len(control.ops_which_must_run) >= 2


def test_names_of_results_are_as_many_as_these_and_differ():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [])
        parts = graph, [], [x], [x, x]
        assert graph_to_function_def(*parts, ["a", "b"]).signature.name == "_"
        with pytest.raises(tf.errors.InvalidArgumentError, match="output names size = 1 outputs size = 2"):
            graph_to_function_def(*parts, ["a"])
        with pytest.raises(ValueError, match="Must not have duplicates in out_names: a, a"):
            graph_to_function_def(*parts, ["a", "a"])
