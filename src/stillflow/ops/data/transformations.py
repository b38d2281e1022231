"""Data sets over others."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.data.declare import SPEC, define_anonymous, define_dataset
from stillflow.ops.registry import define_op


def _with_count(name, kernel):
    return define_dataset(
        name,
        "input_dataset: variant, count: int64",
        f"{kernel}(input_dataset, count | output_types, output_shapes)",
        scalars=(1,),
    )


take_dataset = _with_count("TakeDataset", "take_dataset")
skip_dataset = _with_count("SkipDataset", "skip_dataset")
repeat_dataset = _with_count("RepeatDataset", "repeat_dataset")
shard_dataset = define_dataset(
    "ShardDataset",
    "input_dataset: variant, num_shards: int64, index: int64",
    "shard_dataset(input_dataset, num_shards, index | output_types, output_shapes, require_non_empty)",
    attrs=f"require_non_empty: bool = false; {SPEC}",
    scalars=(1, 2),
)

auto_shard_dataset = define_dataset(
    "AutoShardDataset",
    "input_dataset: variant, num_workers: int64, index: int64",
    "auto_shard_dataset(input_dataset, num_workers, index | output_types, output_shapes)",
)
rebatch_dataset = define_dataset(
    "RebatchDataset",
    "input_dataset: variant, num_replicas: int64",
    "rebatch_dataset(input_dataset, num_replicas | output_types, output_shapes)",
    attrs=f"{SPEC}; use_fallback: bool = true",
)

zip_dataset = define_dataset(
    "ZipDataset",
    "input_datasets: N * variant",
    "zip_dataset(input_datasets | output_types, output_shapes)",
    attrs=f"{SPEC}; N: int >= 1",
)
concatenate_dataset = define_dataset(
    "ConcatenateDataset",
    "input_dataset: variant, another_dataset: variant",
    "concatenate_dataset(input_dataset, another_dataset | output_types, output_shapes)",
)

shuffle_dataset = define_dataset(
    "ShuffleDataset",
    "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64",
    "shuffle_dataset(input_dataset, buffer_size, seed, seed2 | output_types, output_shapes, "
    "reshuffle_each_iteration)",
    attrs=f"reshuffle_each_iteration: bool = true; {SPEC}",
    scalars=(1, 2, 3),
)
shuffle_dataset_v2 = define_dataset(
    "ShuffleDatasetV2",
    "input_dataset: variant, buffer_size: int64, seed_generator: resource",
    "shuffle_dataset_v2(input_dataset, buffer_size, seed_generator | output_types, output_shapes)",
    scalars=(1, 2),
    stateful=True,
)
anonymous_random_seed_generator, delete_random_seed_generator = define_anonymous(
    "RandomSeedGenerator", "seed: int64, seed2: int64", "seed_generator"
)
shuffle_and_repeat_dataset = define_dataset(
    "ShuffleAndRepeatDataset",
    "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: int64",
    "shuffle_and_repeat_dataset(input_dataset, buffer_size, seed, seed2, count | output_types, output_shapes)",
    scalars=(1, 2, 3, 4),
)

batch_dataset = define_dataset(
    "BatchDataset",
    "input_dataset: variant, batch_size: int64",
    "batch_dataset(input_dataset, batch_size | output_types, output_shapes)",
    scalars=(1,),
)
batch_dataset_v2 = define_dataset(
    "BatchDatasetV2",
    "input_dataset: variant, batch_size: int64, drop_remainder: bool",
    "batch_dataset_v2(input_dataset, batch_size, drop_remainder | output_types, output_shapes)",
    attrs=f"parallel_copy: bool = false; {SPEC}",
    scalars=(1, 2),
)
padded_batch_dataset = define_dataset(
    "PaddedBatchDataset",
    "input_dataset: variant, batch_size: int64, padded_shapes: N * int64, padding_values: Toutput_types",
    "padded_batch_dataset(input_dataset, batch_size, padded_shapes, padding_values | Toutput_types, output_shapes, "
    "N)",
    attrs="Toutput_types: list(type) >= 1; output_shapes: list(shape) >= 1; N: int >= 1",
    scalars=(1,),
)
padded_batch_dataset_v2 = define_dataset(
    "PaddedBatchDatasetV2",
    "input_dataset: variant, batch_size: int64, padded_shapes: N * int64, padding_values: Toutput_types, "
    "drop_remainder: bool",
    "padded_batch_dataset_v2(input_dataset, batch_size, padded_shapes, padding_values, drop_remainder | "
    "Toutput_types, output_shapes, N)",
    attrs="parallel_copy: bool = false; Toutput_types: list(type) >= 1; output_shapes: list(shape) >= 1; N: int >= 1",
    scalars=(1, -1),
)
window_dataset = define_dataset(
    "WindowDataset",
    "input_dataset: variant, size: int64, shift: int64, stride: int64, drop_remainder: bool",
    "window_dataset(input_dataset, size, shift, stride, drop_remainder | output_types, output_shapes)",
    scalars=(1, 2, 3, 4),
)

prefetch_dataset = define_dataset(
    "PrefetchDataset",
    "input_dataset: variant, buffer_size: int64",
    "prefetch_dataset(input_dataset, buffer_size | output_types, output_shapes)",
    attrs=f"{SPEC}; slack_period: int = 0; legacy_autotune: bool = true",
    scalars=(1,),
)
cache_dataset = define_dataset(
    "CacheDataset",
    "input_dataset: variant, filename: string",
    "cache_dataset(input_dataset, filename | output_types, output_shapes)",
    scalars=(1,),
)
cache_dataset_v2 = define_dataset(
    "CacheDatasetV2",
    "input_dataset: variant, filename: string, cache: resource",
    "cache_dataset_v2(input_dataset, filename, cache | output_types, output_shapes)",
    scalars=(1, 2),
    stateful=True,
)
anonymous_memory_cache, delete_memory_cache = define_anonymous("MemoryCache", "", "memory_cache")
optimize_dataset = define_dataset(
    "OptimizeDataset",
    "input_dataset: variant, optimizations: string",
    "optimize_dataset(input_dataset, optimizations | output_types, output_shapes, optimization_configs)",
    attrs=f"{SPEC}; optimization_configs: list(string) = []",
)
model_dataset = define_dataset(
    "ModelDataset",
    "input_dataset: variant",
    "model_dataset(input_dataset | output_types, output_shapes)",
    attrs=f"algorithm: int = 0; cpu_budget: int = 0; {SPEC}",
)

assert_next_dataset = define_dataset(
    "AssertNextDataset",
    "input_dataset: variant, transformations: string",
    "assert_next_dataset(input_dataset, transformations | output_types, output_shapes)",
)
non_serializable_dataset = define_dataset(
    "NonSerializableDataset",
    "input_dataset: variant",
    "non_serializable_dataset(input_dataset | output_types, output_shapes)",
)
choose_fastest_dataset = define_dataset(
    "ChooseFastestDataset",
    "input_datasets: N * variant",
    "choose_fastest_dataset(input_datasets | output_types, output_shapes)",
    attrs=f"N: int >= 2; num_experiments: int; {SPEC}",
)


@assert_next_dataset.shape_rule
def _(context):
    plain.with_rank(context.shapes[1], 1)
    return ()


unbatch_dataset = define_dataset(
    "UnbatchDataset", "input_dataset: variant", "unbatch_dataset(input_dataset | output_types, output_shapes)"
)
ignore_errors_dataset = define_dataset(
    "IgnoreErrorsDataset",
    "input_dataset: variant",
    "ignore_errors_dataset(input_dataset | output_types, output_shapes)",
)
directed_interleave_dataset = define_dataset(
    "DirectedInterleaveDataset",
    "selector_input_dataset: variant, data_input_datasets: N * variant",
    "directed_interleave_dataset(selector_input_dataset, data_input_datasets | output_types, output_shapes)",
    attrs=f"{SPEC}; N: int >= 1",
)

dataset_to_single_element = define_op(
    "DatasetToSingleElement(dataset: variant) -> (components: output_types)",
    SPEC,
    kernel="dataset_to_single_element(dataset | output_types, output_shapes)",
    stateful=True,
    differentiable=False,
    traits="waits",
)


@dataset_to_single_element.shape_rule
def _(context):
    return [shape._dims for shape in context.attrs["output_shapes"]]


dataset_cardinality = define_op(
    "DatasetCardinality(input_dataset: variant) -> (cardinality: int64)",
    kernel="dataset_cardinality(input_dataset)",
    differentiable=False,
)
experimental_dataset_cardinality = define_op(
    "ExperimentalDatasetCardinality(input_dataset: variant) -> (cardinality: int64)",
    kernel="dataset_cardinality(input_dataset)",
    differentiable=False,
)


@dataset_cardinality.shape_rule
@experimental_dataset_cardinality.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 0)
    return [()]
