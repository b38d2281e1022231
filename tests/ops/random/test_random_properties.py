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
