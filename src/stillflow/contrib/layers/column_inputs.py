"""What columns of tf.contrib.layers make of features: the input of a network, or the sums of a linear model."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.parsing import VarLenFeature, parse_example
from stillflow.composites.sparse import sparse_placeholder
from stillflow.contrib.framework.model_variables import model_variable
from stillflow.contrib.layers.column_base import FeatureColumn
from stillflow.contrib.layers.embeddings import safe_embedding_lookup_sparse
from stillflow.contrib.layers.plain import inner_flatten
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.ops.array.placeholder import placeholder
from stillflow.saver.initialization import init_from_checkpoint
from stillflow.variables.initializers import Zeros
from stillflow.variables.scope import variable_scope
from stillflow.variables.variable import Variable


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


def _in_order(feature_columns):
    return sorted(set(feature_columns), key=lambda column: column.key)


def _transformed(column, columns_to_tensors):
    if column not in columns_to_tensors:
        column.insert_transformed_feature(columns_to_tensors)
    return columns_to_tensors[column]


def _with_globals(collections):
    return collections and list(dict.fromkeys([*collections, GraphKeys.GLOBAL_VARIABLES]))


def _parts(variable):
    return [variable] if isinstance(variable, Variable) else variable._get_variable_list()


def _restore(column, variables):
    path = column.checkpoint_path()
    if path:
        checkpoint, name = path
        init_from_checkpoint(checkpoint, {name: variables[0] if len(variables) == 1 else variables})


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
    tensors = dict(columns_to_tensors)
    with variable_scope(scope, default_name="input_from_feature_columns", values=tensors.values()):
        collections = _with_globals(weight_collections)
        outputs = []
        for column in _in_order(feature_columns):
            with variable_scope(None, default_name=column.name, values=tensors.values()):
                outputs.append(_network_input(column, _transformed(column, tensors), collections, trainable))
                if cols_to_outs is not None:
                    cols_to_outs[column] = outputs[-1]
        return ops.concat(outputs, 1)


def _network_input(column, tensor, collections, trainable):
    arguments = column.embedding_arguments(tensor)
    if arguments is not None:
        return _embeddings(column, arguments, collections, trainable)
    try:
        return column.dense_input(tensor, 2)
    except ValueError as error:
        raise ValueError(f"Error creating input layer for column: {column.name}.\n{error}") from None


def _embeddings(column, arguments, collections, trainable):
    ids = inner_flatten(arguments.input_tensor, 2)
    weights = arguments.weight_tensor
    if weights is not None:
        weights = inner_flatten(weights, 2)
    shared = column.shared_embedding_name
    made = {
        "shape": [arguments.vocab_size, column.dimension],
        "dtype": dtypes.float32,
        "initializer": arguments.initializer,
        "trainable": trainable and column.trainable,
        "collections": collections,
    }
    vectors = model_variable(name="weights", **made) if shared is None else _shared(shared, made)
    parts = _parts(vectors)
    _restore(column, parts)
    return safe_embedding_lookup_sparse(
        parts,
        ids,
        sparse_weights=weights,
        combiner=arguments.combiner,
        name=f"{column.name}weights",
        max_norm=column.max_norm,
    )


def _shared(name, made):
    """The variable that columns share, which the first of them makes."""
    found = get_default_graph().get_collection_ref(f"SHARED_EMBEDDING_COLLECTION_{name.upper()}")
    if not found:
        found.append(model_variable(name=name, **made))
    elif found[0].get_shape() != made["shape"]:
        raise ValueError(
            f"The embedding variable with name {name} already exists, but its shape does not match required "
            "embedding shape here. Please make sure to use different shared_embedding_name for different shared "
            "embeddings."
        )
    return found[0]


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
            _restore(column, found)
        total = ops.add_n(sums)
        made["collections"] = _with_globals(weight_collections)
        bias = model_variable("bias_weight", shape=[num_outputs], **made)
        return ops.bias_add(total, bias), variables, bias


def _weighted(column, tensor, tensors, num_outputs, made):
    """(the variables of a column, what it adds to the sums)."""
    try:
        arguments = column.linear_arguments(tensor)
    except ValueError as error:
        raise ValueError(f"Error creating weighted sum for column: {column.name}.\n{error}") from None
    with variable_scope(None, default_name=column.name, values=tensors.values()):
        if arguments is None:
            if not hasattr(column, "dense_tensor"):
                raise NotImplementedError(f"No dense tensor representation for column {column}.")
            dense = _matrix(column.dense_tensor(tensor))
            weight = model_variable(name="weight", shape=[dense.get_shape()[1], num_outputs], **made)
            return [weight], ops.matmul(dense, weight, name="matmul")
        made = {**made, "initializer": arguments.initializer, "dtype": dtypes.float32}
        parts = _parts(model_variable(name="weights", shape=[arguments.vocab_size, num_outputs], **made))
        return parts, safe_embedding_lookup_sparse(
            parts,
            arguments.input_tensor,
            sparse_weights=arguments.weight_tensor,
            combiner=arguments.combiner,
            name=f"{column.name}_weights",
        )


def _matrix(tensor):
    rank = tensor.get_shape().ndims
    if rank == 1:
        return ops.expand_dims(tensor, -1)
    return tensor if rank == 2 else inner_flatten(tensor, 2)


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
