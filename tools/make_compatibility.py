"""Writes docs/compatibility.md: every public name of TensorFlow 1.15 in the areas that are done.

Names come from tests/data/signatures.json, element types from trials (try_ops.py), gradients from the registry.

    python tools/make_compatibility.py
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import try_ops  # noqa: E402

import stillflow as tf  # noqa: E402
from stillflow import ops  # noqa: E402
from stillflow.graph import op_def as op_defs  # noqa: E402

PAGE = ROOT / "docs" / "compatibility.md"
SIGNATURES = ROOT / "tests" / "data" / "signatures.json"

# The areas of the page: a title, and the namespaces in it; "" stands for tf itself.
AREAS = (
    ("Graphs, sessions, variables, arrays and mathematics", ("",)),
    ("Element types and shapes", ("dtypes",)),
    ("Mathematics", ("math", "bitwise", "manip")),
    ("Linear algebra", ("linalg",)),
    ("Sparse tensors", ("sparse",)),
    ("Neural networks", ("nn",)),
    ("Random numbers and initial values", ("random", "initializers")),
    ("Optimizers and training", ("train",)),
    ("Checks, errors and debugging", ("debugging", "errors")),
    ("Programs that test themselves", ("test",)),
    ("Devices and threads", ("config",)),
    ("Tables, images and text", ("lookup", "image", "strings", "io")),
    ("Flags, files, logging and programs", ("app", "flags", "gfile", "logging", "graph_util", "nest", "version")),
)

# Functions whose op has another name.
OF_FUNCTION = {
    "abs": "Abs", "batch_gather": "GatherV2", "boolean_mask": "GatherV2", "ceil": "Ceil", "divide": "RealDiv",
    "fake_quant": "", "floordiv": "FloorDiv", "floormod": "FloorMod", "gather": "GatherV2", "inv": "MatrixInverse",
    "matmul": "MatMul", "mod": "FloorMod", "multiply": "Mul", "negative": "Neg", "nn.bias_add": "BiasAdd",
    "one_hot": "OneHot", "placeholder": "Placeholder", "range": "Range", "rsqrt": "Rsqrt", "stack": "Pack",
    "strided_slice": "StridedSlice", "subtract": "Sub", "truediv": "RealDiv", "unstack": "Unpack",
    "where_v2": "SelectV2", "where": "Select", "norm": "Sum", "expand_dims": "ExpandDims",
    "self_adjoint_eig": "SelfAdjointEigV2", "eigh": "SelfAdjointEigV2", "eigvalsh": "SelfAdjointEigV2",
    "self_adjoint_eigvals": "SelfAdjointEigV2", "det": "MatrixDeterminant", "slogdet": "LogMatrixDeterminant",
    "solve": "MatrixSolve", "lstsq": "MatrixSolveLs", "triangular_solve": "MatrixTriangularSolve",
    "set_diag": "MatrixSetDiag", "band_part": "MatrixBandPart", "tensor_diag": "Diag", "tensor_diag_part": "DiagPart",
    "concat": "ConcatV2", "identity_n": "IdentityN", "print": "PrintV2", "Assert": "Assert",
    **{f"reduce_{name}": name.capitalize() for name in ("sum", "mean", "prod", "max", "min", "all", "any")},
}  # fmt: skip


def is_here(name):
    """Whether there is something of a public name."""
    found = tf
    for part in name.split(".")[1:]:
        try:
            found = getattr(found, part)
        except AttributeError:
            return False
    return True


def _op_types():
    """{name in lower case without underscores: op type}, the newest version of each."""
    found: dict[str, str] = {}
    for op_type in ops.all_op_types():
        found[re.sub(r"V\d$", "", op_type).lower()] = op_type
    return found


def op_of(name, recorded, by_name):
    """The op that a function is, or None if it is none or made of several."""
    if not isinstance(recorded, list):
        return None
    area, _, function = name.removeprefix("tf.").rpartition(".")
    if function in OF_FUNCTION:
        return OF_FUNCTION[function] or None
    candidates = [function.replace("_", "").lower()]
    if area in ("sparse", "linalg"):
        prefix = {"sparse": "sparse", "linalg": "matrix"}[area]
        candidates.insert(0, prefix + candidates[0])
    return next((by_name[candidate] for candidate in candidates if candidate in by_name), None)


def _types_text(op_type):
    types = try_ops.types_of(op_type)
    if not types:
        return "" if types == [] else "not tried"
    for group, members in (
        ("all numbers", "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64"),
        ("all floats", "float16 bfloat16 float32 float64"),
        ("all integers", "int8 int16 int32 int64 uint8 uint16 uint32 uint64"),
    ):
        if set(members.split()) <= set(types):
            types = [group] + [name for name in types if name not in members.split()]
    return ", ".join(types)


def _gradient_text(op_type):
    op_def = op_defs.find(op_type)
    if op_def.gradient is not None:
        return "yes"
    return "none" if op_def.is_differentiable is not None else "an error"


def _rows(recorded, namespaces, by_name, texts):
    for name in sorted(recorded, key=lambda name: (name.count("."), name.lower(), name)):
        area = name.removeprefix("tf.").rpartition(".")[0]
        if area not in namespaces:
            continue
        is_there = is_here(name)
        op_type = op_of(name, recorded[name], by_name) if is_there else None
        if op_type is not None and op_type not in texts:
            texts[op_type] = _types_text(op_type), _gradient_text(op_type)
        types, gradient = texts.get(op_type, ("", ""))
        yield name, is_there, op_type or "", types, gradient


def page():
    """The text of docs/compatibility.md."""
    recorded = json.loads(SIGNATURES.read_text())
    by_name, texts = _op_types(), {}
    lines = [
        "# What of TensorFlow 1.15 is here",
        "",
        "Written by `tools/make_compatibility.py`; a test fails when it is out of date. Each table has every public",
        "name of TensorFlow 1.15.5 in its area. Where a function is one op, the table says which, the element types",
        "that its kernel takes, found out by running it, and what its gradient is: there (yes), None (none), or an",
        "error. Signatures and defaults are TensorFlow's, which another test sees to.",
        "",
    ]
    for title, namespaces in AREAS:
        rows = list(_rows(recorded, namespaces, by_name, texts))
        there = sum(row[1] for row in rows)
        lines += [f"## {title}", "", f"{there} of {len(rows)} names.", ""]
        lines += ["| name | here | op | element types | gradient |", "|---|---|---|---|---|"]
        lines += [
            f"| `{name}` | {'yes' if is_there else 'no'} | {' | '.join(rest)} |" for name, is_there, *rest in rows
        ]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page())
    print(PAGE, len(PAGE.read_text().splitlines()), "lines")
