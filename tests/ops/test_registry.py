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
# Of the libraries of tf.contrib, which the registry has only when they are loaded.
RECORDED["GatherTree"] = (
    "GatherTree(step_ids: T, parent_ids: T, max_sequence_lengths: int32, end_token: T) -> (beams: T)",
    "T: {int32}",
    [],
)
RECORDED["ImageProjectiveTransformV2"] = (
    "ImageProjectiveTransformV2(images: dtype, transforms: float32, output_shape: int32)"
    " -> (transformed_images: dtype)",
    "dtype: {uint8, int32, int64, float16, float32, float64}; interpolation: string",
    [],
)
RECORDED["BipartiteMatch"] = (
    "BipartiteMatch(distance_mat: float32, num_valid_rows: float32)"
    " -> (row_to_col_match_indices: int32, col_to_row_match_indices: int32)",
    "top_k: int = -1",
    ["is_stateful"],
)
RECORDED["ImageConnectedComponents"] = (
    "ImageConnectedComponents(image: dtype) -> (components: int64)",
    "dtype: {int64, int32, uint16, int16, uint8, int8, float16, float32, float64, bool, string}",
    [],
)
RECORDED["SingleImageRandomDotStereograms"] = (
    "SingleImageRandomDotStereograms(depth_values: T) -> (image: uint8)",
    "T: {float64, float32, int64, int32}; hidden_surface_removal: bool = true; convergence_dots_size: int = 8; "
    "dots_per_inch: int = 72; eye_separation: float = 2.5; mu: float = 0.33329999446868896; normalize: bool = true; "
    "normalize_max: float = -100.0; normalize_min: float = 100.0; border_level: float = 0.0; "
    "number_colors: int = 256; output_image_shape: shape = [1024,768,1]; output_data_window: shape = [1022,757]",
    [],
)
RECORDED["Resampler"] = (
    "Resampler(data: T, warp: T) -> (output: T)",
    "T: {float16, bfloat16, float32, float64}",
    [],
)
RECORDED["ResamplerGrad"] = (
    "ResamplerGrad(data: T, warp: T, grad_output: T) -> (grad_data: T, grad_warp: T)",
    "T: {float16, bfloat16, float32, float64}",
    [],
)
RECORDED["ZeroInitializer"] = (
    "ZeroInitializer(ref: Ref(T)) -> (output_ref: Ref(T))",
    "T: {float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32, uint64}",
    ["allows_uninitialized_input"],
)
RECORDED["ZeroVarInitializer"] = (
    "ZeroVarInitializer(var: resource) -> (output_var: resource)",
    "dtype: type; shape: shape",
    ["allows_uninitialized_input"],
)
for _name, _key in (("SparseFeatureCross", ""), ("SparseFeatureCrossV2", "hash_key: int; ")):
    RECORDED[_name] = (
        f"{_name}(indices: N * int64, values: sparse_types, shapes: N * int64, dense: dense_types)"
        " -> (output_indices: int64, output_values: out_type, output_shape: int64)",
        f"N: int >= 0; hashed_output: bool; num_buckets: int >= 0; {_key}sparse_types: list({{int64, string}}) >= 0; "
        "dense_types: list({int64, string}) >= 0; out_type: {int64, string}; internal_type: {int64, string}",
        [],
    )


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
                assert op_def.attrs[attr.name].kind == "func"
                assert set(attr.inputs) <= {arg.name for arg in op_def.inputs}
            else:
                assert isinstance(attr, (int, bytes)) or attr in (*op_def.attrs, "node_name", "input_name")
    else:
        assert isinstance(lowering, (Alias, Elementwise, Special, Written))


@pytest.mark.parametrize("op_type", ops.all_op_types())
def test_kernels_know_the_names_that_ops_give_them(op_type):
    lowering = op_defs.find(op_type).lowering
    if not isinstance(lowering, Kernel):
        return
    listed = isa.kernels().parameters[lowering.name].partition("|")[2].split(",")
    for given, parameter in zip(lowering.attrs, listed, strict=False):
        names = parameter.partition(": ")[2].split()
        assert bool(names) >= isinstance(given, bytes), f"{lowering.name} takes no name for {parameter}"
        if isinstance(given, bytes):
            assert given.decode() in names
        elif names:  # where the op allows any name, the kernel refuses what it does not know
            allowed = op_defs.find(op_type).attrs[given].allowed or ()
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
