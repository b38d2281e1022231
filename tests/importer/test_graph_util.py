"""tf.graph_util and tf.train.write_graph against what TensorFlow 1.15.5 makes of the same graphs."""

from pathlib import Path

import numpy as np
import pytest
from graph_compare import differences, parse
from graph_util_cases import model, outcomes

import stillflow as tf
from stillflow.importer import graph_util as util

GOLDEN = Path(__file__).parent.parent / "golden" / "graph_util.npz"


def test_graphs_are_those_of_tensorflow():
    with np.load(GOLDEN) as golden:
        for name, graph_def in outcomes(tf, lambda session, found: None).items():
            theirs = parse(golden[name])
            found = differences(graph_def, theirs)
            assert not found, f"{name}\n" + "\n".join(found)
            assert graph_def.versions == theirs.versions, name


def test_resource_variables_are_frozen_as_tensorflow_does():
    class Values:
        def run(self, fetches):
            assert fetches == {"r": "r/Read/ReadVariableOp:0"}
            return {"r": np.ones([4, 2], np.float32)}

    with np.load(GOLDEN) as golden:
        ours = util.convert_variables_to_constants(Values(), parse(golden["resource"]), ["out"])
        found = differences(ours, parse(golden["resource_frozen"]))
        assert not found, "\n".join(found)


def test_a_frozen_graph_runs_without_variables():
    fed = {"x:0": np.ones((2, 3), np.float32)}
    expected = []
    graphs = outcomes(tf, lambda session, found: expected.append(session.run("placed:0", fed)))
    for name in ("frozen", "frozen_white"):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.import_graph_def(graphs[name], name="")
            np.testing.assert_array_equal(session.run("placed:0", fed), expected[0])


def test_what_tensorflow_has_frozen_runs():
    with np.load(GOLDEN) as golden, tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(parse(golden["resource_frozen"]), name="")
        np.testing.assert_array_equal(session.run("out:0", {"x:0": [1, 2, 3]}), np.full((3, 2), 9.0))


def test_mistakes(new_graph):
    model(tf)
    graph_def = new_graph.as_graph_def()
    with pytest.raises(TypeError, match="dest_nodes must be a list"):
        util.extract_sub_graph(graph_def, "placed")
    with pytest.raises(AssertionError, match="nope is not in graph"):
        util.extract_sub_graph(graph_def, ["nope"])
    with pytest.raises(TypeError, match="graph_def must be a graph_pb2.GraphDef proto"):
        util.extract_sub_graph(new_graph, ["placed"])
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value w"):
        util.convert_variables_to_constants(session, graph_def, ["placed"])


def test_smaller_helpers(new_graph):
    model(tf)
    assert util.tensor_shape_from_node_def_name(new_graph, "x").as_list() == [None, 3]
    assert util.tensor_shape_from_node_def_name(new_graph, "w:0") == [3, 2]
    assert util.must_run_on_cpu(tf.constant(1).op)
    assert not util.must_run_on_cpu(tf.constant(1.0).op.node_def)
    w = new_graph.get_operation_by_name("w")
    assert util.must_run_on_cpu(w, pin_variables_on_cpu=True)
    assert not util.must_run_on_cpu(w)
    assert util.must_run_on_cpu(tf.cast(tf.constant(1), tf.float32).op)


def test_write_graph(new_graph, tmp_path):
    from google.protobuf import text_format

    tf.constant([1.0, 2.0], name="c")
    path = tf.train.write_graph(new_graph, str(tmp_path / "a" / "b"), "g.pbtxt")
    assert path == str(tmp_path / "a" / "b" / "g.pbtxt")
    assert text_format.Parse(Path(path).read_text(), tf.GraphDef()) == new_graph.as_graph_def()
    path = tf.train.write_graph(new_graph.as_graph_def(), tmp_path, "g.pb", as_text=False)
    assert tf.GraphDef.FromString(Path(path).read_bytes()) == new_graph.as_graph_def()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "g.pb"]
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        tf.train.write_graph(new_graph, tmp_path / "file", "g.pb")


def test_parts_of_a_graph(new_graph):
    tf.constant(1.0, name="a")
    version = new_graph.version
    tf.constant(2.0, name="b")
    assert [n.name for n in new_graph.as_graph_def(from_version=version).node] == ["b"]
    assert new_graph.as_graph_def().versions.producer == 134
    with_shapes = new_graph.as_graph_def(add_shapes=True)
    assert len(with_shapes.node[0].attr["_output_shapes"].list.shape) == 1
