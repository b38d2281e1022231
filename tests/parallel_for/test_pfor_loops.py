"""Vectorized loops against what TensorFlow 1.15.5 computes for one round after the other."""

import json
from pathlib import Path

import numpy as np
import pytest
from parallel_for import pfor_cases

import stillflow as tf
from stillflow.parallel_for.jacobians import batch_jacobian, jacobian
from stillflow.parallel_for.loops import for_loop, pfor

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "parallel_for.json").read_text())


def _results(name, run):
    with tf.Graph().as_default(), tf.Session() as session:
        results = run(pfor_cases.bodies(tf)[name])
        return session.run(list(results) if isinstance(results, (list, tuple)) else [results])


@pytest.mark.parametrize("name", list(pfor_cases.bodies(tf)))
def test_all_rounds_at_once_are_as_in_turn(name):
    found = _results(name, lambda body: pfor(body, 4))
    assert len(found) == sum(key.startswith(f"{name}_") for key in RECORDED)
    for index, value in enumerate(found):
        np.testing.assert_allclose(value, RECORDED[f"{name}_{index}"], atol=1e-9, err_msg=f"{name} {index}")


@pytest.mark.parametrize("count", [4, 5])
def test_rounds_in_tiles(count):
    with tf.Session() as session:
        found = session.run(pfor(lambda i: i * tf.constant([1, 2]), count, parallel_iterations=2))
    assert np.array_equal(found, np.outer(np.arange(count), [1, 2]))


def test_for_loop_stacks_and_leaves_out_none():
    with tf.Session() as session:
        found = for_loop(lambda i: [i * i, None], [tf.int32, tf.float32], 4)
        assert found[1] is None
        assert session.run(found[0]).tolist() == [0, 1, 4, 9]


def test_random_numbers_differ_between_rounds():
    with tf.Session() as session:
        found = session.run(pfor(lambda i: tf.random.normal([3], seed=1) + tf.cast(i, tf.float32), 5))
    assert found.shape == (5, 3)
    assert len(np.unique(found - np.arange(5)[:, None])) == 15


def test_reductions_over_all_rounds():
    def body(i, pfor_config):
        x = tf.gather(tf.constant([1.0, 2.0, 6.0]), i)
        return x - pfor_config.reduce_mean(x), pfor_config.reduce_sum(x)

    with tf.Session() as session:
        centred, total = session.run(pfor(body, 3))
    assert centred.tolist() == [-2, -1, 3]
    assert total.tolist() == [9, 9, 9]


def test_what_cannot_be_vectorized_is_refused(monkeypatch):
    monkeypatch.setattr("sys.argv", ["program"])  # a flag is looked up, which parses the program's arguments
    with pytest.raises(ValueError, match="No converter defined for Unique"):
        tf.vectorized_map(lambda row: tf.unique(row)[0], tf.zeros([2, 3]))
    with pytest.raises(ValueError, match="expected to be loop invariant"):
        pfor(lambda i: tf.tile([1], [i]), 2)
    with pytest.raises(ValueError, match="Use for_loop instead"):
        pfor(lambda i: i, 3, parallel_iterations=1)


def test_map_of_structures():
    elems = {"a": np.arange(3.0), "b": np.ones([3, 2])}
    with tf.Session() as session:
        found = session.run(tf.vectorized_map(lambda row: row["b"] * row["a"], elems))
    assert found.tolist() == [[0, 0], [1, 1], [2, 2]]


@pytest.mark.parametrize("use_pfor", [True, False])
def test_jacobians(use_pfor):
    x = tf.constant(np.linspace(-1, 1, 6).reshape(2, 3))
    y = tf.sin(x) * x[:, ::-1]
    with tf.Session() as session:
        whole, rows, values = session.run([jacobian(y, x, use_pfor), batch_jacobian(y, x, use_pfor), x])
    expected = np.zeros([2, 3, 3])
    for i in range(3):
        expected[:, i, i] += np.cos(values[:, i]) * values[:, 2 - i]
        expected[:, i, 2 - i] += np.sin(values[:, i])
    np.testing.assert_allclose(rows, expected)
    np.testing.assert_allclose(whole[[0, 1], :, [0, 1]], expected)
    assert not whole[0, :, 1].any()
