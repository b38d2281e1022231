"""Example and SequenceExample messages parsed as the features that a program names."""

from __future__ import annotations

import collections
import re

from stillflow import ops
from stillflow.composites.sparse import sparse_merge
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor

# ---- What a program asks for --------------------------------------------------------------------------------------


@public("VarLenFeature", "io.VarLenFeature")
class VarLenFeature(collections.namedtuple("VarLenFeature", ["dtype"])):
    """A feature with any number of values, parsed into a SparseTensor."""


@public("FixedLenFeature", "io.FixedLenFeature")
class FixedLenFeature(collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])):
    """A feature of one shape, parsed into a Tensor.

    `default_value` stands for it where it is missing; without one it has to be there.
    """

    def __new__(cls, shape, dtype, default_value=None):
        return super().__new__(cls, shape, dtype, default_value)


@public("FixedLenSequenceFeature", "io.FixedLenSequenceFeature")
class FixedLenSequenceFeature(
    collections.namedtuple("FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"])
):
    """A feature of any number of elements of one shape, parsed into a Tensor; in a batch short ones are filled up.

    `allow_missing` takes a missing one for one without elements; `default_value` is what fills up.
    """

    def __new__(cls, shape, dtype, allow_missing=False, default_value=None):
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


@public("SparseFeature", "io.SparseFeature")
class SparseFeature(
    collections.namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"])
):
    """Two features that together are a SparseTensor: values, and their places in a dimension of `size`.

    `index_key` and `size` may be lists, for several dimensions.
    """

    def __new__(cls, index_key, value_key, dtype, size, already_sorted=False):
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)


class _Request:
    """The features asked for, sorted by their keys: the sparse ones, and those with a shape."""

    def __init__(self, features, allowed):
        self.sparse: dict = {}  # key -> dtype
        self.dense: dict = {}  # key -> dtype
        self.shapes = {}
        self.defaults = {}
        self.composed = {}  # of SparseFeatures
        self.may_be_missing = []
        for key in sorted(features):
            feature = features[key]
            if not isinstance(feature, allowed):
                kind = type(feature).__name__
                known = isinstance(feature, (VarLenFeature, FixedLenFeature, FixedLenSequenceFeature, SparseFeature))
                raise ValueError(f"Unsupported {kind} {feature}." if known else f"Invalid feature {key}:{feature}.")
            getattr(self, f"_add_{type(feature).__name__}", self._add_other)(key, feature)
        both = set(self.sparse) & set(self.dense)
        if both:
            raise ValueError(f"Dense and sparse keys must not intersect; intersection: {both}")

    def _add_other(self, key, feature):
        for kind in (VarLenFeature, FixedLenFeature, FixedLenSequenceFeature, SparseFeature):
            if isinstance(feature, kind):
                getattr(self, f"_add_{kind.__name__}")(key, feature)

    def _add_VarLenFeature(self, key, feature):  # noqa: N802
        _check_type(key, feature)
        self._add_sparse(key, feature.dtype)

    def _add_sparse(self, key, dtype):
        dtype = dtypes.as_dtype(dtype)
        if self.sparse.setdefault(key, dtype) is not dtype:
            raise ValueError(f"Conflicting type {self.sparse[key]} vs {dtype} for feature {key}.")

    def _add_SparseFeature(self, key, feature):  # noqa: N802
        if not feature.index_key:
            raise ValueError(f"Missing index_key for SparseFeature {feature}.")
        if not feature.value_key:
            raise ValueError(f"Missing value_key for SparseFeature {feature}.")
        _check_type(key, feature)
        indices = [feature.index_key] if isinstance(feature.index_key, str) else feature.index_key
        for index in sorted(indices):
            self._add_sparse(index, dtypes.int64)
        self._add_sparse(feature.value_key, feature.dtype)
        self.composed[key] = feature

    def _add_FixedLenFeature(self, key, feature):  # noqa: N802
        _check_type(key, feature)
        if feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}.")
        shape = TensorShape(feature.shape)
        if shape._dims and shape._dims[0] is None:
            raise ValueError(
                f"First dimension of shape for feature {key} unknown. Consider using FixedLenSequenceFeature."
            )
        if not shape.is_fully_defined():
            raise ValueError(f"All dimensions of shape for feature {key} need to be known but received {shape}.")
        self._add_dense(key, feature, shape)

    def _add_FixedLenSequenceFeature(self, key, feature):  # noqa: N802
        _check_type(key, feature)
        if feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}.")
        self._add_dense(key, feature, TensorShape(feature.shape))
        if feature.allow_missing:
            self.may_be_missing.append(key)

    def _add_dense(self, key, feature, shape):
        self.dense[key] = dtypes.as_dtype(feature.dtype)
        self.shapes[key] = shape
        if feature.default_value is not None:
            self.defaults[key] = feature.default_value

    def default_tensors(self, is_reshaped=True):
        """For each dense feature what stands for it where it is missing: nothing, its default, or what fills up."""
        tensors = []
        for key, dtype in self.dense.items():
            shape = self.shapes[key]
            clean = re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)
            default = self.defaults.get(key)
            if is_reshaped and shape._dims and shape._dims[0] is None:
                if default is None:
                    tensors.append(ops.constant("" if dtype is dtypes.string else 0, dtype))
                else:
                    padding = convert_to_tensor(default, dtype, name=f"padding_{clean}")
                    tensors.append(ops.reshape(padding, []))
            elif default is None:
                tensors.append(ops.constant([], dtype))
            else:
                is_shaped = not is_reshaped or isinstance(default, Tensor)
                default = convert_to_tensor(default, dtype, name=f"key_{clean}")
                tensors.append(default if is_shaped else ops.reshape(default, shape))
        return tensors

    def outputs(self, results):
        """The parsed features by key, of the four lists of an op's outputs."""
        indices, values, shapes, dense = results
        found = {}
        for key, *parts in zip(self.sparse, indices, values, shapes, strict=True):
            found[key] = SparseTensor(*parts)
        found.update(zip(self.dense, dense, strict=True))
        return found


