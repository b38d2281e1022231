"""ParseExample, ParseSingleExample, ParseSingleSequenceExample, ParseSequenceExample, DecodeJSONExample."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError, dims_text
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_TYPES = "list({float32, int64, string}) >= 0"
_SEQUENCE_COUNTS = (
    "Ncontext_sparse: int >= 0 = 0; Ncontext_dense: int >= 0 = 0; Nfeature_list_sparse: int >= 0 = 0; "
    "Nfeature_list_dense: int >= 0 = 0; "
)
_SEQUENCE_TYPES = (
    f"context_sparse_types: {_TYPES} = []; Tcontext_dense: {_TYPES} = []; feature_list_dense_types: {_TYPES} = []; "
    f"context_dense_shapes: list(shape) >= 0 = []; feature_list_sparse_types: {_TYPES} = []; "
    "feature_list_dense_shapes: list(shape) >= 0 = []"
)
_SEQUENCE_ATTRS = (
    "context_sparse_types, Tcontext_dense, feature_list_dense_types, context_dense_shapes, "
    "feature_list_sparse_types, feature_list_dense_shapes"
)
_SEQUENCE_OUTPUTS = (
    "context_sparse_indices: Ncontext_sparse * int64, context_sparse_values: context_sparse_types, "
    "context_sparse_shapes: Ncontext_sparse * int64, context_dense_values: Tcontext_dense, "
    "feature_list_sparse_indices: Nfeature_list_sparse * int64, "
    "feature_list_sparse_values: feature_list_sparse_types, "
    "feature_list_sparse_shapes: Nfeature_list_sparse * int64, feature_list_dense_values: feature_list_dense_types"
)

parse_example_op = define_op(
    "ParseExample(serialized: string, names: string, sparse_keys: Nsparse * string, dense_keys: Ndense * string, "
    "dense_defaults: Tdense) -> (sparse_indices: Nsparse * int64, sparse_values: sparse_types, "
    "sparse_shapes: Nsparse * int64, dense_values: Tdense)",
    f"Nsparse: int >= 0; Ndense: int >= 0; sparse_types: {_TYPES}; Tdense: {_TYPES}; dense_shapes: list(shape) >= 0",
    kernel="parse_example(serialized, names, sparse_keys, dense_keys, dense_defaults | "
    "Nsparse, Ndense, sparse_types, Tdense, dense_shapes)",
    differentiable=None,
)
parse_single_example_op = define_op(
    "ParseSingleExample(serialized: string, dense_defaults: Tdense) -> (sparse_indices: num_sparse * int64, "
    "sparse_values: sparse_types, sparse_shapes: num_sparse * int64, dense_values: Tdense)",
    "num_sparse: int >= 0; sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0; "
    f"sparse_types: {_TYPES}; Tdense: {_TYPES}; dense_shapes: list(shape) >= 0",
    kernel="parse_single_example(serialized, dense_defaults | "
    "num_sparse, sparse_keys, dense_keys, sparse_types, Tdense, dense_shapes)",
    differentiable=None,
)
parse_single_sequence_example_op = define_op(
    "ParseSingleSequenceExample(serialized: string, feature_list_dense_missing_assumed_empty: string, "
    "context_sparse_keys: Ncontext_sparse * string, context_dense_keys: Ncontext_dense * string, "
    "feature_list_sparse_keys: Nfeature_list_sparse * string, feature_list_dense_keys: Nfeature_list_dense * string, "
    f"context_dense_defaults: Tcontext_dense, debug_name: string) -> ({_SEQUENCE_OUTPUTS})",
    _SEQUENCE_COUNTS + _SEQUENCE_TYPES,
    kernel="parse_single_sequence_example(serialized, feature_list_dense_missing_assumed_empty, "
    "context_sparse_keys, context_dense_keys, feature_list_sparse_keys, feature_list_dense_keys, "
    "context_dense_defaults, debug_name | Ncontext_sparse, Ncontext_dense, Nfeature_list_sparse, "
    f"Nfeature_list_dense, {_SEQUENCE_ATTRS})",
    differentiable=None,
)
parse_sequence_example_op = define_op(
    "ParseSequenceExample(serialized: string, debug_name: string, context_dense_defaults: Tcontext_dense) -> "
    f"({_SEQUENCE_OUTPUTS}, feature_list_dense_lengths: Nfeature_list_dense * int64)",
    "feature_list_dense_missing_assumed_empty: list(string) >= 0; context_sparse_keys: list(string) >= 0; "
    "context_dense_keys: list(string) >= 0; feature_list_sparse_keys: list(string) >= 0; "
    f"feature_list_dense_keys: list(string) >= 0; {_SEQUENCE_COUNTS}{_SEQUENCE_TYPES}",
    kernel="parse_sequence_example(serialized, debug_name, context_dense_defaults | "
    "feature_list_dense_missing_assumed_empty, context_sparse_keys, context_dense_keys, feature_list_sparse_keys, "
    f"feature_list_dense_keys, {_SEQUENCE_ATTRS})",
    differentiable=None,
)


def _sparse(count, width):
    """The shapes of `count` indices, values and dense shapes."""
    return [(None, width)] * count + [(None,)] * count + [(width,)] * count


def _dense_dims(context, attr):
    """The plain shapes of dense features. Raises ShapeError for those of which inner sizes are unknown."""
    result = []
    for i, shape in enumerate(context.attrs[attr]):
        dims = shape._dims
        if dims is None or None in dims[1:]:
            raise ShapeError(f"{attr}[{i}] has unknown rank or unknown inner dimensions: {dims_text(dims)}")
        result.append(dims)
    return result


def _checked_count(context, attr, count):
    if len(context.attrs[attr]) != count:
        raise ShapeError(f"{attr} size is not {count}")


@parse_example_op.shape_rule
def _(context):
    batch = plain.with_rank(context.shapes[0], 1)
    _checked_count(context, "dense_shapes", context.attrs["Ndense"])
    dense = [(*batch, *dims) for dims in _dense_dims(context, "dense_shapes")]
    return _sparse(context.attrs["Nsparse"], 2) + dense


@parse_single_example_op.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 0)
    _checked_count(context, "dense_shapes", len(context.attrs["Tdense"]))
    return _sparse(context.attrs["num_sparse"], 1) + _dense_dims(context, "dense_shapes")


@parse_single_sequence_example_op.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 0)
    return _sequence(context, ())


@parse_sequence_example_op.shape_rule
def _(context):
    batch = plain.with_rank(context.shapes[0], 1)
    return _sequence(context, batch) + [batch] * context.attrs["Nfeature_list_dense"]


def _sequence(context, batch):
    attrs = context.attrs
    _checked_count(context, "context_dense_shapes", len(attrs["Tcontext_dense"]))
    _checked_count(context, "feature_list_dense_shapes", len(attrs["feature_list_dense_types"]))
    width = len(batch) + 1
    return [
        *_sparse(attrs["Ncontext_sparse"], width),
        *[(*batch, *dims) for dims in _dense_dims(context, "context_dense_shapes")],
        *_sparse(attrs["Nfeature_list_sparse"], width + 1),
        *[(*batch, None, *dims) for dims in _dense_dims(context, "feature_list_dense_shapes")],
    ]
