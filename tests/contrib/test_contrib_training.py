"""tf.contrib.training against what TensorFlow 1.15.5 made of the same programs."""

import json
from pathlib import Path

import pytest
from contrib import contrib_training_scenarios

import stillflow as tf

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "contrib_training.json").read_text())


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_as_tensorflow_does(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tf.summary.FileWriterCache.clear()  # it knows folders by their paths, which are relative here
    found = json.loads(json.dumps(getattr(contrib_training_scenarios, name)(tf)))
    assert found == RECORDED[name]
