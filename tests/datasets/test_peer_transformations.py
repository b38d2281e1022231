"""Pipelines composed at random bring what they bring under TensorFlow 1.15.5."""

import json
from pathlib import Path

import pytest
from datasets import peer_transformations
from real_tensorflow import run_tensorflow

import stillflow as tf

COUNT = 120


@pytest.mark.peer
def test_random_transformations_bring_what_they_bring_under_tensorflow(tmp_path):
    result = tmp_path / "theirs.json"
    run_tensorflow("tf1", peer_transformations.__file__, 0, COUNT, result)
    theirs = json.loads(Path(result).read_text())
    differing = {
        number: (ours, expected)
        for number, expected in enumerate(theirs)
        if (ours := peer_transformations.outcomes(tf, number)) != expected
    }
    assert not differing, dict(list(differing.items())[:3])


@pytest.mark.parametrize("number", range(0, COUNT, 12))
def test_random_transformations_begin_again_alike(number):
    first, second = (peer_transformations.outcomes(tf, number) for _ in range(2))
    assert first == second
