"""Data sets of tf.data.experimental."""

from __future__ import annotations

from stillflow.ops.data.declare import SPEC, define_dataset

take_while_dataset = define_dataset(
    "TakeWhileDataset",
    "input_dataset: variant, other_arguments: Targuments",
    "take_while_dataset(input_dataset, other_arguments | output_types, output_shapes, predicate(other_arguments))",
    attrs=f"predicate: func; Targuments: list(type) >= 0; {SPEC}",
)

_OF_REDUCER = ("key", "init", "reduce", "finalize")
_REDUCER_INPUTS = [f"{name}_func_other_arguments" for name in _OF_REDUCER]
_REDUCER_TYPES = [f"T{name}" for name in _REDUCER_INPUTS]


def _define_group_by_reducer(name):
    return define_dataset(
        name,
        ", ".join(["input_dataset: variant", *(f"{name}: T{name}" for name in _REDUCER_INPUTS)]),
        f"group_by_reducer_dataset(input_dataset, {', '.join(_REDUCER_INPUTS)} | output_types, output_shapes, "
        + ", ".join(
            [
                *(f"{name}_func({given})" for name, given in zip(_OF_REDUCER, _REDUCER_INPUTS, strict=True)),
                *_REDUCER_TYPES,
            ]
        )
        + ")",
        attrs="; ".join(
            [
                *(f"{name}_func: func" for name in _OF_REDUCER),
                *(f"{name}: list(type) >= 0" for name in _REDUCER_TYPES),
                SPEC,
            ]
        ),
        stateful=True,
    )


group_by_reducer_dataset = _define_group_by_reducer("GroupByReducerDataset")
experimental_group_by_reducer_dataset = _define_group_by_reducer("ExperimentalGroupByReducerDataset")

unique_dataset = define_dataset(
    "UniqueDataset", "input_dataset: variant", "unique_dataset(input_dataset | output_types, output_shapes)"
)
random_dataset = define_dataset(
    "RandomDataset",
    "seed: int64, seed2: int64",
    "random_dataset(seed, seed2 | output_types, output_shapes)",
    scalars=(0, 1),
    stateful=True,
)
dense_to_sparse_batch_dataset = define_dataset(
    "DenseToSparseBatchDataset",
    "input_dataset: variant, batch_size: int64, row_shape: int64",
    "dense_to_sparse_batch_dataset(input_dataset, batch_size, row_shape | output_types, output_shapes)",
)
