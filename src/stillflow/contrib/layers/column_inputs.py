"""What columns of tf.contrib.layers make of features: the input of a network, or the sums of a linear model."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.parsing import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    VarLenFeature,
    parse_example,
    parse_single_sequence_example,
)
from stillflow.composites.sparse import sparse_placeholder
from stillflow.contrib.framework.model_variables import model_variable
from stillflow.contrib.layers.column_base import FeatureColumn, reshaped
from stillflow.contrib.layers.embedding_weights import parts_of, restore
from stillflow.contrib.layers.embeddings import safe_embedding_lookup_sparse
from stillflow.graph import dtypes, nest
from stillflow.graph.collections import GraphKeys
from stillflow.names import public
from stillflow.ops.array.placeholder import placeholder
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.training_loop.messages import log
from stillflow.variables.initializers import Zeros
from stillflow.variables.scope import variable_scope


@public("contrib.layers.check_feature_columns")
def check_feature_columns(feature_columns):
    """Raises ValueError for a dict of columns, and for two that are the same."""
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    seen = set()
    for column in feature_columns:
        if column.key in seen:
            raise ValueError(
                f"Duplicate feature column key found for column: {column.name}. This usually means that the column "
                "is almost identical to another column, and one must be discarded."
            )
        seen.add(column.key)


@public("contrib.layers.python.layers.feature_column_ops._Transformer")
class Transformer:
    """What columns make of features, each made once.

    Args:
      columns_to_tensors: {name of a feature, or column: tensor}, which gets what is made.
    """

    def __init__(self, columns_to_tensors):
        self._columns_to_tensors = columns_to_tensors

    def transform(self, feature_column):
        """The tensor of a column. Raises ValueError for a column that makes none."""
        return _transformed(feature_column, self._columns_to_tensors)


def _in_order(feature_columns):
    return sorted(set(feature_columns), key=lambda column: column.key)


def _transformed(column, columns_to_tensors):
    if column not in columns_to_tensors:
        column.insert_transformed_feature(columns_to_tensors)
        if column not in columns_to_tensors:
            raise ValueError(f"Column {column.name} is not supported.")
    return columns_to_tensors[column]


def _with_globals(collections):
    return collections and list(dict.fromkeys([*collections, GraphKeys.GLOBAL_VARIABLES]))


# ---- Networks -----------------------------------------------------------------------------------------------


@public("contrib.layers.input_from_feature_columns")
def input_from_feature_columns(
    columns_to_tensors, feature_columns, weight_collections=None, trainable=True, scope=None, cols_to_outs=None
):
    """The input of a network, [batch, size]: what columns make of features, side by side.

    Args:
      columns_to_tensors: {name of a feature: tensor}, as tf.parse_example makes it.
      feature_columns: the columns.
      weight_collections: collections of their variables.
      trainable: whether these are trained.
      scope: the variable scope.
      cols_to_outs: a dict that gets each column's part.

    Raises:
      ValueError: for columns that are no input of networks, and two that are the same.
    """
    check_feature_columns(feature_columns)
    if cols_to_outs is not None and not isinstance(cols_to_outs, dict):
        raise ValueError("cols_to_outs must be a dict unless None")
    with variable_scope(scope, default_name="input_from_feature_columns", values=columns_to_tensors.values()):
        return _beside(columns_to_tensors, feature_columns, weight_collections, trainable, 2, cols_to_outs)


@public("contrib.layers.sequence_input_from_feature_columns")
def sequence_input_from_feature_columns(
    columns_to_tensors, feature_columns, weight_collections=None, trainable=True, scope=None
):
    """The input of a sequence model, [batch, time, size]: what columns make of features, side by side.

    Args: as of `input_from_feature_columns`. The columns are real valued, one-hot or embeddings.

    Raises:
      ValueError: for other columns, for such that are made of buckets or crossed features, for features whose rank
        does not fit, and for two columns that are the same.
    """
    check_sequence_columns(feature_columns)
    check_feature_columns(feature_columns)
    values = columns_to_tensors.values()
    with variable_scope(scope, default_name="sequence_input_from_feature_columns", values=values):
        return _beside(columns_to_tensors, feature_columns, weight_collections, trainable, 3)


def check_sequence_columns(feature_columns):
    """Raises ValueError for columns that make nothing of sequences, or are made of such."""
    for column in feature_columns:
        if not column.suits_sequences:
            raise ValueError(
                f"FeatureColumn type {type(column).__name__} is not currently supported for sequence data."
            )
    below = list(feature_columns)
    while below:
        column = below.pop(0)
        if column.suits_sequences is False:
            raise ValueError(
                f"Column {column.name} is of type {type(column).__name__}, which is not currently supported for "
                "sequences."
            )
        below += column.parents


def _beside(columns_to_tensors, feature_columns, weight_collections, trainable, output_rank, cols_to_outs=None):
    """What columns make of features, side by side, with `output_rank` dimensions."""
    tensors = dict(columns_to_tensors)
    collections = _with_globals(weight_collections)
    outputs = []
    for column in _in_order(feature_columns):
        with variable_scope(None, default_name=column.name, values=tensors.values()):
            tensor = _transformed(column, tensors)
            if output_rank == 3:
                tensor = nest.map_structure(lambda each, name=column.name: reshaped(each, 3, name), tensor)
            outputs.append(_network_input(column, tensor, collections, trainable, output_rank))
            if cols_to_outs is not None:
                cols_to_outs[column] = outputs[-1]
    return ops.concat(outputs, output_rank - 1)


def _network_input(column, tensor, collections, trainable, output_rank):
    found = column.vectors(tensor, collections, trainable, output_rank)
    if found is not None:
        return found
    try:
        return column._to_dnn_input_layer(tensor, output_rank=output_rank)
    except ValueError as error:
        raise ValueError(
            f"Error creating input layer for column: {column.name}.\n{error}, No deep embedding lookup arguments for "
            f"column {column}."
        ) from None


# ---- Linear models ------------------------------------------------------------------------------------------


@public("contrib.layers.weighted_sum_from_feature_columns")
def weighted_sum_from_feature_columns(
    columns_to_tensors, feature_columns, num_outputs, weight_collections=None, trainable=True, scope=None
):
    """The sums of a linear model, [batch, num_outputs]; {column: the list of its variables}; the bias.

    Args:
      columns_to_tensors: {name of a feature: tensor}.
      feature_columns: the columns.
      num_outputs: how many sums.
      weight_collections: collections of the variables.
      trainable: whether these are trained.
      scope: the variable scope.

    Raises:
      ValueError: for columns that are no part of linear models, and two that are the same.
    """
    check_feature_columns(feature_columns)
    tensors, sums, variables = dict(columns_to_tensors), [], {}
    with variable_scope(scope, default_name="weighted_sum_from_feature_columns", values=tensors.values()):
        made = {"initializer": Zeros(), "trainable": trainable, "collections": weight_collections}
        for column in _in_order(feature_columns):
            found, total = _weighted(column, _transformed(column, tensors), tensors, num_outputs, made)
            sums.append(ops.reshape(total, shape=(-1, num_outputs)))
            variables[column] = found
            restore(column, found)
        total = ops.add_n(sums)
        made["collections"] = _with_globals(weight_collections)
        bias = model_variable("bias_weight", shape=[num_outputs], **made)
        return ops.bias_add(total, bias), variables, bias


def _weighted(column, tensor, tensors, num_outputs, made):
    """(the variables of a column, what it adds to the sums)."""
    try:
        arguments = column._wide_embedding_lookup_arguments(tensor)
    except ValueError as error:
        raise ValueError(f"Error creating weighted sum for column: {column.name}.\n{error}") from None
    with variable_scope(None, default_name=column.name, values=tensors.values()):
        if arguments is None:
            if not hasattr(column, "dense_tensor"):
                raise NotImplementedError(f"No dense tensor representation for column {column}.")
            dense = reshaped(column.dense_tensor(tensor), 2, column.name)
            weight = model_variable(name="weight", shape=[dense.get_shape()[1], num_outputs], **made)
            return [weight], ops.matmul(dense, weight, name="matmul")
        made = {**made, "initializer": arguments.initializer, "dtype": dtypes.float32}
        parts = parts_of(model_variable(name="weights", shape=[arguments.vocab_size, num_outputs], **made))
        return parts, safe_embedding_lookup_sparse(
            parts,
            arguments.input_tensor,
            sparse_weights=arguments.weight_tensor,
            combiner=arguments.combiner,
            name=f"{column.name}_weights",
        )


@public("contrib.layers.joint_weighted_sum_from_feature_columns")
def joint_weighted_sum_from_feature_columns(
    columns_to_tensors, feature_columns, num_outputs, weight_collections=None, trainable=True, scope=None
):
    """The sums of a linear model, [batch, num_outputs]; the list of its variables, which are one; the bias.

    Args: as of `weighted_sum_from_feature_columns`. The columns are categories without weights, whose combiner is
      "sum".

    Raises:
      ValueError: for columns that are no part of linear models, and two that are the same.
      NotImplementedError: for columns of numbers.
      AssertionError: for weights, other combiners, and no columns.
    """
    check_feature_columns(feature_columns)
    tensors = dict(columns_to_tensors)
    with variable_scope(scope, default_name="joint_weighted_sum_from_feature_columns", values=tensors.values()):
        arguments = [
            column._wide_embedding_lookup_arguments(_transformed(column, tensors))
            for column in _in_order(feature_columns)
        ]
        ids, size = _joined(arguments)
        made = {"initializer": Zeros(), "trainable": trainable}
        with variable_scope(None, default_name="linear_weights", values=tensors.values()):
            weights = model_variable(
                name="weights",
                shape=[size, num_outputs],
                dtype=dtypes.float32,
                collections=weight_collections,
                **made,
            )
            parts = parts_of(weights)
            total = safe_embedding_lookup_sparse(parts, ids, sparse_weights=None, combiner="sum", name="_weights")
        collections = _with_globals(weight_collections)
        bias = model_variable("bias_weight", shape=[num_outputs], collections=collections, **made)
        return ops.bias_add(total, bias), parts, bias


def _joined(arguments):
    """(the numbers of all columns beside each other, each column's after those before; how many there are)."""
    if any(each is None for each in arguments):
        raise NotImplementedError(
            "Real-valued columns are not supported. Use weighted_sum_from_feature_columns instead, or bucketize "
            "these columns."
        )
    if any(each.weight_tensor is not None for each in arguments):
        raise AssertionError(
            "Joint sums for weighted sparse columns are not supported. Please use weighted_sum_from_feature_columns "
            "instead."
        )
    if any(each.combiner != "sum" for each in arguments):
        raise AssertionError(
            "Combiners other than sum are not supported for joint sums. Please use weighted_sum_from_feature_columns "
            "instead."
        )
    if not arguments:
        raise AssertionError("At least one column must be in the model.")
    size, found = 0, []
    for each in arguments:
        ids = each.input_tensor
        found.append(SparseTensor(ids.indices, ids.values + size, ids.dense_shape))
        size += each.vocab_size
    return ops.sparse_concat(1, found), size


# ---- Features -----------------------------------------------------------------------------------------------


@public("contrib.layers.transform_features")
def transform_features(features, feature_columns):
    """{column: what it makes of features}."""
    check_feature_columns(feature_columns)
    tensors = dict(features)
    for column in _in_order(feature_columns):
        _transformed(column, tensors)
    return {key: value for key, value in tensors.items() if key in feature_columns}


@public("contrib.layers.create_feature_spec_for_parsing")
def create_feature_spec_for_parsing(feature_columns):
    """{name of a feature: how tf.parse_example parses it} for columns. Raises TypeError for what is no column."""
    if isinstance(feature_columns, dict):
        feature_columns = feature_columns.values()
    found = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise TypeError(
                f"feature_columns should only contain instances of _FeatureColumn. Given column is {column}"
            )
        found.update(column.config)
    return found


@public("contrib.layers.parse_feature_columns_from_examples")
def parse_feature_columns_from_examples(serialized, feature_columns, name=None, example_names=None):
    """{name of a feature, or column: tensor} of serialized tf.Example messages."""
    check_feature_columns(feature_columns)
    spec = create_feature_spec_for_parsing(feature_columns)
    tensors = parse_example(serialized=serialized, features=spec, name=name, example_names=example_names)
    for column in _in_order(feature_columns):
        _transformed(column, tensors)
    return tensors


@public("contrib.layers.python.layers.feature_column._create_sequence_feature_spec_for_parsing")
def sequence_feature_spec(sequence_feature_columns, allow_missing_by_default=False):
    """{name of a feature: how tf.parse_single_sequence_example parses it} for columns of sequences.

    Defaults are ignored with a warning; steps may be missing then, or if `allow_missing_by_default`.
    """
    found: dict = {}
    for name, feature in create_feature_spec_for_parsing(sequence_feature_columns).items():
        if isinstance(feature, VarLenFeature):
            found[name] = feature
            continue
        if not isinstance(feature, (FixedLenFeature, FixedLenSequenceFeature)):
            raise TypeError(f"Unsupported feature type: {type(feature).__name__}")
        has_default = feature.default_value is not None
        if has_default:
            log().warning(
                'Found default value %s for feature "%s". Ignoring this value and setting `allow_missing=True` '
                "instead.", feature.default_value, name,
            )  # fmt: skip
        found[name] = FixedLenSequenceFeature(
            shape=feature.shape, dtype=feature.dtype, allow_missing=allow_missing_by_default or has_default
        )
    return found


@public("contrib.layers.parse_feature_columns_from_sequence_examples")
def parse_feature_columns_from_sequence_examples(
    serialized, context_feature_columns, sequence_feature_columns, name=None, example_name=None
):
    """({name: tensor} of the context, {name: tensor} of the steps) of one serialized tf.SequenceExample.

    Args:
      serialized: a string tensor of one element.
      context_feature_columns, sequence_feature_columns: columns, or None.
      name: a name for the operation.
      example_name: a string scalar for messages.

    Raises ValueError for more than one example, and for two columns that are the same.
    """
    try:
        serialized = ops.reshape(serialized, [])
    except ValueError as error:
        raise ValueError(
            "serialized must contain as single sequence example. Batching must be done after parsing for sequence "
            f"examples. Error: {error}"
        ) from None
    context_feature_columns = context_feature_columns or []
    sequence_feature_columns = sequence_feature_columns or []
    check_feature_columns(context_feature_columns)
    check_feature_columns(sequence_feature_columns)
    return parse_single_sequence_example(
        serialized,
        create_feature_spec_for_parsing(context_feature_columns),
        sequence_feature_spec(sequence_feature_columns),
        example_name,
        name,
    )


@public("contrib.layers.make_place_holder_tensors_for_base_features")
def make_place_holder_tensors_for_base_features(feature_columns):
    """{name of a feature: placeholder} for columns."""
    found = {}
    for name, feature in create_feature_spec_for_parsing(feature_columns).items():
        if isinstance(feature, VarLenFeature):
            found[name] = sparse_placeholder(feature.dtype, name=f"Placeholder_{name}")
        else:
            found[name] = placeholder(feature.dtype, (None, feature.shape[0]), name=f"Placeholder_{name}")
    return found