def _check_type(key, feature):
    if not feature.dtype:
        raise ValueError(f"Missing type for feature {key}.")


def _with_composed(request, found, features):
    """What was asked for: SparseFeatures made of their parts, and nothing else that was only parsed for them."""
    for key, feature in request.composed.items():
        indices = feature.index_key
        indices = found[indices] if isinstance(indices, str) else [found[index] for index in indices]
        values = found[feature.value_key]
        found[key] = sparse_merge(indices, values, feature.size, already_sorted=feature.already_sorted)
    return {key: value for key, value in found.items() if key in features}


_ANY = (VarLenFeature, FixedLenFeature, FixedLenSequenceFeature, SparseFeature)


def _example_request(features):
    """Sequences among the features get a first dimension of unknown size."""
    if not features:
        raise ValueError(f"Missing: features was {features}.")
    with_sequences = {}
    for key, feature in features.items():
        if isinstance(feature, FixedLenSequenceFeature):
            if not feature.allow_missing:
                raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
            feature = feature._replace(shape=[None, *feature.shape])
        with_sequences[key] = feature
    return _Request(with_sequences, _ANY)


# ---- Example ------------------------------------------------------------------------------------------------------


@public("parse_example", "io.parse_example")
def parse_example(serialized, features, name=None, example_names=None):
    """Parses a batch of Example messages.

    Args:
      serialized: a string vector [batch], of serialized Examples.
      features: a dict of keys to FixedLenFeature, VarLenFeature, SparseFeature or FixedLenSequenceFeature.
      name: a name for the operation.
      example_names: a string vector of names to call the examples by in messages.

    Returns:
      A dict of keys to tensors: [batch, *shape] for FixedLenFeature, [batch, most, *shape] for
      FixedLenSequenceFeature, and a SparseTensor [batch, most] for the others.

    Raises:
      ValueError: for a feature that is none.
      At run time tf.errors.InvalidArgumentError for bytes that are no Example, and for features that are missing,
      of another type, or have another number of values.
    """
    request = _example_request(features)
    names = [] if example_names is None else example_names
    with name_scope(name, "ParseExample", [serialized, names]):
        found = _parse_batch(request, serialized, names, name)
    return _with_composed(request, found, features)


def _parse_batch(request, serialized, names, name):
    defaults = request.default_tensors()
    results = ops.parse_example_op(
        serialized, names, list(request.sparse), list(request.dense), defaults,
        sparse_types=list(request.sparse.values()), dense_shapes=list(request.shapes.values()), name=name,
    )  # fmt: skip
    return request.outputs(results)


@public("parse_single_example", "io.parse_single_example")
def parse_single_example(serialized, features, name=None, example_names=None):
    """Parses one Example message.

    Args:
      serialized: a string scalar: a serialized Example.
      features: as of `parse_example`.
      name: a name for the operation.
      example_names: a string scalar, the example's name in messages.

    Returns:
      A dict as of `parse_example`, of tensors without the batch's dimension.

    Raises:
      As `parse_example`.
    """
    request = _example_request(features)
    if example_names is not None:
        found = _parse_single_named(request, serialized, name, example_names)
    else:
        with name_scope(name, "ParseSingleExample", [serialized]):
            serialized = convert_to_tensor(serialized, name="serialized")
            results = ops.parse_single_example_op(
                serialized, request.default_tensors(), num_sparse=len(request.sparse),
                sparse_keys=list(request.sparse), sparse_types=list(request.sparse.values()),
                dense_keys=list(request.dense), dense_shapes=list(request.shapes.values()), name=name,
            )  # fmt: skip
            found = request.outputs(results)
    return _with_composed(request, found, features)


