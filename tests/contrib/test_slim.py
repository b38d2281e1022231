"""tf.contrib.slim against what TensorFlow 1.15.5 made of the same programs."""

import json
from pathlib import Path

import pytest
from contrib import slim_scenarios

import stillflow as tf

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "slim.json").read_text())


# A Supervisor that has been stopped is stopped again, as in TensorFlow.
@pytest.mark.filterwarnings("ignore:Attempting to use a closed FileWriter")
# What a chief's thread was waiting for is cancelled when its session is closed.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("name", sorted(RECORDED))
def test_as_tensorflow_does(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tf.summary.FileWriterCache.clear()  # it knows folders by their paths, which are relative here
    found = json.loads(json.dumps(getattr(slim_scenarios, name)(tf)))
    assert found == RECORDED[name]
