"""Snippets show what they show under TensorFlow 1.15.5."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import transcripts

import stillflow as tf

GOLDEN = Path(__file__).parent.parent / "golden" / "eager"


def shown(path):
    return path.read_text().rstrip("\n").split(transcripts.SEPARATOR)


def cases():
    for name in transcripts.NAMES:
        recorded = shown(GOLDEN / f"{name}.txt")
        sections = transcripts.sections(name)
        assert len(sections) == len(recorded), f"{name} is to be recorded anew"
        for i, (section, expected) in enumerate(zip(sections, recorded, strict=True)):
            yield pytest.param(section, expected, id=f"{name}-{i}")


@pytest.mark.parametrize(("section", "expected"), list(cases()))
def test_a_snippet_shows_what_tensorflow_shows(section, expected):
    assert transcripts.outcome(section, tf) == expected, section


def test_snippets_show_what_they_show_with_tensorflow_2s_behavior(tmp_path):
    found = tmp_path / "found.txt"
    program = "import sys, stillflow as tf; from programs import transcripts; "
    program += "transcripts.write_with_v2_behavior(tf, sys.argv[1])"
    environment = {**os.environ, "PYTHONPATH": str(GOLDEN.parent.parent)}
    subprocess.run([sys.executable, "-c", program, str(found)], check=True, env=environment, timeout=300)
    expected = shown(GOLDEN / f"{transcripts.V2_BEHAVIOR}.txt")
    sections = transcripts.sections(transcripts.V2_BEHAVIOR)
    for section, outcome, wanted in zip(sections, shown(found), expected, strict=True):
        assert outcome == wanted, section
