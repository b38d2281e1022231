"""`stillflow convert`: models as ONNX, run by onnxruntime, give what the graph gives."""

import numpy as np
import pytest
from models import MODELS
from onnx_export.running import run

import stillflow as tf
from stillflow.command_line import main


@pytest.fixture(autouse=True)
def one_thread():
    """A graph of its own for each test."""
    with tf.Graph().as_default():
        yield


def key(tensor):
    return tensor.name.removesuffix(":0")


@pytest.mark.parametrize("name", MODELS)
def test_models_give_the_same_in_onnxruntime(name, tmp_path):
    tf.set_random_seed(1)
    feeds, outputs, *rest = MODELS[name]()
    fixed = rest[0] if rest else {}
    tf.add_to_collection("any", tf.get_variable("step", initializer=0))
    target = str(tmp_path / "model.onnx")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        expected = session.run(outputs, {**feeds, **fixed})
        prefix = tf.train.Saver().save(session, str(tmp_path / "model"))
    arguments = ["convert", prefix, target, "--inputs", *map(key, feeds), "--outputs", *(o.name for o in outputs)]
    if fixed:
        arguments += ["--fix", *(f"{tensor.name}={value}" for tensor, value in fixed.items())]
    assert main(arguments) == 0
    found = run(target, {key(tensor): value for tensor, value in feeds.items()})
    for tensor, value in zip(outputs, expected, strict=True):
        result = found[key(tensor)]
        assert result.dtype == np.asarray(value).dtype
        np.testing.assert_allclose(
            result.astype(np.float64), np.asarray(value, np.float64), rtol=2e-4, atol=2e-5, err_msg=tensor.name
        )
        assert result.shape == np.shape(value)


def graph_file(tmp_path):
    path = tmp_path / "graph.pb"
    path.write_bytes(tf.get_default_graph().as_graph_def().SerializeToString())
    return str(path)


@pytest.mark.parametrize(
    ("build", "options", "text"),
    [
        (
            lambda x: tf.py_func(np.sin, [x], tf.float32, name="sine"),
            [],
            "PyFunc (sine) cannot be said in ONNX: it calls Python",
        ),
        (lambda x: tf.nn.relu(x), ["--outputs", "nothing"], "nothing"),
        (lambda x: tf.nn.relu(x), ["--inputs", "x[1,two]"], "'1,two' are no sizes"),
        (lambda x: tf.nn.relu(x), ["--fix", "x"], "'x' fixes no input"),
        (lambda x: tf.nn.relu(x), ["--fix", "x=high"], "'high' is no value of type float32"),
    ],
)
def test_what_cannot_be_converted_is_said_in_a_sentence(build, options, text, tmp_path, capsys):
    build(tf.placeholder(tf.float32, [2], name="x"))
    assert main(["convert", graph_file(tmp_path), str(tmp_path / "model.onnx"), *options]) == 2
    assert text in capsys.readouterr().err
    assert not (tmp_path / "model.onnx").exists()


def test_files_that_hold_no_graph_are_refused(tmp_path, capsys):
    (tmp_path / "noise.pb").write_bytes(b"\xff\x00noise")
    for source in (tmp_path / "noise.pb", tmp_path / "missing"):
        assert main(["convert", str(source), str(tmp_path / "model.onnx")]) == 2
    assert "no binary GraphDef" in capsys.readouterr().err
