"""Shuffles, classes and numbers of distributions with parameters: TensorFlow's bits, moments and bad input."""

import numpy as np
import pytest
from random_vectors import assert_matches, case_id, cases, seeds

import stillflow as tf
from stillflow import errors, ops
from stillflow.testing import ISAS, assert_same_bits, check_gradient, new_session, of_unknown_shape


def draw(output, feed=None, runs=1):
    """The values of some runs in a new session."""
    with tf.Session(graph=output.graph) as session:
        values = [session.run(output, feed) for _ in range(runs)]
    return values[0] if runs == 1 else values


def logits_of(spec, dtype):
    """The logits of a vector: rows where null is -inf, or what ["gen", rows, classes, s] stands for."""
    if spec[0] != "gen":
        return np.array([[-np.inf if value is None else value for value in row] for row in spec], dtype)
    _, rows, classes, s = spec
    numbers = np.arange(rows * classes, dtype=np.int64).reshape(rows, classes)
    return ((numbers * 2654435761 + s * 40503) % 4096 % 33 / 4 - 4).astype(dtype)


# ---- TensorFlow's vectors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("isa_name", ISAS)
@pytest.mark.parametrize("case", cases("shuffle"), ids=case_id)
def test_orders_are_those_of_tensorflow(case, isa_name):
    with new_session(isa_name=isa_name) as session:
        value = ops.placeholder(dtype="int32")
        output = ops.random_shuffle(value, **seeds(case))
        for run in case["runs"]:
            rows = np.arange(run["n"], dtype=np.int32)
            if "width" in case:
                matrix = rows[:, None] * 1000 + np.arange(case["width"], dtype=np.int32)
                found = session.run(output, {value: matrix})
                np.testing.assert_array_equal(found % 1000, matrix % 1000)
                assert_matches(run["out"], found[:, 0] // 1000)
            else:
                assert_matches(run["out"], session.run(output, {value: rows}))


@pytest.mark.parametrize("isa_name", ISAS)
@pytest.mark.parametrize("case", cases("multinomial"), ids=case_id)
def test_classes_are_those_of_tensorflow(case, isa_name):
    with new_session(threads=3, isa_name=isa_name) as session:
        logits = ops.placeholder(dtype=case["dtype"])
        count = ops.placeholder(dtype="int32")
        output = ops.multinomial_op(logits, count, output_dtype=case["output_dtype"], **seeds(case))
        for run in case["runs"]:
            feed = {logits: logits_of(run["logits"], case["dtype"]), count: run["num_samples"]}
            assert_matches(run["out"], session.run(output, feed))


@pytest.mark.parametrize("isa_name", ISAS)
@pytest.mark.parametrize("case", cases("gamma") + cases("poisson"), ids=case_id)
def test_samples_are_those_of_tensorflow(case, isa_name):
    with new_session(isa_name=isa_name) as session:
        shape = ops.placeholder(dtype="int32")
        if case["op"] == "RandomGamma":
            output = ops.random_gamma_op(shape, ops.constant(case["alpha"], case["dtype"]), **seeds(case))
        else:
            rate = ops.constant(case["rate"], case["rate_dtype"])
            output = ops.random_poisson_v2(shape, rate, dtype=case["dtype"], **seeds(case))
        for run in case["runs"]:
            value = session.run(output, {shape: np.array(run["shape"], np.int32)})
            assert_matches(run["out"], value, most_ulps=4 if case["op"] == "RandomGamma" else 0)


@pytest.mark.parametrize("isa_name", ISAS)
@pytest.mark.parametrize("case", cases("parameterized_truncated_normal"), ids=case_id)
def test_truncated_normals_with_parameters_are_those_of_tensorflow(case, isa_name):
    with new_session(isa_name=isa_name) as session:
        shape = ops.placeholder(dtype="int32")
        parameters = [ops.constant(case[key], case["dtype"]) for key in ("means", "stdevs", "minvals", "maxvals")]
        output = ops.parameterized_truncated_normal_op(shape, *parameters, **seeds(case))
        for run in case["runs"]:
            value = session.run(output, {shape: np.array(run["shape"], np.int32)})
            assert_matches(run["out"], value, most_ulps=4 if case["dtype"] == "float64" else 0)
