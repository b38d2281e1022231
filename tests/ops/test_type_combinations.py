"""Types that do not go together: a typed error or a value, and nothing read beyond an array's end.

A kernel finds its types out from some of its inputs; an imported graph may give the others any type that the
signature allows. What is read beyond an end is seen when these tests are run on the sanitizers' build.
"""

import contextlib
import importlib
import itertools
import random
import sys
from pathlib import Path

import pytest

import stillflow as tf
from stillflow import ops
from stillflow.errors import OpError
from stillflow.graph import op_def as op_defs

TYPES = [tf.float32, tf.float64, tf.int32, tf.int64, tf.uint8, tf.string]
MOST = 72  # combinations that are tried of an op


def type_attrs(op_def):
    return [attr for attr in op_def.attrs.values() if attr.kind == "type"]


def has_variable(op_def):
    return any(arg.is_ref or arg.dtype is tf.resource for arg in op_def.inputs)


def combinations(op_def):
    """({attribute: type}, a variable's type) for types that differ."""
    attrs = type_attrs(op_def)
    choices = [[dtype for dtype in TYPES if attr.allowed is None or dtype in attr.allowed] for attr in attrs]
    variables = TYPES if has_variable(op_def) else [None]
    found = list(itertools.product(*choices, variables))
    for *types, variable in found if len(found) <= MOST else random.Random(0).sample(found, MOST):
        yield dict(zip((attr.name for attr in attrs), types, strict=True)), variable


# These wait, ask for files, or are told by Python what to call.
LEFT_OUT = ("Queue", "Reader", "Stack", "TensorArray", "Save", "Restore", "Barrier", "PyFunc", "File", "Print")
CASES = [
    op_type
    for op_type in ops.all_op_types()
    if (len(type_attrs(op_defs.find(op_type))) > 1 or has_variable(op_defs.find(op_type)))
    and not any(word in op_type for word in LEFT_OUT)
]


@pytest.fixture
def trial(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "tools"))
    yield importlib.import_module("try_ops").Trial
    sys.modules.pop("try_ops", None)


@pytest.mark.parametrize("op_type", CASES)
def test_any_types_give_a_value_or_a_typed_error(trial, op_type):
    op_def = op_defs.find(op_type)
    for types, variable in combinations(op_def):
        attr, *_ = types or [None]
        with tf.Graph().as_default(), contextlib.suppress(OpError, TypeError, ValueError):
            trial(op_def, attr, types.get(attr, tf.float32), types, variable).run()
