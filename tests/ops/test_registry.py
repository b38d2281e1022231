"""Every declared op has TensorFlow's signature, a shape rule, a gradient or a reason, and a kernel."""

import re
from pathlib import Path

import numpy as np
import pytest

import stillflow as tf
from stillflow import _engine, ops
from stillflow.graph import op_def as op_defs
from stillflow.ops import contents
from stillflow.ops.registry import Alias, Called, Elementwise, Kernel, Special, Written
from stillflow.session import isa
from stillflow.testing import run_kernel

GOLDEN = Path(__file__).parent.parent / "golden" / "op_defs.txt"
LINE = re.compile(r"(\w+\(.*?\) -> \(.*?\)) \[(.*)\]\s*(.*)$")


def recorded():
    signatures = {}
    for line in GOLDEN.read_text().splitlines():
        signature, attrs, flags = LINE.match(line).groups()
        signatures[signature.split("(")[0]] = signature, attrs, flags.split()
    return signatures


RECORDED = recorded()


def test_signatures_are_those_of_tensorflow():
    for op_type in ops.all_op_types():
        check_signature(op_type, op_defs.find(op_type))


def check_signature(op_type, op_def):
    signature, attrs, flags = RECORDED[op_type]
    _, inputs, outputs = op_defs.parse_signature(signature)
    attrs = op_defs.parse_attrs(attrs)
    assert op_def.attrs == attrs
    assert list(op_def.attrs) == list(attrs)
    assert op_def.inputs == op_defs.resolve_type_lists(inputs, attrs)
    assert op_def.outputs == op_defs.resolve_type_lists(outputs, attrs)
    for flag in ("is_stateful", "is_commutative", "allows_uninitialized_input"):
        assert getattr(op_def, flag) == (flag in flags), (op_type, flag)


def test_descriptions_read_as_declarations():
    for op_type in ops.all_op_types():
        op_def = op_defs.find(op_type)
        signature, *choices = op_defs.description(op_def).removeprefix("Op: ").split("\n  ")
        name, inputs, outputs = op_defs.parse_signature(signature)
        assert name == op_type
        assert op_defs.resolve_type_lists(inputs, op_def.attrs) == op_def.inputs
        assert op_defs.resolve_type_lists(outputs, op_def.attrs) == op_def.outputs
        attrs = op_defs.parse_attrs(
            "; ".join(f"{line.replace(' or ', ', ').replace(': ', ': {')}}}" for line in choices)
        )
        assert {name: attr.allowed for name, attr in attrs.items()} == {
            attr.name: attr.allowed for attr in op_def.attrs.values() if attr.allowed is not None
        }


def test_rules_are_there():
    assert tf.py_function  # loads the module with its gradient
    for op_type in ops.all_op_types():
        op_def = op_defs.find(op_type)
        assert op_def.shape_rule is not None or not op_def.outputs, op_type
        if op_def.inputs and op_def.outputs:
            assert (op_def.gradient is not None) == bool(op_def.is_differentiable), op_type


def test_kernels_take_what_ops_give():
    for op_type in ops.all_op_types():
        check_kernel(op_defs.find(op_type))


def check_kernel(op_def):
    lowering = op_def.lowering
    if isinstance(lowering, Kernel):
        parameters = isa.kernels().parameters[lowering.name]
        inputs, _, attrs = (part.strip() for part in parameters.partition("|"))
        names = [name.strip() for name in inputs.split(",") if name.strip()]
        assert len(lowering.attrs) == len([name for name in attrs.split(",") if name.strip()])
        assert list(lowering.inputs) == [arg.name for arg in op_def.inputs][: len(lowering.inputs)]
        if names and names[-1].endswith("..."):
            assert len(lowering.inputs) >= len(names) - 1
        else:
            assert len(lowering.inputs) == len(names)
        for arg, name in zip(op_def.inputs, names, strict=False):
            assert not arg.is_list or name.endswith("..."), f"{name} stands for one input"
        for attr in lowering.attrs:
            if isinstance(attr, Called):
                assert op_def.attrs[attr.name].kind in ("func", "list(func)")
                assert set(attr.inputs) <= {arg.name for arg in op_def.inputs}
            else:
                assert isinstance(attr, (int, bytes)) or attr in (*op_def.attrs, "node_name", "input_name")
    else:
        assert isinstance(lowering, (Alias, Elementwise, Special, Written))


def test_kernels_know_the_names_that_ops_give_them():
    for op_type in ops.all_op_types():
        op_def = op_defs.find(op_type)
        if isinstance(op_def.lowering, Kernel):
            check_names(op_def)


def check_names(op_def):
    lowering = op_def.lowering
    listed = isa.kernels().parameters[lowering.name].partition("|")[2].split(",")
    for given, parameter in zip(lowering.attrs, listed, strict=False):
        names = parameter.partition(": ")[2].split()
        assert bool(names) >= isinstance(given, bytes), f"{lowering.name} takes no name for {parameter}"
        if isinstance(given, bytes):
            assert given.decode() in names
        elif names:  # where the op allows any name, the kernel refuses what it does not know
            allowed = op_def.attrs[given].allowed or ()
            assert {value.decode() for value in allowed} <= set(names)


def test_a_name_that_a_kernel_does_not_know_is_refused():
    with pytest.raises(_engine.EngineError, match="cumulative takes operation: sum product, not 'mean'"):
        run_kernel("cumulative", np.ones(3), np.int32(0), attrs=[0, 0, b"mean"])


def test_every_kernel_library_has_the_same_kernels():
    libraries = [isa.kernels(name).parameters for name in isa.supported()]
    assert all(library == libraries[0] for library in libraries)


def test_the_table_of_contents_is_true():
    for name, module in contents.BUILDERS.items():
        assert getattr(ops, name) is not None, f"{module} has no {name}"
    for op_type in ops.all_op_types():
        assert op_defs.find(op_type) is not None, op_type