def _parse_single_named(request, serialized, name, example_names):
    """Through a batch of one: only that op takes names."""
    with name_scope(name, "ParseSingleExample", [serialized, example_names]):
        serialized = convert_to_tensor(serialized, dtypes.string)
        _check_scalar(serialized, "serialized")
        serialized = ops.expand_dims(serialized, 0)
        example_names = convert_to_tensor(example_names, dtypes.string)
        _check_scalar(example_names, "example_names")
        example_names = ops.expand_dims(example_names, 0)
        with name_scope(name, "ParseExample", [serialized, example_names]):
            found = _parse_batch(request, serialized, example_names, name)
        for key in request.dense:
            clean = re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)
            found[key] = ops.squeeze(found[key], [0], name=f"Squeeze_{clean}")
        for key in request.sparse:
            clean = re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)
            tensor = found[key]
            indices = ops.slice(tensor.indices, [0, 1], [-1, -1], name=f"Slice_Indices_{clean}")
            shape = ops.slice(tensor.dense_shape, [1], [-1], name=f"Squeeze_Shape_{clean}")
            found[key] = SparseTensor(indices, tensor.values, shape)
        return found


def _check_scalar(tensor, name):
    if tensor.shape.rank is None:
        return
    if tensor.shape.rank != 0:
        raise ValueError(f"Input {name} must be a scalar")


# ---- SequenceExample ----------------------------------------------------------------------------------------------


def _sequence_requests(context_features, sequence_features):
    if not (context_features or sequence_features):
        raise ValueError("Missing features.")
    context = _Request(context_features or {}, (VarLenFeature, FixedLenFeature))
    lists = _Request(sequence_features or {}, (VarLenFeature, FixedLenSequenceFeature))
    for key in lists.defaults:
        raise ValueError(f"Value feature_list_dense_defaults[{key}] must be None")
    return context, lists


def _sequence_types(context, lists):
    return {
        "context_sparse_types": list(context.sparse.values()),
        "context_dense_shapes": list(context.shapes.values()),
        "feature_list_sparse_types": list(lists.sparse.values()),
        "feature_list_dense_types": list(lists.dense.values()),
        "feature_list_dense_shapes": list(lists.shapes.values()),
    }


@public("parse_single_sequence_example", "io.parse_single_sequence_example")
def parse_single_sequence_example(
    serialized, context_features=None, sequence_features=None, example_name=None, name=None
):
    """Parses one SequenceExample message.

    Args:
      serialized: a string scalar: a serialized SequenceExample.
      context_features: a dict of keys to FixedLenFeature or VarLenFeature.
      sequence_features: a dict of keys to FixedLenSequenceFeature or VarLenFeature.
      example_name: a string scalar, the example's name in messages.
      name: a name for the operation.

    Returns:
      Two dicts of keys to tensors: the context's, and the sequences', which begin with the dimension of time.

    Raises:
      ValueError: if nothing is asked for, or for features that are none of the kinds.
      At run time as `parse_example`.
    """
    context, lists = _sequence_requests(context_features, sequence_features)
    with name_scope(name, "ParseSingleSequenceExample", [serialized]):
        results = ops.parse_single_sequence_example_op(
            serialized, lists.may_be_missing, list(context.sparse), list(context.dense), list(lists.sparse),
            list(lists.dense), context.default_tensors(), "" if example_name is None else example_name,
            **_sequence_types(context, lists), name=name,
        )  # fmt: skip
        return context.outputs(results[:4]), lists.outputs(results[4:])


@public("io.parse_sequence_example")
def parse_sequence_example(serialized, context_features=None, sequence_features=None, example_names=None, name=None):
    """Parses a batch of SequenceExample messages.

    Args:
      serialized: a string vector [batch], of serialized SequenceExamples.
      context_features, sequence_features: as of `parse_single_sequence_example`.
      example_names: a string vector of names to call the examples by in messages.
      name: a name for the operation.

    Returns:
      Three dicts of keys to tensors: the context's, [batch, ...]; the sequences', [batch, time, ...], shorter ones
      filled up with zeros; and how long the dense sequences are, int64 [batch].

    Raises:
      As `parse_single_sequence_example`.
    """
    context, lists = _sequence_requests(context_features, sequence_features)
    with name_scope(name, "ParseSequenceExample", [serialized]):
        results = ops.parse_sequence_example_op(
            serialized, [] if example_names is None else example_names, context.default_tensors(is_reshaped=False),
            Ncontext_sparse=len(context.sparse), Ncontext_dense=len(context.dense),
            Nfeature_list_sparse=len(lists.sparse), Nfeature_list_dense=len(lists.dense),
            feature_list_dense_missing_assumed_empty=lists.may_be_missing,
            context_sparse_keys=list(context.sparse), context_dense_keys=list(context.dense),
            feature_list_sparse_keys=list(lists.sparse), feature_list_dense_keys=list(lists.dense),
            **_sequence_types(context, lists), name=name,
        )  # fmt: skip
        lengths = dict(zip(lists.dense, results[8], strict=True))
        return context.outputs(results[:4]), lists.outputs(results[4:8]), lengths
