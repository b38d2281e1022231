"""Wrong calls are answered as TensorFlow 1.15.5 answers them eagerly: kinds of errors, and mostly their words."""

import json
import re
from pathlib import Path

import pytest
from eager_runs import error_text, wrong_calls

import stillflow as tf

GOLDEN = Path(__file__).parent.parent / "golden" / "eager" / "wrong_calls.json"
EXPECTED = json.loads(GOLDEN.read_text())

# Said in other words, or found by an operation before.
_IN_OTHER_WORDS = {
    "transpose perm", "stack shapes", "pad reflect", "solve", "einsum", "convert tensor of type", "bitcast",
    "ensure_shape", "reverse", "concat nothing",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_wrong_call_is_answered_as_by_tensorflow(name):
    expected = EXPECTED[name]
    try:
        wrong_calls.calls(tf)[name]()
        found = "no error"
    except Exception as error:
        found = error_text(error)
    if name in _IN_OTHER_WORDS:
        assert found.split(":")[0] == expected.split(":")[0]
    else:
        assert _plain(found) == _plain(expected)


def _plain(text):
    return re.sub(" at 0x[0-9a-f]+|/$", "", text)
