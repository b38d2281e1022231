"""Random ops under a real TensorFlow and here: the same bits, for seeds and shapes that nobody chose."""

import numpy as np
import pytest
from real_tensorflow import run_tensorflow

import stillflow as tf

pytestmark = pytest.mark.peer

# Both run this: `tf` draws with seeds from `rng`, several runs of each op, and puts everything into `drawn`.
PROGRAM = """
import numpy as np

def draw(tf, number):
    rng = np.random.RandomState(number)
    def seed():
        return None if rng.rand() < 0.3 else int(rng.randint(-2**31, 2**31, dtype=np.int64))
    def shape():
        return [int(size) for size in rng.randint(0, 60, size=rng.randint(0, 4))]
    floats = ["float16", "float32", "float64"]
    with tf.Graph().as_default():
        tf.set_random_seed(int(rng.randint(1, 2**31 - 1)))
        tensors = {}
        for i in range(6):
            dtype = floats[rng.randint(3)]
            tensors["uniform_%d" % i] = tf.random_uniform(shape(), -3.5, 2.25, dtype, seed())
            tensors["normal_%d" % i] = tf.random_normal(shape(), 1.5, 0.25, dtype, seed())
            tensors["truncated_%d" % i] = tf.truncated_normal(shape(), -1.0, 2.0, dtype, seed())
            low = int(rng.randint(-1000, 1000))
            integers = [tf.int32, tf.int64][rng.randint(2)]
            high = low + int(rng.randint(1, 10**9))
            tensors["integers_%d" % i] = tf.random_uniform(shape(), low, high, integers, seed())
            tensors["shuffle_%d" % i] = tf.random_shuffle(tf.range(rng.randint(0, 300)), seed())
            logits = rng.randn(rng.randint(1, 9), rng.randint(1, 9)).astype("f")
            tensors["multinomial_%d" % i] = tf.multinomial(logits, rng.randint(0, 50), seed())
            rates = rng.uniform(0.1, 40, size=3).astype("f")
            tensors["poisson_%d" % i] = tf.random_poisson(rates, shape(), seed=seed())
            range_max = int(rng.randint(60, 10**6))
            samples = tf.nn.log_uniform_candidate_sampler([[0]], 1, rng.randint(1, 50), True, range_max, seed())
            tensors["log_uniform_%d" % i] = samples[0]
            samples = tf.nn.uniform_candidate_sampler([[0]], 1, rng.randint(1, 50), True, range_max, seed())
            tensors["uniform_candidates_%d" % i] = samples[0]
            key = [int(part) for part in rng.randint(-2**31, 2**31, size=2, dtype=np.int64)]
            tensors["stateless_%d" % i] = tf.random.stateless_truncated_normal(shape(), key)
            tensors["dropout_%d" % i] = tf.nn.dropout(tf.ones(shape() + [7]), rate=0.3, seed=seed())
        with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=1)) as session:
            runs = [session.run(tensors) for _ in range(2)]
    return {"%s_%d" % (name, run): value for run, values in enumerate(runs) for name, value in values.items()}
"""
MAIN = """
import sys
import tensorflow as tf
np.savez(sys.argv[2], **draw(tf, int(sys.argv[1])))
"""


@pytest.mark.parametrize("number", range(4))
def test_random_ops_have_the_bits_of_tensorflow(number, tmp_path):
    path = tmp_path / "theirs.npz"
    run_tensorflow("tf1", "-c", PROGRAM + MAIN, number, path)
    names: dict = {}
    exec(PROGRAM, names)
    ours = names["draw"](tf, number)
    with np.load(path) as theirs:
        assert set(ours) == set(theirs.files)
        for name, value in ours.items():
            expected = theirs[name]
            assert value.dtype == expected.dtype
            if value.dtype == np.float64:  # of other bits in TensorFlow itself, by the platform's logarithm
                np.testing.assert_allclose(value, expected, rtol=1e-14, atol=1e-15, err_msg=name)
            else:
                np.testing.assert_array_equal(value, expected, err_msg=name)
