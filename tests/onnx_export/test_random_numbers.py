"""Random numbers of ONNX models: of the distributions of TensorFlow's, drawn by what runs the model."""

import numpy as np
import pytest
from onnx_export.running import onnx, run

import stillflow as tf
from stillflow.command_line import main


def drawn(tmp_path, build, feeds=()):
    """What onnxruntime computes of the tensors that `build` makes in a graph of its own."""
    with tf.Graph().as_default() as graph:
        placeholders = [tf.placeholder(value.dtype, value.shape, f"in{n}") for n, value in enumerate(feeds)]
        made = [tf.identity(tensor, f"out{n}") for n, tensor in enumerate(build(*placeholders))]
        (tmp_path / "model.pb").write_bytes(graph.as_graph_def().SerializeToString())
    names = [tensor.op.name for tensor in made]
    target = str(tmp_path / "model.onnx")
    assert main(["convert", str(tmp_path / "model.pb"), target, "--outputs", *names]) == 0
    found = run(target, {f"in{n}": value for n, value in enumerate(feeds)})
    return [found[name] for name in names]


def test_distributions(tmp_path):
    def build():
        normal = tf.random_normal([200, 500], 1.0, 2.0, seed=1)
        uniform = tf.random_uniform([200, 500], -1, 3, tf.float64, seed=2)
        truncated = tf.truncated_normal([200, 500], seed=3)
        return [normal, uniform, truncated, tf.random_uniform([200, 500], -2, 5, tf.int32, seed=4)]

    normal, uniform, truncated, whole = drawn(tmp_path, build)
    np.testing.assert_allclose([normal.mean(), normal.std()], [1, 2], atol=0.03)
    assert uniform.dtype == np.float64
    assert uniform.min() >= -1
    assert uniform.max() < 3
    np.testing.assert_allclose(np.quantile(uniform, [0.25, 0.5, 0.75]), [0, 1, 2], atol=0.03)
    assert np.abs(truncated).max() <= 2
    # Of a normal distribution without the tails beyond two deviations.
    np.testing.assert_allclose(np.quantile(truncated, [0.1, 0.25, 0.5]), [-1.177, -0.639, 0], atol=0.02)
    assert sorted(set(whole.ravel())) == list(range(-2, 5))
    np.testing.assert_allclose(np.bincount(whole.ravel() + 2) / whole.size, 1 / 7, atol=0.01)


def test_choices(tmp_path):
    logits = np.log([[1, 2, 7], [5, 5, 1e-9]])

    def build(logits):
        return [tf.multinomial(logits, 20000, seed=1), tf.random_shuffle(tf.range(100), seed=2)]

    classes, shuffled = drawn(tmp_path, build, [logits])
    shares = [np.bincount(row, minlength=3) / 20000 for row in classes]
    np.testing.assert_allclose(shares, [[0.1, 0.2, 0.7], [0.5, 0.5, 0]], atol=0.02)
    assert sorted(shuffled) == list(range(100))
    assert list(shuffled) != list(range(100))


def test_dropout_keeps_its_part_and_is_named(tmp_path, capsys):
    (kept,) = drawn(tmp_path, lambda x: [tf.nn.dropout(x, rate=0.25, seed=1, name="drop")], [np.ones([100, 100])])
    assert set(np.unique(kept)) == {0, 1 / 0.75}
    np.testing.assert_allclose((kept > 0).mean(), 0.75, atol=0.03)
    told = capsys.readouterr().out
    assert "Random numbers, drawn by what runs the model: drop/random_uniform/RandomUniform" in told
    assert onnx.load(tmp_path / "model.onnx").doc_string in told


def test_numbers_that_follow_from_a_seed(tmp_path):
    def build():
        random = tf.random
        made = [random.stateless_uniform([3, 2], [1, 2]), random.stateless_normal([3], [3, 4])]
        made += [
            random.stateless_truncated_normal([3], [5, 6]),
            random.stateless_uniform([4], [7, 8], 1, 9, tf.int32),
        ]
        return [*made, random.stateless_categorical([[0.5, 1.0, 2.0]], 5, [9, 10])]

    with tf.Graph().as_default(), tf.Session() as session:
        expected = session.run(build())
    for ours, theirs in zip(drawn(tmp_path, build), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("pseudo_random", [False, True])
def test_cells_of_fractional_pools(tmp_path, pseudo_random):
    image = np.random.default_rng(1).standard_normal([2, 29, 18, 3]).astype(np.float32)
    ratio = [1.0, 1.9, 1.4, 1.0]

    def build(x):
        largest = tf.nn.fractional_max_pool(x, ratio, pseudo_random)
        means = tf.nn.fractional_avg_pool(x, ratio, pseudo_random, overlapping=True)
        return [*largest, *means]

    made = drawn(tmp_path, build, [image])
    for pooled, rows, columns in (made[:3], made[3:]):
        assert pooled.shape == (2, 15, 12, 3)
        for begins, size, cells in ((rows, 29, 15), (columns, 18, 12)):
            assert (begins[0], begins[-1], len(begins)) == (0, size, cells + 1)
            assert set(np.diff(begins)) <= {size // cells, size // cells + 1}
    pooled, rows, columns = made[:3]
    expected = np.maximum.reduceat(np.maximum.reduceat(image, rows[:-1], 1), columns[:-1], 2)
    np.testing.assert_array_equal(pooled, expected)
    pooled, rows, columns = made[3:]
    cell = image[:, rows[3] : rows[4] + 1, columns[5] : columns[6] + 1]
    np.testing.assert_allclose(pooled[:, 3, 5], cell.mean((1, 2)), rtol=1e-5)
