"""The names that public TensorFlow 1 programs use, in the areas that are done: none gets lost.

tests/data/api_usage.txt lists them; "- name" may be missing; the mark goes when the name comes.
"""

from pathlib import Path

import stillflow as tf

LINES = (Path(__file__).parent.parent / "data" / "api_usage.txt").read_text().splitlines()
NAMES = [line for line in LINES if line.startswith("tf.")]
MISSING = [line.removeprefix("- ") for line in LINES if line.startswith("- tf.")]


def find(name):
    found = tf
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


def test_the_list_is_read():
    assert len(NAMES) > 300
    assert not set(NAMES) & set(MISSING)


def test_the_names_are_there():
    for name in NAMES:
        find(name)


def test_what_is_missing_says_so():
    for name in MISSING:
        try:
            find(name)
        except AttributeError as error:
            assert any(part in str(error) for part in name.split(".")[1:])
