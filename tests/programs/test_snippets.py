"""Every snippet's graph equals TensorFlow 1.15.5's node by node, and its values agree."""

import importlib
import types
from pathlib import Path

import numpy as np
import pytest
from graph_compare import differences, parse

import stillflow as tf

GOLDEN = Path(__file__).parent.parent / "golden" / "snippets"

# What single values may differ by, where an error of TensorFlow's grows.
TOLERANCE = {
    # TensorFlow solves normal equations, whose condition is that of the matrix squared, in float32.
    "factors.gradients_of_least_squares": {"rtol": 2e-4, "atol": 1e-5},
    "factors.least_squares_of_unknown_sizes": {"rtol": 2e-4, "atol": 1e-5},
    # In half precision TensorFlow rounds the square root that it divides 1 by, and sums of products as they come.
    "contrib_layers.layer_norm_of_halves": {"rtol": 2e-3},
    "layers_batch_norm.of_halves": {"rtol": 5e-3},
    "mixed_precision.layers": {"rtol": 1e-2, "atol": 2e-3},
    "mixed_precision.own_type": {"rtol": 1e-3},
    "mixed_precision.updates": {"rtol": 6e-3, "atol": 2e-3},
    # The gradients by offsets are 0, but for what rounding leaves of sums that cancel.
    "layers_images.contrib_batch_norm": {"rtol": 2e-5, "atol": 1e-5},
    "layers_images.fused_batch_norm": {"rtol": 2e-5, "atol": 1e-5},
    "layers_plain.dense_of_types": {"rtol": 1e-3},
    # TensorFlow transforms float32 with that precision throughout; the logarithm in the first adds to it.
    "signals.mel": {"rtol": 2e-5, "atol": 1e-5},
    "signals.transforms_of_real_numbers": {"rtol": 2e-5, "atol": 1e-5},
    # Twelve blocks deep.
    "transformer.twelve_blocks_with_gradients": {"rtol": 1e-3, "atol": 1e-5},
    # TensorFlow's tanh(x^2 + log(x)) at 2 is 2 units of 2^-24 off; times 2 y in 1 - y^2, then 2 x + 1 / x = 4.5.
    "math_unary.of_a_placeholder": {"rtol": 2e-5, "atol": 1.01 * 4.5 * 4 * 2.0**-24},
}


def snippets():
    for path in sorted(GOLDEN.glob("*.npz")):
        module = importlib.import_module(f"programs.snippets.{path.stem}")
        for name, function in sorted(vars(module).items()):
            if isinstance(function, types.FunctionType) and not name.startswith("_"):
                yield pytest.param(path, name, function, id=f"{path.stem}.{name}")


@pytest.mark.parametrize(("path", "name", "function"), list(snippets()))
def test_graph_and_values_are_those_of_tensorflow(path, name, function):
    with np.load(path, allow_pickle=True) as golden, tf.Graph().as_default() as graph:
        tensors = function(tf) or []
        found = differences(graph.as_graph_def(), parse(golden[name]))
        assert not found, "\n".join(found)
        with tf.Session() as session:
            if tf.global_variables():
                session.run(tf.global_variables_initializer())
            if tensors and tf.local_variables():
                session.run(tf.local_variables_initializer())
            runs = tensors if isinstance(tensors, tuple) else (tensors,)
            for i, value in enumerate(value for fetches in runs for value in session.run(list(fetches))):
                tolerance = TOLERANCE.get(f"{path.stem}.{name}", {"rtol": 2e-5, "atol": 1e-6})
                _assert_agrees(value, golden[f"{name}.{i}"], tolerance)


def _assert_agrees(value, expected, tolerance):
    value = np.asarray(value)
    assert value.shape == expected.shape
    if expected.dtype.kind in "OSU":
        assert value.tolist() == expected.tolist()
    else:
        assert value.dtype == expected.dtype
        np.testing.assert_allclose(value, expected, **tolerance)
