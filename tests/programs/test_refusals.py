"""What TensorFlow 1.15.5 refuses is refused, with the same words."""

import importlib
import json
from pathlib import Path

import pytest

import stillflow as tf
from programs.refusals import outcome

GOLDEN = Path(__file__).parent.parent / "golden" / "refusals"


def recorded():
    for path in sorted(GOLDEN.glob("*.json")):
        for name, expected in json.loads(path.read_text()).items():
            yield pytest.param(path.stem, name, expected, id=f"{path.stem}.{name}")


@pytest.mark.parametrize(("area", "name", "expected"), list(recorded()))
def test_error_is_that_of_tensorflow(area, name, expected):
    case = importlib.import_module(f"programs.refusals.{area}").cases(tf)[name]
    assert outcome(tf, case) == expected


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_all_cases_are_recorded(path):
    cases = importlib.import_module(f"programs.refusals.{path.stem}").cases(tf)
    assert cases.keys() == json.loads(path.read_text()).keys()
