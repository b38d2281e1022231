"""Random streams, whatever the shapes, threads, instruction sets and neighbours."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stillflow as tf
from stillflow import ops
from stillflow.testing import ISAS, new_session

BUILDERS = {
    "uniform": lambda shape, seed, dtype: ops.random_uniform(shape, dtype=dtype, seed=seed, seed2=7),
    "normal": lambda shape, seed, dtype: ops.random_standard_normal(shape, dtype=dtype, seed=seed, seed2=7),
    "truncated": lambda shape, seed, dtype: ops.truncated_normal(shape, dtype=dtype, seed=seed, seed2=7),
}
INT64 = st.integers(-(2**63), 2**63 - 1)

many = settings(max_examples=25, deadline=None, derandomize=True)


def draws(build, shapes, threads=1, isa_name=None):
    """The values of a node's runs with the shapes, one after the other, as flat arrays."""
    with new_session(threads, isa_name) as session:
        shape = ops.placeholder(dtype="int64")
        output = build(shape)
        return [session.run(output, {shape: np.array(dims, np.int64)}).ravel() for dims in shapes]


@pytest.mark.parametrize("name", BUILDERS)
@many
@given(
    seed=INT64.filter(bool),
    dims=st.lists(st.integers(1, 12), max_size=4),
    dtype=st.sampled_from(["float32", "float64", "float16", "bfloat16"]),
    threads=st.sampled_from([1, 2, 3, 8]),
    isa_name=st.sampled_from(ISAS),
)
def test_a_shape_is_only_how_the_stream_is_folded(name, seed, dims, dtype, threads, isa_name):
    count = int(np.prod(dims))
    (flat,) = draws(lambda shape: BUILDERS[name](shape, seed, dtype), [[count]])
    (folded,) = draws(lambda shape: BUILDERS[name](shape, seed, dtype), [dims], threads, isa_name)
    assert flat.tobytes() == folded.tobytes()


@pytest.mark.parametrize("name", BUILDERS)
@many
@given(
    seed=INT64.filter(bool),
    counts=st.lists(st.one_of(st.integers(0, 70), st.integers(1000, 40000)), min_size=1, max_size=4),
    threads=st.sampled_from([2, 3, 8]),
    isa_name=st.sampled_from(ISAS),
)
def test_all_runs_are_the_same_for_any_threads_and_instruction_set(name, seed, counts, threads, isa_name):
    def build(shape):
        return BUILDERS[name](shape, seed, "float32")

    expected = draws(build, [[count] for count in counts])
    found = draws(build, [[count] for count in counts], threads, isa_name)
    assert [value.tobytes() for value in found] == [value.tobytes() for value in expected]


@many
@given(
    low=st.integers(-(2**31), 2**31 - 2),
    width=st.integers(1, 2**32 - 1),
    count=st.integers(0, 5000),
    threads=st.sampled_from([1, 3]),
    isa_name=st.sampled_from(ISAS),
)
def test_integers_lie_in_their_range_with_the_same_bits(low, width, count, threads, isa_name):
    high = min(low + width, 2**31 - 1)

    def build(shape):
        return ops.random_uniform_int(shape, ops.constant(low, "int32"), ops.constant(high, "int32"), seed=5, seed2=6)

    (values,) = draws(build, [[count]], threads, isa_name)
    assert values.tobytes() == draws(build, [[count]])[0].tobytes()
    assert np.all((values >= low) & (values < high))


@many
@given(order=st.permutations(range(3)), repeats=st.lists(st.integers(1, 3), min_size=3, max_size=3))
def test_nodes_do_not_see_each_other_s_draws(order, repeats):
    """Run in any order, alone or together, each node goes on in its own stream."""
    with new_session() as session:
        nodes = [tf.random_uniform([5], seed=i) for i in range(3)]
        together = [session.run(nodes) for _ in range(3)]
    with new_session() as session:
        nodes = [tf.random_uniform([5], seed=i) for i in range(3)]
        for i in order:
            for run in range(repeats[i]):
                assert session.run(nodes[i]).tobytes() == together[run][i].tobytes()


@many
@given(graph_seed=st.integers(-(2**31), 2**31 - 1), count=st.integers(1, 5))
def test_the_same_program_draws_the_same_numbers(graph_seed, count):
    def program():
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(graph_seed)
            tensors = [tf.random_normal([3]) for _ in range(count)]
            return b"".join(value.tobytes() for value in session.run(tensors))

    first = program()
    assert first == program()
    parts = {first[i : i + 12] for i in range(0, len(first), 12)}
    assert len(parts) == count  # each node has a stream of its own


# ---- Distributions with parameters ----------------------------------------------------------------------------

PARAMETERS = [0.3, 1.0, 7.5, 40.0]
WITH_PARAMETERS = {
    "gamma": lambda shape, seed, parameters: ops.random_gamma_op(shape, parameters, seed=seed, seed2=7),
    "poisson": lambda shape, seed, parameters: ops.random_poisson_v2(
        shape, parameters, dtype="int64", seed=seed, seed2=7
    ),
}


