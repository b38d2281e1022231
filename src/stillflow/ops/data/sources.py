"""Data sets of tensors, their rows, and numbers."""

from __future__ import annotations

from stillflow.ops.data.declare import define_dataset

_COMPONENTS = "Toutput_types: list(type) >= 1; output_shapes: list(shape) >= 1"

tensor_dataset = define_dataset(
    "TensorDataset",
    "components: Toutput_types",
    "tensor_dataset(components | Toutput_types, output_shapes)",
    attrs=_COMPONENTS,
    stateful=True,
)
tensor_slice_dataset = define_dataset(
    "TensorSliceDataset",
    "components: Toutput_types",
    "tensor_slice_dataset(components | Toutput_types, output_shapes)",
    attrs=_COMPONENTS,
    stateful=True,
)
sparse_tensor_slice_dataset = define_dataset(
    "SparseTensorSliceDataset",
    "indices: int64, values: Tvalues, dense_shape: int64",
    "sparse_tensor_slice_dataset(indices, values, dense_shape)",
    attrs="Tvalues: type",
    stateful=True,
)
range_dataset = define_dataset(
    "RangeDataset",
    "start: int64, stop: int64, step: int64",
    "range_dataset(start, stop, step | output_types, output_shapes)",
    scalars=(0, 1, 2),
    stateful=True,
)
