"""Random tensors: TensorFlow's streams bit for bit, streams of their own, and bad input."""

import numpy as np
import pytest
from random_vectors import assert_matches, case_id, cases, load, seeds

from stillflow import _engine, errors, ops
from stillflow.testing import ISAS, assert_same_bits, new_session, run_kernel, sessions_of_all_isas

BUILDERS = {
    "RandomUniform": ops.random_uniform,
    "RandomStandardNormal": ops.random_standard_normal,
    "TruncatedNormal": ops.truncated_normal,
}
FILES = ("uniform", "normal", "truncated_normal")
INT64_MIN = -(2**63)


@pytest.mark.parametrize("case", [case for file in FILES for case in cases(file)], ids=case_id)
def test_runs_of_a_node_are_those_of_tensorflow(case):
    is_platform_dependent = case["dtype"] == "float64" and case["op"] != "RandomUniform"
    for session in sessions_of_all_isas():
        shape = ops.placeholder(dtype="int32")
        output = BUILDERS[case["op"]](shape, dtype=case["dtype"], **seeds(case))
        for run in case["runs"]:
            value = session.run(output, {shape: np.array(run["shape"], np.int32)})
            assert_matches(run["out"], value, most_ulps=2 if is_platform_dependent else 0)


@pytest.mark.parametrize("case", cases("uniform_int"), ids=case_id)
def test_runs_of_integers_are_those_of_tensorflow(case):
    for session in sessions_of_all_isas():
        shape = ops.placeholder(dtype="int64")
        bounds = [ops.constant(case[key], case["dtype"]) for key in ("minval", "maxval")]
        output = ops.random_uniform_int(shape, *bounds, **seeds(case))
        for run in case["runs"]:
            assert_matches(run["out"], session.run(output, {shape: np.array(run["shape"], np.int64)}))


# ---- The generator itself -------------------------------------------------------------------------------------


def int64_words(key, counter, blocks, isa_name):
    """Pairs of words from a position of a stream on; a full range of integers leaves them as they are."""
    core = _engine.Session(1)
    bounds = np.array(INT64_MIN), np.array(2**63 - 1)

    def draw(count):
        return run_kernel(
            "random_uniform_int",
            np.array([count]),
            *bounds,
            random_state=("node", 1, 1),
            core=core,
            isa_name=isa_name,
        )

    draw(1)
    core.set_random_state("node", key, *counter)
    return (draw(2 * blocks) - INT64_MIN).view(np.uint32).reshape(blocks, 4)


@pytest.mark.parametrize("isa_name", ISAS)
@pytest.mark.parametrize("case", cases("philox"), ids=case_id)
def test_blocks_of_philox(case, isa_name):
    words = int64_words(case["key"], case["counter"], case["blocks"], isa_name)
    np.testing.assert_array_equal(words, np.array(case["out"][0]["values"], np.uint32).reshape(words.shape))


@pytest.mark.parametrize("isa_name", ISAS)
def test_the_counter_carries_in_the_middle_of_a_vector(isa_name):
    whole = int64_words(7, (2**64 - 50, 2**64 - 1), 200, isa_name)
    np.testing.assert_array_equal(whole[50:], int64_words(7, (0, 0), 150, isa_name))
    for i in (0, 1, 31, 49):
        np.testing.assert_array_equal(whole[i], int64_words(7, (2**64 - 50 + i, 2**64 - 1), 1, isa_name)[0])


def counter_of(words, key=0):
    """The counter at which a block has these words: the rounds of Philox backwards."""
    c0, c1, c2, c3 = words
    multipliers = 0xD2511F53, 0xCD9E8D57
    inverses = [pow(multiplier, -1, 2**32) for multiplier in multipliers]
    keys = [((key + i * 0x9E3779B9) % 2**32, ((key >> 32) + i * 0xBB67AE85) % 2**32) for i in range(10)]
    for k0, k1 in reversed(keys):
        before0, before2 = c3 * inverses[0] % 2**32, c1 * inverses[1] % 2**32
        before1 = c0 ^ k0 ^ (multipliers[1] * before2 >> 32)
        before3 = c2 ^ k1 ^ (multipliers[0] * before0 >> 32)
        c0, c1, c2, c3 = before0, before1, before2, before3
    return c1 << 32 | c0, c3 << 32 | c2


@pytest.mark.parametrize("isa_name", ISAS)
def test_pairs_of_words_make_the_recorded_normals(isa_name):
    """Extreme mantissas among them; streams are started where they hold the words."""
    core = _engine.Session(1)

    def draw(count):
        return run_kernel(
            "random_standard_normal", np.array([count]), attrs=[1], random_state=("node", 1, 1), core=core,
            isa_name=isa_name,
        )  # fmt: skip

    draw(1)
    for pair in load("box_muller")["pairs"]:
        counter = counter_of((pair["w0"], pair["w1"], pair["w0"], pair["w1"]))
        core.set_random_state("node", 0, *counter)
        expected = np.frombuffer(bytes.fromhex(pair["z0"] + pair["z1"]), "<f4")
        np.testing.assert_array_equal(draw(4), np.tile(expected, 2))


