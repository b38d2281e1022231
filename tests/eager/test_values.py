"""Single ops of tests/programs/values, called eagerly over many types, do what they do in TensorFlow 1.15.5."""

import importlib
import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest
from eager_runs import from_text, outcome_of_case

import stillflow as tf

GOLDEN = Path(__file__).parent.parent / "golden"
EXPECTED = json.loads((GOLDEN / "eager" / "values.json").read_text())

# Errors of types that TensorFlow has no kernel for, or only one that fails.
_NOT_THERE = (
    "NotFoundError: Could not find valid device", "NotFoundError: No registered", "InternalError", "AttributeError",
    "RuntimeError", "InvalidArgumentError: Value for attr", "InvalidArgumentError: Invalid cast from floating",
    "InvalidArgumentError: Expected element type",
)  # fmt: skip

# Where TensorFlow's values are no model: integers divided by zero by compilers' whim, NaN as a bool,
# 1 / sqrt(-0), the sign of NaN, products of bfloat16 in another order, axes of reductions as matrices.
_OTHERWISE = {
    "division.truncatediv_int8_zero", "division.realdiv_int8_zero", "division.realdiv_int32_zero",
    "division.realdiv_int64_zero", "division.realdiv_uint8_zero", "cast.bfloat16_to_bool", "cast.float32_to_bool",
    "elementwise_unary.rsqrt_float32", "elementwise_unary.sign_float32", "elementwise_unary.sign_float64",
    "reduction.prod_bfloat16_None", "reduction.matrix_True", "reduction.matrix_False",
}  # fmt: skip


# Of how many cases one is tried here: patterns differ in what one kernel does, which is tried in graphs.
_ONE_OF = {"regex": 8}


def areas():
    return sorted({name.partition(".")[0] for name in EXPECTED})


@pytest.mark.parametrize("area", areas())
def test_values_and_errors_are_those_of_tensorflow(area):
    cases = importlib.import_module(f"programs.values.{area}").cases(tf)
    wrong = {}
    with np.load(GOLDEN / "values" / f"{area}.npz", allow_pickle=True) as golden:
        for name, case in itertools.islice(cases.items(), 0, None, _ONE_OF.get(area, 1)):
            expected = EXPECTED[f"{area}.{name}"]
            difference = _difference(case, expected, golden, name)
            if difference and f"{area}.{name}" not in _OTHERWISE:
                wrong[name] = difference
    assert not wrong, "\n".join(f"{name}: {text}" for name, text in wrong.items())


def _difference(case, expected, golden, name):
    found = outcome_of_case(tf, case)
    if isinstance(expected, str) and (expected.startswith(_NOT_THERE) or not isinstance(found, str)):
        return "" if expected.startswith(_NOT_THERE) else f"no error instead of {expected!r}"
    if isinstance(expected, str) or isinstance(found, str):
        return "" if found == _with_our_words(expected) else f"{found!r} instead of {expected!r}"
    value = np.asarray(found[0])
    wanted = golden[name] if expected[0] == "=" else from_text(expected[0], tf.bfloat16.as_numpy_dtype)
    if (value.dtype, value.shape) != (wanted.dtype, wanted.shape):
        return f"{value.dtype}{value.shape} instead of {wanted.dtype}{wanted.shape}"
    if value.dtype == object:
        return "" if value.tolist() == wanted.tolist() else f"{value} instead of {wanted}"
    if value.dtype == tf.bfloat16.as_numpy_dtype:
        value, wanted = value.astype(np.float32), wanted.astype(np.float32)
    is_close = np.allclose(value, wanted, rtol=2e-3 if value.dtype == np.float16 else 2e-5, atol=1e-6, equal_nan=True)
    return "" if is_close else f"{value} instead of {wanted}"


def _with_our_words(expected):
    if not isinstance(expected, str):
        return expected
    return re.sub(r"Inputs to operation (\w+) of type", "Inputs to operation of type", expected)
