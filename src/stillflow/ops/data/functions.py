"""Data sets that call functions, and what a function makes of all elements."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.data.declare import SPEC, define_dataset
from stillflow.ops.registry import define_op

_ATTRS = f"f: func; Targuments: list(type) >= 0; {SPEC}"
_INPUTS = "input_dataset: variant, other_arguments: Targuments"
_CALL = "input_dataset, other_arguments"
_FUNCTION = "output_types, output_shapes, f(other_arguments)"

map_dataset = define_dataset(
    "MapDataset",
    _INPUTS,
    f"map_dataset({_CALL} | {_FUNCTION}, preserve_cardinality)",
    attrs=f"{_ATTRS}; use_inter_op_parallelism: bool = true; preserve_cardinality: bool = false",
)
parallel_map_dataset = define_dataset(
    "ParallelMapDataset",
    f"{_INPUTS}, num_parallel_calls: int32",
    f"parallel_map_dataset({_CALL}, num_parallel_calls | {_FUNCTION}, preserve_cardinality)",
    attrs=f"{_ATTRS}; use_inter_op_parallelism: bool = true; sloppy: bool = false; "
    "preserve_cardinality: bool = false",
)
map_and_batch_dataset = define_dataset(
    "MapAndBatchDataset",
    f"{_INPUTS}, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool",
    f"map_and_batch_dataset({_CALL}, batch_size, num_parallel_calls, drop_remainder | {_FUNCTION}, "
    "preserve_cardinality)",
    attrs=f"{_ATTRS}; preserve_cardinality: bool = false",
)
filter_dataset = define_dataset(
    "FilterDataset",
    _INPUTS,
    f"filter_dataset({_CALL} | output_types, output_shapes, predicate(other_arguments))",
    attrs=f"predicate: func; Targuments: list(type) >= 0; {SPEC}",
)
flat_map_dataset = define_dataset("FlatMapDataset", _INPUTS, f"flat_map_dataset({_CALL} | {_FUNCTION})", attrs=_ATTRS)
interleave_dataset = define_dataset(
    "InterleaveDataset",
    f"{_INPUTS}, cycle_length: int64, block_length: int64",
    f"interleave_dataset({_CALL}, cycle_length, block_length | {_FUNCTION})",
    attrs=_ATTRS,
)
parallel_interleave_dataset_v2 = define_dataset(
    "ParallelInterleaveDatasetV2",
    f"{_INPUTS}, cycle_length: int64, block_length: int64, num_parallel_calls: int64",
    f"parallel_interleave_dataset({_CALL}, cycle_length, block_length, num_parallel_calls | {_FUNCTION})",
    attrs=f"{_ATTRS}; sloppy: bool = false",
)
parallel_interleave_dataset = define_dataset(
    "ParallelInterleaveDataset",
    f"{_INPUTS}, cycle_length: int64, block_length: int64, sloppy: bool, buffer_output_elements: int64, "
    "prefetch_input_elements: int64",
    f"legacy_parallel_interleave_dataset({_CALL}, cycle_length, block_length, sloppy, buffer_output_elements, "
    f"prefetch_input_elements | {_FUNCTION})",
    attrs=_ATTRS,
)
scan_dataset = define_dataset(
    "ScanDataset",
    "input_dataset: variant, initial_state: Tstate, other_arguments: Targuments",
    f"scan_dataset(input_dataset, initial_state, other_arguments | {_FUNCTION}, Tstate, preserve_cardinality)",
    attrs=f"f: func; Tstate: list(type) >= 1; Targuments: list(type) >= 0; {SPEC}; "
    "preserve_cardinality: bool = false",
)
group_by_window_dataset = define_dataset(
    "GroupByWindowDataset",
    "input_dataset: variant, key_func_other_arguments: Tkey_func_other_arguments, "
    "reduce_func_other_arguments: Treduce_func_other_arguments, "
    "window_size_func_other_arguments: Twindow_size_func_other_arguments",
    "group_by_window_dataset(input_dataset, key_func_other_arguments, reduce_func_other_arguments, "
    "window_size_func_other_arguments | output_types, output_shapes, key_func(key_func_other_arguments), "
    "reduce_func(reduce_func_other_arguments), window_size_func(window_size_func_other_arguments), "
    "Tkey_func_other_arguments, Treduce_func_other_arguments, Twindow_size_func_other_arguments)",
    attrs="key_func: func; reduce_func: func; window_size_func: func; "
    "Tkey_func_other_arguments: list(type) >= 0; Treduce_func_other_arguments: list(type) >= 0; "
    f"Twindow_size_func_other_arguments: list(type) >= 0; {SPEC}",
)
generator_dataset = define_dataset(
    "GeneratorDataset",
    "init_func_other_args: Tinit_func_args, next_func_other_args: Tnext_func_args, "
    "finalize_func_other_args: Tfinalize_func_args",
    "generator_dataset(init_func_other_args, next_func_other_args, finalize_func_other_args | output_types, "
    "output_shapes, init_func(init_func_other_args), next_func(next_func_other_args), "
    "finalize_func(finalize_func_other_args), Tinit_func_args, Tnext_func_args, Tfinalize_func_args)",
    attrs="init_func: func; next_func: func; finalize_func: func; Tinit_func_args: list(type) >= 0; "
    f"Tnext_func_args: list(type) >= 0; Tfinalize_func_args: list(type) >= 0; {SPEC}",
    stateful=True,
)

reduce_dataset = define_op(
    "ReduceDataset(input_dataset: variant, initial_state: Tstate, other_arguments: Targuments) "
    "-> (components: output_types)",
    f"f: func; Tstate: list(type) >= 1; Targuments: list(type) >= 0; {SPEC}; use_inter_op_parallelism: bool = true",
    kernel=f"reduce_dataset(input_dataset, initial_state, other_arguments | {_FUNCTION}, Tstate)",
    stateful=True,
    differentiable=False,
    traits="waits",
)

one_shot_iterator = define_op(
    "OneShotIterator() -> (handle: resource)",
    f"dataset_factory: func; {SPEC}; container: string = ''; shared_name: string = ''",
    kernel="make_one_shot_iterator(| 'resource', container, shared_name, node_name, output_types, output_shapes, "
    "dataset_factory())",
    state="position",
    stateful=True,
    differentiable=False,
)


@reduce_dataset.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 0)
    return [shape._dims for shape in context.attrs["output_shapes"]]


@one_shot_iterator.shape_rule
def _(context):
    return ()
