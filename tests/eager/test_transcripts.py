"""Snippets show what they show under TensorFlow 1.15.5."""

from pathlib import Path

import pytest
from programs import transcripts

import stillflow as tf

GOLDEN = Path(__file__).parent.parent / "golden" / "eager"


def cases():
    for name in transcripts.NAMES:
        recorded = (GOLDEN / f"{name}.txt").read_text().rstrip("\n").split(transcripts.SEPARATOR)
        sections = transcripts.sections(name)
        assert len(sections) == len(recorded), f"{name} is to be recorded anew"
        for i, (section, expected) in enumerate(zip(sections, recorded, strict=True)):
            yield pytest.param(section, expected, id=f"{name}-{i}")


@pytest.mark.parametrize(("section", "expected"), list(cases()))
def test_a_snippet_shows_what_tensorflow_shows(section, expected):
    assert transcripts.outcome(section, tf) == expected, section
