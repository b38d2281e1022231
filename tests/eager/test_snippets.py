"""The snippets of tests/programs do eagerly what they do in TensorFlow 1.15.5: values, random numbers, errors."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest
from eager_runs import from_text, more_calls, outcome
from eager_runs.recording import functions_of

import stillflow as tf

GOLDEN = Path(__file__).parent.parent / "golden"
EXPECTED = json.loads((GOLDEN / "eager" / "snippets.json").read_text())
MORE = json.loads((GOLDEN / "eager" / "more_calls.json").read_text())

# What single values may differ by, where an error of TensorFlow's grows.
TOLERANCE = {
    # TensorFlow solves normal equations, whose condition is that of the matrix squared, in float32.
    "factors.gradients_of_least_squares": {"rtol": 2e-4, "atol": 1e-5},
    "factors.least_squares_of_unknown_sizes": {"rtol": 2e-4, "atol": 1e-5},
    # TensorFlow's tanh(x^2 + log(x)) at 2 is 2 units of 2^-24 off; times 2 y in 1 - y^2, then 2 x + 1 / x = 4.5.
    "math_unary.of_a_placeholder": {"rtol": 2e-5, "atol": 1.01 * 4.5 * 4 * 2.0**-24},
}

# Errors that tell of the insides of TensorFlow, or of a lack that we do not have.
_FOREIGN = (
    "crash", "AttributeError", "TypeError", "AssertionError", "InternalError", "UnimplementedError",
    "RuntimeError: Attempting to capture", "ValueError: Attempt to convert a value (None)",
    "ValueError: Expecting a string device name",
)  # fmt: skip

# Areas and snippets that do not agree yet.
_OPEN = (
    "dataset_functions.captures", "dataset_functions.variables_made_inside", "scopes.devices", "templates.templates",
)  # fmt: skip


def snippets():
    for name, expected in EXPECTED.items():
        if not (isinstance(expected, str) and expected.startswith(_FOREIGN)) and not name.startswith(_OPEN):
            yield pytest.param(name, expected, id=name)


@pytest.mark.parametrize(("name", "expected"), list(snippets()))
def test_snippet_does_what_it_does_in_tensorflow(name, expected):
    area, _, function = name.partition(".")
    found = outcome(tf, getattr(importlib.import_module(f"programs.snippets.{area}"), function))
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected
        return
    assert len(found) == len(expected)
    with np.load(GOLDEN / "snippets" / f"{area}.npz", allow_pickle=True) as golden:
        for i, (value, item) in enumerate(zip(found, expected, strict=True)):
            wanted = golden[f"{function}.{i}"] if item == "=" else from_text(item, tf.bfloat16.as_numpy_dtype)
            _assert_agrees(value, wanted, TOLERANCE.get(name, {"rtol": 2e-5, "atol": 1e-6}))


@pytest.mark.parametrize(("name", "function"), functions_of(more_calls))
def test_other_calls_do_what_they_do_in_tensorflow(name, function):
    found, expected = outcome(tf, function), MORE[name]
    assert not isinstance(found, str), found
    assert len(found) == len(expected)
    for value, item in zip(found, expected, strict=True):
        _assert_agrees(value, from_text(item, tf.bfloat16.as_numpy_dtype), {"rtol": 2e-5, "atol": 1e-6})


def _assert_agrees(value, expected, tolerance):
    if isinstance(expected, str):
        assert value == expected
        return
    value = np.asarray(value)
    assert value.shape == expected.shape
    if expected.dtype.kind in "OSU":
        assert value.tolist() == expected.tolist()
    else:
        assert value.dtype == expected.dtype
        np.testing.assert_allclose(value, expected, **tolerance)