@pytest.mark.parametrize("name", WITH_PARAMETERS)
@many
@given(
    seed=INT64.filter(bool),
    dims=st.lists(st.integers(1, 12), max_size=4),
    parameter=st.sampled_from(PARAMETERS),
    threads=st.sampled_from([1, 2, 3, 8]),
    isa_name=st.sampled_from(ISAS),
)
def test_a_shape_of_samples_is_only_how_they_are_folded(name, seed, dims, parameter, threads, isa_name):
    def build(shape):
        return WITH_PARAMETERS[name](shape, seed, ops.constant(parameter, "float64"))

    (flat,) = draws(build, [[int(np.prod(dims))]])
    (folded,) = draws(build, [dims], threads, isa_name)
    assert flat.tobytes() == folded.tobytes()


@pytest.mark.parametrize("name", WITH_PARAMETERS)
@many
@given(
    seed=INT64.filter(bool),
    count=st.integers(1, 600),
    indices=st.lists(st.integers(0, len(PARAMETERS) - 1), min_size=1, max_size=5),
    threads=st.sampled_from([1, 3]),
    isa_name=st.sampled_from(ISAS),
)
def test_samples_of_a_parameter_depend_on_its_place_alone(name, seed, count, indices, threads, isa_name):
    """Parameter p draws what a single one would draw p * count samples later."""
    parameters = np.array(PARAMETERS)[indices]
    (together,) = draws(lambda shape: WITH_PARAMETERS[name](shape, seed, parameters), [[count]], threads, isa_name)
    together = together.reshape(count, -1)
    for p, parameter in enumerate(parameters):
        (alone,) = draws(
            lambda shape, parameter=parameter: WITH_PARAMETERS[name](shape, seed, parameter), [[(p + 1) * count]]
        )
        np.testing.assert_array_equal(together[:, p], alone[p * count :])


@many
@given(
    seed=INT64.filter(bool),
    rows=st.integers(1, 40),
    samples=st.integers(1, 300),
    logits=st.lists(st.floats(-5, 5, width=32), min_size=1, max_size=9),
    threads=st.sampled_from([1, 2, 8]),
    isa_name=st.sampled_from(ISAS),
)
def test_rows_of_classes_follow_each_other_in_the_stream(seed, rows, samples, logits, threads, isa_name):
    def build(rows, samples):
        return ops.multinomial_op(np.tile(np.float32(logits), (rows, 1)), samples, seed=seed, seed2=7)

    with new_session(threads, isa_name) as session:
        found = session.run(build(rows, samples))
    with new_session() as session:
        expected = session.run(build(1, rows * samples))
    assert found.tobytes() == expected.tobytes()
    assert found.min() >= 0
    assert found.max() < len(logits)


@many
@given(
    seed=INT64.filter(bool),
    counts=st.lists(st.integers(0, 3000), min_size=1, max_size=4),
    width=st.integers(1, 5),
    threads=st.sampled_from([1, 3]),
    isa_name=st.sampled_from(ISAS),
)
def test_a_shuffle_is_the_same_permutation_for_any_rows(seed, counts, width, threads, isa_name):
    def orders(rows_of, threads=1, isa_name=None):
        with new_session(threads, isa_name) as session:
            value = ops.placeholder(dtype="int64")
            output = ops.random_shuffle(value, seed=seed, seed2=7)
            return [session.run(output, {value: rows_of(count)}) for count in counts]

    vectors = orders(np.arange)
    matrices = orders(lambda count: np.arange(count)[:, None] + np.zeros((1, width), np.int64), threads, isa_name)
    for count, vector, matrix in zip(counts, vectors, matrices, strict=True):
        assert sorted(vector.tolist()) == list(range(count))
        np.testing.assert_array_equal(matrix, np.tile(vector[:, None], (1, width)))


@many
@given(
    low=st.floats(-6, 6, width=32),
    width=st.floats(0.0625, 8, width=32),
    count=st.integers(1, 500),
    threads=st.sampled_from([1, 3]),
    isa_name=st.sampled_from(ISAS),
)
def test_truncated_normals_lie_within_their_bounds(low, width, count, threads, isa_name):
    def build(shape):
        bounds = [ops.constant(value, "float32") for value in (0.0, 1.0, low, low + width)]
        return ops.parameterized_truncated_normal_op(shape, *bounds, seed=5, seed2=6)

    (values,) = draws(build, [[count]], threads, isa_name)
    assert values.tobytes() == draws(build, [[count]])[0].tobytes()
    slack = 1e-5 * max(1, abs(low) + width)
    assert np.all((values >= low - slack) & (values <= low + width + slack))


STATELESS = {
    "uniform": lambda shape, seed: ops.stateless_random_uniform_op(shape, seed, dtype="float32"),
    "normal": lambda shape, seed: ops.stateless_random_normal_op(shape, seed, dtype="float32"),
    "truncated": lambda shape, seed: ops.stateless_truncated_normal_op(shape, seed, dtype="float32"),
    "int": lambda shape, seed: ops.stateless_random_uniform_int(shape, seed, -9, 9),
}


@pytest.mark.parametrize("name", STATELESS)
@many
@given(
    seed=st.tuples(INT64, INT64),
    counts=st.lists(st.integers(1, 5000), min_size=2, max_size=3),
    threads=st.sampled_from([1, 3]),
    isa_name=st.sampled_from(ISAS),
)
def test_stateless_numbers_follow_from_their_seed_alone(name, seed, counts, threads, isa_name):
    def build(shape):
        return STATELESS[name](shape, np.array(seed, np.int64))

    whole = draws(build, [[max(counts)]])[0]
    for values in draws(build, [[count] for count in counts], threads, isa_name):
        np.testing.assert_array_equal(values, whole[: len(values)])
