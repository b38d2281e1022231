"""Functions of tf.contrib's smaller libraries against what TensorFlow 1.15.5 made of the same programs."""

import json
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from contrib import small_library_scenarios as scenarios

import stillflow as tf

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "contrib_small_libraries.json").read_text())


@pytest.mark.parametrize("scenario", scenarios.SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_as_tensorflow_does(scenario, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = json.loads(json.dumps(scenario(tf)))
    assert found == RECORDED[scenario.__name__]


@pytest.mark.parametrize(("margin_type", "refines"), [("const", True), ("const", False), ("ari", True)])
def test_cluster_loss(margin_type, refines, monkeypatch):
    # Values of TensorFlow 1.15.5 with scikit-learn's Rand score; its like stands in for it here.
    recorded = {("const", True): 4.7316, ("const", False): 3.9644, ("ari", True): 4.9219}
    monkeypatch.setitem(sys.modules, "sklearn", types.ModuleType("sklearn"))
    metrics = types.SimpleNamespace(adjusted_rand_score=_rand_score)
    monkeypatch.setitem(sys.modules, "sklearn.metrics", metrics)
    random = np.random.RandomState(0)
    loss = tf.contrib.losses.metric_learning.cluster_loss
    found = {}
    for kind in ("const", "ari"):
        embeddings = tf.nn.l2_normalize(tf.constant(random.randn(12, 3).astype(np.float32)), 1)
        for is_refined in (True, False):
            labels = tf.constant(random.randint(0, 3, (12, 1)))
            if kind == margin_type and is_refined == refines:
                found[kind] = loss(labels, embeddings, 1.5, is_refined, kind)
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(found[margin_type]), recorded[margin_type, refines], atol=1e-4)


def _rand_score(labels, clusters):
    """The adjusted Rand index (Hubert and Arabie 1985)."""
    both = [(a, b) for a in np.unique(labels) for b in np.unique(clusters)]
    table = np.array([np.sum((labels == a) & (clusters == b)) for a, b in both])
    table = table.reshape(len(np.unique(labels)), -1)

    def pairs(counts):
        return float(np.sum(counts * (counts - 1) / 2))

    rows, columns, total = pairs(table.sum(1)), pairs(table.sum(0)), pairs(np.array([len(labels)]))
    expected = rows * columns / total
    most = (rows + columns) / 2
    return 1.0 if most == expected else (pairs(table) - expected) / (most - expected)


def test_cluster_loss_needs_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ImportError, match="Cluster loss depends on sklearn"):
        tf.contrib.losses.metric_learning.cluster_loss(tf.zeros([3]), tf.zeros([3, 2]), 1.0)
