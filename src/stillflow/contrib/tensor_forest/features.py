"""Features and labels of all kinds as the one dense and the one sparse matrix that trees read."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.sparse import sparse_tensor_to_dense
from stillflow.graph import dtypes
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.platform import logging

DATA_FLOAT = 0
DATA_CATEGORICAL = 1
_KINDS = {
    dtypes.string: DATA_CATEGORICAL, dtypes.int32: DATA_CATEGORICAL, dtypes.int64: DATA_CATEGORICAL,
    dtypes.float32: DATA_FLOAT, dtypes.float64: DATA_FLOAT,
}  # fmt: skip


class DataColumn:
    """One feature: its name, whether it is a number or a category, and how many columns it has."""

    def __init__(self, name="", original_type="", size=0):
        self.name = name
        self.original_type = original_type
        self.size = size

    def SerializeToString(self):  # noqa: N802
        """The text that kernels read."""
        return f"name: {self.name} original_type: {self.original_type} size: {self.size}"


class DataColumnCollection:
    """The features of one matrix."""

    def __init__(self):
        self.cols = []

    def add(self):
        """A new column."""
        self.cols.append(DataColumn())
        return self.cols[-1]

    def size(self):
        """How many columns there are."""
        return len(self.cols)

    def SerializeToString(self):  # noqa: N802
        """The text that kernels read."""
        return "".join(f"{{{column.SerializeToString()}}}" for column in self.cols)


@public("contrib.tensor_forest.python.ops.data_ops.TensorForestDataSpec")
class TensorForestDataSpec:
    """What the two matrices are made of."""

    def __init__(self):
        self.sparse = DataColumnCollection()
        self.dense = DataColumnCollection()
        self.dense_features_size = 0

    def SerializeToString(self):  # noqa: N802
        """The text that kernels read."""
        return (
            f"dense_features_size: {self.dense_features_size} dense: [{self.dense.SerializeToString()}] "
            f"sparse: [{self.sparse.SerializeToString()}]"
        )


def _as_float(tensor):
    if tensor.dtype == dtypes.string:
        raise TypeError(
            "Features that are strings are not supported: take their hashes, tf.string_to_hash_bucket_fast"
        )
    return ops.cast(tensor, dtypes.float32) if tensor.dtype.is_integer else tensor


def _column_name(key, number):
    return key if isinstance(key, str) else getattr(key, "column_name", str(number))


def _parse_dict(data, spec):
    dense: list = []
    sparse: list = []
    size = 0
    for key in sorted(data):
        feature = data[key]
        if isinstance(feature, SparseTensor):
            if feature.dtype == dtypes.float32:
                logging.info("TensorForest does not support sparse continuous.")
                continue
            if spec.sparse.size() == 0:
                column = spec.sparse.add()
                column.original_type, column.name, column.size = DATA_CATEGORICAL, "all_sparse", -1
            sparse.append(SparseTensor(feature.indices, _as_float(feature.values), feature.dense_shape))
            continue
        column = spec.dense.add()
        column.original_type = _KINDS[feature.dtype]
        column.name = _column_name(key, len(dense))
        shape = feature.get_shape()
        column.size = 1 if len(shape) == 1 else dimension_value(shape[1])
        size += column.size
        dense.append(_as_float(feature))
    dense_features = ops.concat(dense, 1) if dense else None
    if dense:
        spec.dense_features_size = size
    sparse_features = ops.sparse_concat(1, sparse) if sparse else None
    logging.info(spec.SerializeToString())
    return dense_features, sparse_features, spec


@public("contrib.tensor_forest.python.ops.data_ops.ParseDataTensorOrDict")
def ParseDataTensorOrDict(data):  # noqa: N802
    """(dense matrix or None, SparseTensor or None, TensorForestDataSpec) of a tensor, a SparseTensor or a dict.

    Integers are categories. Raises TypeError for strings.
    """
    spec = TensorForestDataSpec()
    if isinstance(data, dict):
        return _parse_dict(data, spec)
    if isinstance(data, SparseTensor):
        column = spec.sparse.add()
        column.name, column.original_type, column.size = "sparse_features", _KINDS[data.dtype], -1
        spec.dense_features_size = 0
        return None, data, spec
    data = convert_to_tensor(data)
    column = spec.dense.add()
    column.name, column.original_type = "dense_features", _KINDS[data.dtype]
    column.size = spec.dense_features_size = data.get_shape()[1]
    return data, None, spec


@public("contrib.tensor_forest.python.ops.data_ops.ParseLabelTensorOrDict")
def ParseLabelTensorOrDict(labels):  # noqa: N802
    """Labels as one float32 tensor: of a tensor or a SparseTensor, or of a dict in order of the names."""
    if isinstance(labels, dict):
        return ops.cast(ops.concat([labels[key] for key in sorted(labels)], 1), dtypes.float32)
    if isinstance(labels, SparseTensor):
        return ops.cast(sparse_tensor_to_dense(labels, default_value=-1), dtypes.float32)
    return ops.cast(labels, dtypes.float32)
