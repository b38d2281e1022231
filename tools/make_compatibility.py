"""Writes docs/compatibility.md: every public name of TensorFlow 1.15, and whether it is here.

Names come from tests/data/signatures.json, element types of ops from trials (try_ops.py), gradients from the
registry.

    python tools/make_compatibility.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import left_out  # noqa: E402
import try_ops  # noqa: E402

import stillflow as tf  # noqa: E402
from stillflow.graph import op_def as op_defs  # noqa: E402

PAGE = ROOT / "docs" / "compatibility.md"
SIGNATURES = ROOT / "tests" / "data" / "signatures.json"


def is_here(name):
    """Whether there is something of a public name."""
    found = tf
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            return False
    return True


def namespaces(names):
    """{namespace: last parts of the names in it}, in alphabetical order."""
    found: dict[str, list[str]] = {}
    for name in names:
        namespace, _, last = name.rpartition(".")
        found.setdefault(namespace, []).append(last)
    return {namespace: sorted(found[namespace], key=str.lower) for namespace in sorted(found)}


def _listed(names):
    return ", ".join(f"`{name}`" for name in names)


def _section(namespace, names):
    prefix = f"{namespace}." if namespace else ""
    there = [name for name in names if is_here(prefix + name)]
    missing = [name for name in names if name not in there]
    lines = [f"## tf{'.' + namespace if namespace else ''}", "", f"{len(there)} of {len(names)} names.", ""]
    if there:
        lines += [f"Here: {_listed(there)}", ""]
    return lines + _missing_lines(missing, prefix)


def _missing_lines(names, prefix="", is_op=False):
    lines = []
    for why, group in left_out.by_reason([prefix + name for name in names], is_op).items():
        lines += [f"Not here ({why}): {_listed(name.removeprefix(prefix) for name in group)}", ""]
    return lines


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


def _ops_section(op_types):
    there = [op_type for op_type in op_types if op_defs.find(op_type) is not None]
    missing = [op_type for op_type in op_types if op_type not in there]
    lines = ["## Ops (tf.raw_ops)", "", f"{len(there)} of {len(op_types)} ops.", ""]
    lines += ["| op | element types | gradient |", "|---|---|---|"]
    lines += [f"| {op_type} | {_types_text(op_type)} | {_gradient_text(op_type)} |" for op_type in there]
    return [*lines, "", *_missing_lines(missing, is_op=True)]


def page():
    """The text of docs/compatibility.md."""
    recorded = [name.removeprefix("tf.") for name in json.loads(SIGNATURES.read_text())]
    by_namespace = namespaces(recorded)
    op_types = by_namespace.pop("raw_ops")
    count = sum(is_here(name) for name in recorded)
    lines = [
        "# What of TensorFlow 1.15 is here",
        "",
        "Written by `tools/make_compatibility.py`; a test fails when it is out of date. It has every public name of",
        f"TensorFlow 1.15.5: {count} of {len(recorded)} are here. Signatures and defaults are TensorFlow's, which",
        "another test sees to. Of ops the table at the end says which element types their kernels take, found out by",
        "running them, and what their gradients are: there (yes), None (none), or an error.",
        "",
    ]
    for namespace, names in by_namespace.items():
        lines += _section(namespace, names)
    return "\n".join(lines + _ops_section(op_types))


if __name__ == "__main__":
    PAGE.write_text(page())
    print(PAGE, len(PAGE.read_text().splitlines()), "lines")
