"""Holding what stillflow makes of the cases of tests/programs/values to what TensorFlow 1.15.5 made of them."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from programs import values

import stillflow as tf

GOLDEN = Path(__file__).parent / "golden" / "values"


def cases(area):
    """A parameter (case, expected) for each case of the area; expected is an array, or the text of an error."""
    return list(_cases(area))


def _cases(area):
    built = importlib.import_module(f"programs.values.{area}").cases(tf)
    with np.load(GOLDEN / f"{area}.npz") as golden:
        assert {key.split("@")[0] for key in golden} == set(built), "record the values again"
        for key in golden:
            name, _, dtype = key.partition("@")
            expected = golden[key]
            if dtype == "error":
                expected = str(expected)
                if "No OpKernel" in expected or "root error(s)" in expected:
                    continue  # TensorFlow has no kernel for the type
            elif dtype == "bfloat16":
                expected = expected.view(tf.bfloat16.as_numpy_dtype)
            yield pytest.param(built[name], expected, id=name)


def evaluate(case):
    return values.evaluate(tf, case)


def assert_same(value, expected, **tolerance):
    """The same error, or type, shape and elements; within a relative and absolute tolerance, if there is one."""
    if isinstance(expected, str):
        assert isinstance(value, str), f"{value} instead of {expected}"
        assert value == expected
        return
    assert not isinstance(value, str), value
    value = np.asarray(value)
    assert (value.dtype, value.shape) == (expected.dtype, expected.shape)
    if value.dtype == tf.bfloat16.as_numpy_dtype:
        value, expected = (array.astype(np.float32) for array in (value, expected))
    if tolerance:
        np.testing.assert_allclose(value, expected, **tolerance)
    else:
        np.testing.assert_array_equal(value, expected)
