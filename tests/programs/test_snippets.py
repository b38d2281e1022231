"""Every snippet: its graph equals TensorFlow 1.15.5's node by node, its values agree, and it can be imported."""

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
        graph_def = parse(golden[name])
        tensors = function(tf) or []
        found = differences(graph.as_graph_def(), graph_def)
        assert not found, "\n".join(found)
        variables = [*tf.global_variables(), *(tf.local_variables() if tensors else ())]
        runs = [
            [variable.initializer for variable in variables],
            *(tensors if isinstance(tensors, tuple) else (tensors,)),
        ]
        values = _values_of(graph, runs)
        tolerance = TOLERANCE.get(f"{path.stem}.{name}", {"rtol": 2e-5, "atol": 1e-6})
        for i, value in enumerate(values):
            _assert_agrees(value, golden[f"{name}.{i}"], tolerance)
    _assert_imports(graph_def, runs, values)


def _values_of(graph, runs):
    """What each run after that of the initializers gives, in one list."""
    with tf.Session(graph=graph) as session:
        results = [session.run(list(fetches)) for fetches in runs if fetches]
    return [value for result in results[1 if runs[0] else 0 :] for value in result]


def _assert_agrees(value, expected, tolerance):
    value = np.asarray(value)
    assert value.shape == expected.shape
    if expected.dtype.kind in "OSU":
        assert value.tolist() == expected.tolist()
    else:
        assert value.dtype == expected.dtype
        np.testing.assert_allclose(value, expected, **tolerance)


# ---- TensorFlow's graphs as imported ones ----------------------------------------------------------------------


def _assert_imports(graph_def, runs, values):
    """TensorFlow's graph, which ours equals, comes in, has the bits of ours, and goes out as it was."""
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        written = graph.as_graph_def()
        assert [node.name for node in written.node] == _in_order(graph_def)
        nodes = {node.name: node for node in written.node}
        again = [nodes[node.name] for node in graph_def.node]
        again = tf.GraphDef(node=again, library=written.library, versions=written.versions)
        found = differences(again, _placed_with_colocated(graph_def))
        assert not found, "\n".join(found)
        everywhere = [*graph_def.node, *(node for each in graph_def.library.function for node in each.node_def)]
        if any(node.op in ("PyFunc", "PyFuncStateless", "EagerPyFunc") for node in everywhere):
            return  # its Python functions are those of the graph that was built
        if all(isinstance(fetch, (tf.Tensor, tf.Operation)) for fetches in runs for fetch in fetches):
            names = [[fetch.name for fetch in fetches] for fetches in runs]
            for value, expected in zip(_values_of(graph, names), values, strict=True):
                np.testing.assert_array_equal(value, expected)


def _in_order(graph_def):
    """The names as importing orders them: nodes after what they wait for."""
    rounds = {node.name for node in graph_def.node if node.op == "NextIteration"}
    waiting = [
        (
            node.name,
            {name.removeprefix("^").partition(":")[0] for name in node.input}
            - (rounds if node.op == "Merge" else set()),
        )
        for node in graph_def.node
    ]
    ordered = {}
    while waiting:
        index = next(i for i, (_, inputs) in enumerate(waiting) if inputs <= ordered.keys())
        ordered[waiting.pop(index)[0]] = None
    return list(ordered)


def _placed_with_colocated(graph_def):
    """The graph after an import, which gives a node the device of what it is colocated with."""
    devices = {node.name: node.device for node in graph_def.node}
    for node in graph_def.node:
        classes = node.attr["_class"].list.s if "_class" in node.attr else ()
        places = [devices[each.decode().split("@")[1]] for each in classes]
        node.device = next(filter(None, places), node.device)
    return graph_def
