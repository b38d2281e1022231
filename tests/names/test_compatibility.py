"""docs/compatibility.md says what is true: it is what its tool writes now."""

import importlib
import sys
from pathlib import Path

import pytest

from stillflow import ops

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    yield importlib.import_module
    for name in ("make_compatibility", "try_ops", "left_out"):
        sys.modules.pop(name, None)


def test_the_page_is_up_to_date(tool):
    page = tool("make_compatibility").page()
    assert page == (ROOT / "docs" / "compatibility.md").read_text(), "run tools/make_compatibility.py"


def test_what_is_not_here_has_a_reason(tool):
    left_out = tool("left_out")
    groups = left_out.by_reason(["lite.Optimize", "tpu.core", "lite.FLOAT"])
    assert list(groups.values()) == [["lite.Optimize", "lite.FLOAT"], ["tpu.core"]]
    with pytest.raises(KeyError, match=r"nn\.relu is not here"):
        left_out.reason("nn.relu")
    lines = tool("make_compatibility").page().splitlines()
    assert not [line for line in lines if line.startswith("Not here:")]


def test_trials_tell_about_every_op(tool):
    types_of = tool("try_ops").types_of
    untold = [op_type for op_type in ops.all_op_types() if types_of(op_type) is None]
    assert not untold, "give these inputs in tools/try_ops.py"
    numbers = "float16 bfloat16 float32 float64 int32 int64 complex64 complex128"
    assert types_of("MatMul") == numbers.split()
    assert types_of("Cholesky") == ["float16", "float32", "float64", "complex64", "complex128"]
    assert types_of("NoOp") == []
