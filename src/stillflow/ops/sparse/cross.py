"""SparseCross and its kin: for each row of several columns of features all combinations of one feature of each."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.registry import define_op
from stillflow.ops.sparse_tensor import SparseTensor

_DEFAULT_KEY = 0xDECAFCAFFE  # of hashes

_TYPES = (
    "sparse_types: list({int64, string}) >= 0; dense_types: list({int64, string}) >= 0; "
    "out_type: {int64, string}; internal_type: {int64, string}"
)
_INPUTS = "indices: N * int64, values: sparse_types, shapes: N * int64"
_OUTPUTS = "(output_indices: int64, output_values: out_type, output_shape: int64)"

sparse_cross_op = define_op(
    f"SparseCross({_INPUTS}, dense_inputs: dense_types) -> {_OUTPUTS}",
    f"N: int >= 0; hashed_output: bool; num_buckets: int >= 0; hash_key: int; {_TYPES}",
    kernel="sparse_cross(indices, values, shapes, dense_inputs | N, num_buckets, hash_key, out_type, false)",
    differentiable=None,
)
sparse_feature_cross_v2 = define_op(
    f"SparseFeatureCrossV2({_INPUTS}, dense: dense_types) -> {_OUTPUTS}",
    f"N: int >= 0; hashed_output: bool; num_buckets: int >= 0; hash_key: int; {_TYPES}",
    kernel="sparse_cross(indices, values, shapes, dense | N, num_buckets, hash_key, out_type, false)",
    differentiable=False,
)
sparse_feature_cross = define_op(
    f"SparseFeatureCross({_INPUTS}, dense: dense_types) -> {_OUTPUTS}",
    f"N: int >= 0; hashed_output: bool; num_buckets: int >= 0; {_TYPES}",
    kernel=f"sparse_cross(indices, values, shapes, dense | N, num_buckets, {_DEFAULT_KEY}, out_type, true)",
    differentiable=False,
)


@sparse_cross_op.shape_rule
@sparse_feature_cross_v2.shape_rule
@sparse_feature_cross.shape_rule
def _(context):
    return [(None, 2), (None,), (2,)]


@public("sparse.cross")
def sparse_cross(inputs, name=None):
    """All combinations of features, put together with "_X_" in between.

    Args:
      inputs: a list of matrices of integers or strings, SparseTensors or tensors, with as many rows.
      name: the node's name.

    Returns:
      A SparseTensor of strings [rows, the most combinations of a row].

    Raises TypeError for anything but a list of tensors.
    """
    return crossed(sparse_cross_op, inputs, False, 0, name, hash_key=_DEFAULT_KEY)


@public("sparse.cross_hashed")
def sparse_cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """The hashes of all combinations of features.

    Args:
      inputs: a list of matrices of integers or strings, SparseTensors or tensors, with as many rows.
      num_buckets: how many different hashes there are; 0 for 2^63 - 1.
      hash_key: an integer that all hashes depend on.
      name: the node's name.

    Returns:
      A SparseTensor of int64 [rows, the most combinations of a row].

    Raises TypeError for anything but a list of tensors.
    """
    return crossed(sparse_cross_op, inputs, True, num_buckets, name, hash_key=hash_key or _DEFAULT_KEY)


def crossed(op, inputs, hashed_output, num_buckets, name, **attrs):
    """What one of the ops above makes of a list of SparseTensors and tensors."""
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(each, (SparseTensor, Tensor)) for each in inputs):
        raise TypeError("All inputs must be SparseTensors")
    sparse = [each for each in inputs if isinstance(each, SparseTensor)]
    indices, shapes = [each.indices for each in sparse], [each.dense_shape for each in sparse]
    values = [_text_or_int64(each.values) for each in sparse]
    dense = [_text_or_int64(each) for each in inputs if not isinstance(each, SparseTensor)]
    has_numbers = any(each.dtype != dtypes.string for each in (*values, *dense))
    return SparseTensor(
        *op(
            indices,
            values,
            shapes,
            dense,
            hashed_output=hashed_output,
            num_buckets=num_buckets,
            out_type=dtypes.int64 if hashed_output else dtypes.string,
            internal_type=dtypes.int64 if has_numbers else dtypes.string,
            name=name,
            **attrs,
        )
    )


def _text_or_int64(values):
    return values if values.dtype == dtypes.string else ops.cast(values, dtypes.int64)