# ---- What does not change the numbers -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", BUILDERS)
@pytest.mark.parametrize("count", [1, 3, 1023, 70001])
def test_same_bits_everywhere(name, dtype, count):
    assert_same_bits(lambda: BUILDERS[name]([count], dtype=dtype, seed=3, seed2=9))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_same_integers_everywhere(dtype):
    assert_same_bits(
        lambda: ops.random_uniform_int(
            [70001], ops.constant(-3, dtype), ops.constant(2**31 - 1, dtype), seed=3, seed2=9
        )
    )


@pytest.mark.parametrize("name", BUILDERS)
def test_an_element_depends_on_its_position_alone(name):
    def draw(count):
        with new_session() as session:
            return session.run(BUILDERS[name]([count], dtype="float32", seed=3, seed2=9))

    whole = draw(50000)
    for count in (1, 2, 3, 4, 5, 1023, 1025, 33333):
        np.testing.assert_array_equal(draw(count), whole[:count])


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers_are_remainders(dtype):
    """Against Python's, for ranges from 1 to the widest."""
    words = int64_words(1, (0, 1), 2500, None)
    info = np.iinfo(dtype)
    drawn = words.reshape(-1) if dtype == "int32" else words.reshape(-1).view(np.uint64)
    bounds = [(0, 1), (0, 3), (-7, 1000), (0, info.max), (-5, 2**30), (info.min, info.max), (info.min, 0)]
    for low, high in bounds:
        with new_session() as session:
            limits = [ops.constant(limit, dtype) for limit in (low, high)]
            output = session.run(ops.random_uniform_int([drawn.size], *limits, seed=1, seed2=1))
            assert output.tolist() == [low + word % (high - low) for word in drawn.tolist()]


# ---- Streams --------------------------------------------------------------------------------------------------


def test_a_new_session_starts_again_and_the_same_session_goes_on():
    output = ops.random_uniform([3], dtype="float32", seed=1, seed2=2)
    with new_session() as session:
        session._graph = output.graph
        first, second = session.run(output), session.run(output)
    with new_session() as session:
        session._graph = output.graph
        np.testing.assert_array_equal(session.run([output, output])[1], first)
        np.testing.assert_array_equal(session.run(output), second)
    assert not np.array_equal(first, second)


def test_nodes_with_equal_seeds_are_not_merged():
    a, b = (ops.random_uniform([3], dtype="float32", seed=1, seed2=2) for _ in range(2))
    with new_session() as session:
        session._graph = a.graph
        session.run(a)
        first, other = session.run([a, b])
        assert not np.array_equal(first, other)


def test_seeds_of_zero_are_drawn_from_the_system():
    def draw():
        with new_session() as session:
            return session.run(ops.random_uniform([4], dtype="float32"))

    assert not np.array_equal(draw(), draw())


def test_an_empty_tensor_takes_nothing():
    with new_session() as session:
        shape = ops.placeholder(dtype="int32")
        output = ops.random_uniform(shape, dtype="float32", seed=1, seed2=2)
        first = session.run(output, {shape: [2]})
    with new_session() as session:
        shape = ops.placeholder(dtype="int32")
        output = ops.random_uniform(shape, dtype="float32", seed=1, seed2=2)
        assert session.run(output, {shape: [0, 5]}).shape == (0, 5)
        np.testing.assert_array_equal(session.run(output, {shape: [2]}), first)


# ---- Distributions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_moments(dtype):
    with new_session() as session:
        uniform, normal, truncated = session.run(
            [build([400000], dtype=dtype, seed=1, seed2=2) for build in BUILDERS.values()]
        )
    assert uniform.min() >= 0
    assert uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.002
    assert abs(normal.mean()) < 0.005
    assert abs(normal.std() - 1) < 0.005
    assert np.abs(truncated).max() < 2
    assert abs(truncated.std() - 0.8796) < 0.005


# ---- Bad input ------------------------------------------------------------------------------------------------


def run_with_shape(shape, **options):
    with new_session() as session:
        fed = ops.placeholder(dtype="int64")
        return session.run(ops.random_uniform(fed, dtype="float32", **options), {fed: np.array(shape, np.int64)})


@pytest.mark.parametrize("shape", [[-1], [2, -1]])
def test_negative_sizes_are_refused(shape):
    with pytest.raises(errors.InvalidArgumentError, match="Dimension -1 must be >= 0"):
        run_with_shape(shape)


def test_sizes_whose_product_overflows_are_refused():
    with pytest.raises(errors.InvalidArgumentError, match="would have more than"):
        run_with_shape([2**40, 2**40])
    with pytest.raises(errors.ResourceExhaustedError, match="OOM when allocating"):
        run_with_shape([2**61])


def test_a_shape_is_a_vector():
    with pytest.raises(errors.InvalidArgumentError, match=r"rank 1|vector"):
        run_with_shape(3)
    with pytest.raises(ValueError, match="Shape must be rank 1"):
        ops.random_uniform([[2]], dtype="float32")


def test_integer_bounds_are_checked():
    with new_session() as session:
        low = ops.placeholder(dtype="int32")
        output = ops.random_uniform_int([2], low, 5)
        with pytest.raises(errors.InvalidArgumentError, match="Need minval < maxval, got 5 >= 5"):
            session.run(output, {low: 5})
        with pytest.raises(errors.InvalidArgumentError, match=r"rank 0|0-D"):
            session.run(output, {low: [1, 2]})
        shape = ops.placeholder(dtype="int32")
        empty = ops.random_uniform_int(shape, 5, 5)
        assert session.run(empty, {shape: [0]}).size == 0
