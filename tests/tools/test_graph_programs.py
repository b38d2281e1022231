"""tensorflow.python.tools, called as programs call it and run as `stillflow run -m` runs it."""

import contextlib
import sys

import numpy as np
import pytest
from stillflow.python.tools import freeze_graph, inspect_checkpoint, saved_model_utils

import stillflow as tf
from stillflow.runner import script, surroundings
from stillflow.tools import saved_model_inputs


@pytest.fixture
def model(tmp_path, monkeypatch):
    """The folder of a model that doubles: a graph as text, a checkpoint, and a SavedModel."""
    monkeypatch.chdir(tmp_path)
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None], name="x")
        with tf.device("/cpu:0"):
            factor = tf.get_variable("factor", initializer=[2.0])
        y = tf.multiply(x, factor, name="y")
        sess.run(tf.global_variables_initializer())
        tf.train.Saver().save(sess, "./m")
        tf.train.write_graph(graph, ".", "g.pbtxt")
        tf.saved_model.simple_save(sess, "saved", {"x": x}, {"y": y})
    return tmp_path


@pytest.fixture
def run(monkeypatch):
    """Runs a program as `stillflow run -m` does, in this process."""

    def run_module(name, *arguments):
        monkeypatch.setattr(sys, "path", ["", *sys.path])
        monkeypatch.setattr(sys, "argv", [])
        monkeypatch.setattr(surroundings, "install", lambda: None)  # which would change the process for other tests
        monkeypatch.delitem(sys.modules, f"stillflow.tools.{name}", raising=False)
        with contextlib.suppress(SystemExit):
            script.run_module(f"tensorflow.python.tools.{name}", [*arguments])

    return run_module


def frozen_outputs(path, x):
    graph_def = tf.GraphDef.FromString(path.read_bytes())
    assert {node.op for node in graph_def.node} == {"Placeholder", "Const", "Identity", "Mul"}
    assert not any(node.device for node in graph_def.node)
    with tf.Graph().as_default(), tf.Session() as sess:
        (y,) = tf.import_graph_def(graph_def, {"x": tf.constant(x)}, ["y:0"])
        return sess.run(y).tolist()


@pytest.mark.parametrize(
    "source",
    [
        ["--input_graph=g.pbtxt", "--input_checkpoint=./m"],
        ["--input_meta_graph=m.meta", "--input_binary=true", "--input_checkpoint=./m"],
        ["--input_saved_model_dir=saved"],
    ],
)
def test_frozen_graph_has_the_values_of_the_checkpoint(model, source, monkeypatch):
    monkeypatch.setattr("sys.argv", ["freeze_graph", *source, "--output_node_names=y", "--output_graph=f.pb"])
    with tf.Graph().as_default(), pytest.raises(SystemExit):
        freeze_graph.run_main()
    assert frozen_outputs(model / "f.pb", [1.0, 3.0]) == [2.0, 6.0]


def test_what_cannot_be_frozen_is_said(model):
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="Input checkpoint 'none' doesn't exist!"):
            freeze_graph.freeze_graph("g.pbtxt", "", False, "none", "y", "", "", "", True, "")
        with pytest.raises(ValueError, match="name of a node to --output_node_names"):
            freeze_graph.freeze_graph("g.pbtxt", "", False, "./m", "", "", "", "", True, "")
        with pytest.raises(OSError, match="Input graph file 'none' does not exist!"):
            freeze_graph.freeze_graph("none", "", False, "./m", "y", "", "", "", True, "")
    with tf.Graph().as_default() as graph:
        tf.constant([2.0], name="factor")
    frozen = graph.as_graph_def()
    with tf.Graph().as_default(), pytest.raises(ValueError, match="You cannot freeze a graph twice"):
        freeze_graph.freeze_graph_with_def_protos(frozen, None, "./m", "factor", "", "", "", False, "")


def test_checkpoints_are_inspected(model, capsys):
    inspect_checkpoint.print_tensors_in_checkpoint_file("./m", None, True)
    assert capsys.readouterr().out == "tensor_name:  factor\n[2.]\n# Total number of params: 1\n"
    inspect_checkpoint.print_tensors_in_checkpoint_file("./m", "", False, count_exclude_pattern="fact")
    expected = "factor (DT_FLOAT) [1]\n\n# Excluding 1 tensors (1 params) that match fact when counting.\n"
    assert capsys.readouterr().out == expected + "# Total number of params: 0\n"


def test_programs_run_as_modules(model, capsys, run):
    run("inspect_checkpoint", "--file_name=./m", "--tensor_name=factor")
    assert capsys.readouterr().out == "tensor_name:  factor\n[2.]\n# Total number of params: 1\n"
    exprs = ["--input_exprs", "x=np.ones(1)", "--outdir", "out"]
    run("saved_model_cli", "run", "--dir=saved", "--tag_set=serve", "--signature_def=serving_default", *exprs)
    assert capsys.readouterr().out == "Result for output key y:\n[2.]\nOutput y is saved to out/y.npy\n"
    run("saved_model_cli", "show", "--dir=saved", "--all")
    assert capsys.readouterr().out.splitlines()[-4:] == [
        "        dtype: DT_FLOAT",
        "        shape: (-1)",
        "        name: y:0",
        "  Method name is: tensorflow/serving/predict",
    ]


def test_saved_models_are_found_by_all_their_tags(model):
    assert saved_model_utils.get_saved_model_tag_sets("saved") == [["serve"]]
    with pytest.raises(RuntimeError, match="MetaGraphDef associated with tag-set serve,gpu could not be found"):
        saved_model_utils.get_meta_graph_def("saved", "serve,gpu")


def test_inputs_are_arrays_of_files_expressions_and_examples(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, u=[1.0], v=[2.0])
    assert saved_model_inputs.load(f"x={path}[v]", "y=np.zeros(2)", "")["x"].tolist() == [2.0]
    with pytest.raises(RuntimeError, match="contains more than one ndarrays"):
        saved_model_inputs.load(f"x={path}", "", "")
    with pytest.raises(RuntimeError, match="format is incorrect"):
        saved_model_inputs.load("x", "", "")
    (example,) = saved_model_inputs.load("", "", 'e=[{"a": [1.5], "b": ["t"], "c": [3]}]')["e"]
    features = tf.train.Example.FromString(example).features.feature
    assert [features["a"].float_list.value[0], features["b"].bytes_list.value[0]] == [1.5, b"t"]
