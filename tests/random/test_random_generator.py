"""tf.random.experimental.Generator: its streams, what its variable is worth, and what it refuses."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits

Generator = tf.random.experimental.Generator
create_rng_state = tf.random.experimental.create_rng_state


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def started(*generators):
    session = tf.Session()
    session.run([generator.state.initializer for generator in generators])
    return session


# What TensorFlow 1.15.5 makes of a state [5, 2^63 - 1, 7], one draw after the other.
STATE = [5, 2**63 - 1, 7]
FULL_INTS = {
    tf.int32: [864122984, 2042830774, 626024739],
    tf.int64: [7308338667752281374, -3293003681327295746, -5442797082266119740],
    tf.uint32: [2559922742, 2029585488, 664164259],
    tf.uint64: [2996361365390476191, 8785758107882191035, 17690670571152311915],
}


def test_integers_are_those_of_tensorflow():
    generator = Generator.from_state(STATE, 1)
    with started(generator) as session:
        session.run(ops.rng_skip(generator.state.handle, 1, 10))
        for dtype, expected in FULL_INTS.items():
            assert session.run(generator.uniform_full_int([3], dtype)).tolist() == expected
        assert session.run(generator.state).tolist() == [5 + 256 * (10 + 4 * 3), 2**63 - 1, 7]


@pytest.mark.parametrize(
    ("dtype", "uniform", "truncated", "normal"),
    [
        ("float16", [0.7695, 0.11035, 0.06055], [-1.07, -0.7437, -1.197], [1.688, -1.118, 0.6387]),
        (
            "float32",
            [0.08032286, 0.58880484, 0.4096216],
            [-1.0458945, -0.49135756, -0.5670451],
            [2.4001377, -0.03001123, 0.04075719],
        ),
        (
            "float64",
            [0.45982117, 0.0348919, 0.77631027],
            [-0.24502514, 0.17584355, 0.2848579],
            [0.09883931, -1.39697054, -0.55724377],
        ),
        (
            "bfloat16",
            [0.4921875, 0.796875, 0.9296875],
            [-0.104980469, 0.229492188, 1.609375],
            [-0.32421875, -0.271484375, 2.234375],
        ),
    ],
)
def test_floats_are_those_of_tensorflow(dtype, uniform, truncated, normal):
    """As TensorFlow 1.15.5 prints them."""
    position = {"float16": 0, "float32": 1, "float64": 2, "bfloat16": 3}[dtype]
    state = [5 + 256 * (10 + 4 * 3 + 9 * position), 2**63 - 1, 7]
    generator = Generator.from_state(state, 1)
    with started(generator) as session:
        for method, expected in (("uniform", uniform), ("truncated_normal", truncated), ("normal", normal)):
            drawn = session.run(getattr(generator, method)([3], dtype=dtype))
            np.testing.assert_allclose(drawn.astype("d"), expected, rtol=1e-3 if dtype == "float16" else 1e-6)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("int32", [810, 614, 221]), ("int64", [234, 510, 276])],
)
def test_bounded_integers_are_those_of_tensorflow(dtype, expected):
    drawn_before = 10 + 4 * 3 + 4 * 9 + (3 if dtype == "int64" else 0)
    generator = Generator.from_state([5 + 256 * drawn_before, 2**63 - 1, 7], 1)
    with started(generator) as session:
        assert session.run(generator.uniform([3], 1, 1000, dtype)).tolist() == expected


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_bounds_may_be_as_wide_as_the_type(dtype):
    limits = np.iinfo(dtype)
    generator = Generator.from_seed(3)
    low, high = np.array(limits.min, dtype), np.array(limits.max, dtype)
    with started(generator) as session:
        drawn = session.run(generator.uniform([1000], low, high, dtype))
    assert drawn.dtype == dtype
    assert drawn.min() < limits.min + (limits.max - limits.min) // 100
    assert drawn.max() > limits.max - (limits.max - limits.min) // 100


@pytest.mark.parametrize(
    ("seed", "state"),
    [
        (5, [5, 0, 0]),
        (2**64 + 3, [3, 1, 0]),
        (2**200 + 5, [5, 0, 0]),
        (-1, [-1, -1, -1]),
        ([7], [0, 0, 7]),
        ([], [0, 0, 0]),
        ([1, 2, 3, 4], [1, 2, 3]),
        ((2**64 - 1,), [0, 0, -1]),
        (np.array([3, 4]), [0, 3, 4]),
    ],
)
def test_seeds_become_states(seed, state):
    assert create_rng_state(seed, 1).tolist() == state


def test_a_seed_for_threefry():
    assert create_rng_state(7, 2).tolist() == [7, 0]


def test_what_a_state_cannot_be():
    with pytest.raises(ValueError, match="only have one dimension"):
        create_rng_state([[1]], 1)
    with pytest.raises(ValueError, match="Unsupported algorithm id: 4"):
        create_rng_state(1, 4)
    with pytest.raises(ValueError, match="incompatible"):
        Generator(state=[1, 2], alg=1)
    with pytest.raises(ValueError, match="Must specify maxval"):
        Generator.from_seed(1).uniform([2], dtype=tf.int32)


def test_resets_and_copies():
    generator = Generator.from_key_counter(7, [1, 2], 1)
    copy = Generator(copy_from=generator)
    with started(generator) as session:
        session.run(copy.state.initializer)
        assert session.run([generator.state, copy.state, generator.key])[0].tolist() == [1, 2, 7]
        numbers = generator.normal([4])
        first = session.run(numbers)
        np.testing.assert_array_equal(session.run(copy.normal([4])), first)
        before = set(tf.get_default_graph().get_operations())
        generator.reset([1, 2, 7])
        generator.reset_from_seed(11)
        generator.reset_from_key_counter(7, [1, 2])
        added = [op for op in tf.get_default_graph().get_operations() if op not in before]
        resets = [op for op in added if op.type == "AssignVariableOp"]
        for reset, state in zip(resets, ([1, 2, 7], [11, 0, 0], [1, 2, 7]), strict=True):
            session.run(reset)
            assert session.run(generator.state).tolist() == state
        np.testing.assert_array_equal(session.run(numbers), first)


def test_a_skip_is_as_long_as_a_draw():
    drawn, skipped = Generator.from_seed(1), Generator.from_seed(1)
    skipped.skip(6)
    skip = tf.get_default_graph().get_operations()[-1]
    with started(drawn, skipped) as session:
        session.run([drawn.truncated_normal([2, 3]), skip])
        states = session.run([drawn.state, skipped.state])
        assert states[0].tolist() == states[1].tolist() == [1 + 6 * 256, 0, 0]
        session.run(ops.rng_skip(skipped.state.handle, 1, -7))
        assert session.run(skipped.state).tolist() == [1 - 256, 0, 0]


def test_counters_carry():
    generator = Generator.from_state([-1, 4, 9], 1)
    with started(generator) as session:
        session.run(generator.uniform([1]))
        assert session.run(generator.state).tolist() == [255, 5, 9]


def test_seeds_for_stateless_ops():
    generator = Generator.from_seed(5)
    with started(generator) as session:
        # As TensorFlow 1.15.5 has them.
        assert session.run(generator.make_seeds(3)).tolist() == [
            [511886651086640123, 6557199171514225562, -3553185952259159048],
            [0, 0, 0],
        ]


def test_the_state_is_saved_with_the_variables(tmp_path):
    generator = Generator.from_seed(8)
    numbers = generator.uniform([5])
    saver = tf.train.Saver()
    with started(generator) as session:
        session.run(numbers)
        path = saver.save(session, tmp_path / "model")
        expected = session.run(numbers)
    with tf.Session() as session:
        saver.restore(session, path)
        np.testing.assert_array_equal(session.run(numbers), expected)


def test_states_of_the_operating_system_differ():
    first, second = (Generator.from_non_deterministic_state() for _ in range(2))
    with started(first, second) as session:
        states = session.run([first.state, second.state])
    assert states[0].tolist() != states[1].tolist()


def test_the_global_generator():
    generator = Generator.from_seed(3)
    tf.random.experimental.set_global_generator(generator)
    try:
        assert tf.random.experimental.get_global_generator() is generator
    finally:
        tf.random.experimental.set_global_generator(None)


@pytest.mark.parametrize(
    ("state", "algorithm", "message"),
    [
        ([1, 2, 3], 2, "Unsupported algorithm id: 2"),
        ([1, 2], 1, "the size of state must be at least 3; got 2"),
        ([[1, 2, 3]], 1, "RNG state must have one and only one dimension, not 2"),
        (np.zeros(3, np.int32), 1, "dtype of RNG state variable must be int64, not int32"),
    ],
)
def test_states_that_are_none(state, algorithm, message):
    state = np.asarray(state, None if isinstance(state, np.ndarray) else np.int64)
    variable = tf.Variable(state, use_resource=True)
    with tf.Session() as session:
        session.run(variable.initializer)
        for op in (
            ops.stateful_uniform(variable.handle, algorithm, [3]),
            ops.rng_skip(variable.handle, algorithm, 3),
            ops.stateful_uniform_int(variable.handle, algorithm, [3], 0, 5),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(op)


def test_bad_arguments():
    generator = Generator.from_seed(1)
    shape = tf.placeholder(tf.int32)
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(generator.uniform([2]))
        session.run(generator.state.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Need minval < maxval, got 5 >= 5"):
            session.run(generator.uniform([0], 5, 5, tf.int64))
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(generator.uniform(shape), {shape: [-3]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="got type float"):
            session.run(ops.stateful_uniform(generator.state.handle, 1, tf.constant([3.0])))
        assert session.run(generator.uniform(shape), {shape: []}).shape == ()
    with pytest.raises(ValueError, match="rank 0"):
        ops.rng_skip(generator.state.handle, 1, [3])
    with pytest.raises(ValueError, match="rank 1"):
        generator.normal(3)


@pytest.mark.parametrize("draw", ["uniform", "normal", "truncated_normal", "uniform_full_int"])
def test_any_threads_and_instruction_sets_draw_the_same(draw):
    def build():
        generator = Generator.from_seed(21)
        with tf.control_dependencies([generator.state.initializer]):
            return getattr(generator, draw)([300, 257])

    assert_same_bits(build)


# The generator of seed 7, in TensorFlow 1.15.5 with one thread.
BINOMIAL = [
    ([6], 10.0, 0.5, "int32", [4, 5, 5, 5, 5, 7]),
    ([5], 1000.0, 0.3, "int32", [297, 286, 307, 301, 285]),
    ([5], 1000.0, 0.9, "float32", [902.0, 910.0, 895.0, 899.0, 910.0]),
    ([4, 2], [5.0, 50.0, 500.0, 0.0], [0.1, 0.6, 0.99, 0.5], "int64", [28, 30, 494, 497, 0, 0]),
    ([2, 3], np.float16(20), np.float16(0.7), "float16", [14.0, 13.0, 15.0, 14.0, 12.0, 15.0]),
    ([250], 40.0, 0.5, "int32", [19, 23, 25, 24, 15, 15]),
]


@pytest.mark.parametrize(("shape", "counts", "probs", "dtype", "expected"), BINOMIAL)
def test_successes_of_trials(shape, counts, probs, dtype, expected):
    generator = tf.random.experimental.Generator.from_seed(7)
    drawn = generator.binomial(shape, counts, probs, dtype)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(drawn)
        again = session.run(drawn)
    assert found.dtype == dtype
    assert found.ravel()[-6:].tolist() == expected
    assert (again != found).any()


def test_trials_have_parameters_that_fit():
    generator = tf.random.experimental.Generator.from_seed(7)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="should have length 1 or shape"):
            session.run(generator.binomial([3], [1.0, 2.0], 0.5))
        never = generator.binomial([2, 1], np.array([0.0, np.nan]), np.array([np.nan, 0.5]), tf.float64)
        np.testing.assert_array_equal(session.run(never), [[0], [np.nan]])
