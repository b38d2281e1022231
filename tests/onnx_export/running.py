"""Converts graphs by the command, and runs ONNX models as their users do."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.command_line import main

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

IMAGES = ([None, 9, 8, 6], tf.float32)


def run(path, feeds):
    """The outputs that onnxruntime computes, by name, of a model that onnx finds sound. `feeds` are by name, too."""
    model = onnx.load(path)
    infos = (*model.graph.input, *model.graph.output)
    if all(info.type.tensor_type.HasField("shape") for info in infos):  # else the checker refuses the model
        onnx.checker.check_model(model)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [info.name for info in session.get_outputs()]
    given = {info.name: feeds[info.name] for info in session.get_inputs()}
    return dict(zip(names, session.run(names, given), strict=True))


def _fed(generator, dims, dtype):
    dims = [3 if size is None else size for size in dims]
    if np.issubdtype(dtype, np.floating):
        return generator.standard_normal(dims).astype(dtype)
    return generator.integers(0, 2 if dtype == np.bool_ else 4, dims).astype(dtype)


def check(tmp_path, build, *inputs, feeds=None, rtol=2e-5, atol=2e-5):
    """Builds a graph of placeholders (dims, dtype), converts it by the command, and compares all outputs."""
    generator = np.random.default_rng(4)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.set_random_seed(1)
        placeholders = [tf.placeholder(dtype, dims, f"in{n}") for n, (dims, dtype) in enumerate(inputs)]
        made = build(*placeholders)
        outputs = [
            tf.identity(t, f"out{n}") for n, t in enumerate(made if isinstance(made, (list, tuple)) else [made])
        ]
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        names = [tensor.op.name for tensor in outputs]
        graph_def = tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), names)
        (tmp_path / "model.pb").write_bytes(graph_def.SerializeToString())
        values = feeds or [_fed(generator, dims, dtype.as_numpy_dtype) for dims, dtype in inputs]
        expected = session.run(outputs, dict(zip(placeholders, values, strict=True)))
    target = str(tmp_path / "model.onnx")
    assert main(["convert", str(tmp_path / "model.pb"), target, "--outputs", *names]) == 0
    found = run(target, {f"in{n}": value for n, value in enumerate(values)})
    for name, theirs in zip(names, expected, strict=True):
        ours = found[name]
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol)
