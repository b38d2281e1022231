"""tf.feature_column.input_layer: the numbers of all columns beside each other."""

from __future__ import annotations

from stillflow import ops
from stillflow.feature_columns.columns import OldDenseColumn, checked_columns
from stillflow.feature_columns.transformation import LazyBuilder
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.shape import Dimension
from stillflow.names import public
from stillflow.variables.scope import get_variable_scope, variable_scope
from stillflow.variables.template import make_template


def with_model_variables(weight_collections):
    """The collections that variables of layers go into."""
    collections = list(weight_collections or ())
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES):
        if key not in collections:
            collections.append(key)
    return collections


def check_batch_sizes(tensors, columns):
    """Raises ValueError if the batches of columns are known to have different sizes."""
    first = None
    for tensor, column in zip(tensors, columns, strict=True):
        dims = tensor.shape.dims
        size = None if dims is None else dims[0].value
        if size is None:
            continue
        if first is None:
            first = size, column
        elif size != first[0]:
            raise ValueError(
                "Batch size (first dimension) of each feature must be same. Batch size of columns "
                f"({first[1].name}, {column.name}): ({Dimension(first[0])}, {Dimension(size)})"
            )


@public("feature_column.input_layer")
def input_layer(
    features, feature_columns, weight_collections=None, trainable=True, cols_to_vars=None, cols_to_output_tensors=None
):
    """The numbers of all columns beside each other, in the order of their names.

    Args:
      features: {name: tensor or SparseTensor}.
      feature_columns: dense columns; categorical ones have to be wrapped in an embedding or indicator.
      weight_collections: the collections to add variables to, besides the usual ones.
      trainable: whether optimizers change them.
      cols_to_vars: a dict to put {column: its variables} into.
      cols_to_output_tensors: a dict to put {column: its tensor} into.

    Returns:
      A tensor [batch, all numbers].

    Raises ValueError for other columns, and batches of different sizes.
    """
    columns = _dense_columns(feature_columns)
    collections = with_model_variables(weight_collections)
    with variable_scope(None, default_name="input_layer", values=list(features.values())):
        return _concatenated(features, columns, collections, trainable, cols_to_vars, cols_to_output_tensors)


def _dense_columns(feature_columns):
    columns = checked_columns(feature_columns)
    for column in columns:
        if not isinstance(column, OldDenseColumn):
            raise ValueError(
                "Items of feature_columns must be a _DenseColumn. You can wrap a categorical column with an "
                f"embedding_column or indicator_column. Given: {column}"
            )
    return sorted(columns, key=lambda column: column.name)


def _concatenated(features, columns, collections, trainable, cols_to_vars=None, cols_to_output_tensors=None):
    builder = LazyBuilder(features)
    tensors = []
    for column in columns:
        with variable_scope(None, default_name=column._var_scope_name):
            tensor = column._get_dense_tensor(builder, weight_collections=collections, trainable=trainable)
            width = column._variable_shape.num_elements()
            batch_size = ops.shape(tensor)[0]
            tensor = ops.reshape(tensor, shape=(batch_size, width))
            tensors.append(tensor)
            if cols_to_vars is not None:
                scope = get_variable_scope().name
                cols_to_vars[column] = get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, scope)
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = tensor
    check_batch_sizes(tensors, columns)
    return ops.concat(tensors, 1)


@public("python.feature_column.feature_column.InputLayer")
class InputLayer:
    """An input_layer that can be called again, and has its variables then.

    Args:
      feature_columns, weight_collections, trainable: as for input_layer.
      cols_to_vars: not used.
      name: of its scope.
      create_scope_now: whether to open the scope now, or when it is first called.
    """

    def __init__(
        self, feature_columns, weight_collections=None, trainable=True, cols_to_vars=None,
        name="feature_column_input_layer", create_scope_now=True,
    ):  # fmt: skip
        self._feature_columns = feature_columns
        self._weight_collections = weight_collections
        self._trainable = trainable
        self._name = name
        self._template = make_template(name, self._build, create_scope_now_=create_scope_now)

    def _build(self, features, cols_to_output_tensors=None):
        columns = _dense_columns(self._feature_columns)
        collections = with_model_variables(self._weight_collections)
        return _concatenated(
            features, columns, collections, self._trainable, cols_to_output_tensors=cols_to_output_tensors
        )

    def __call__(self, features, cols_to_output_tensors=None):
        """The tensor [batch, all numbers] of {name: tensor or SparseTensor}.

        `cols_to_output_tensors` is a dict to put {column: its tensor} into.
        """
        return self._template(features, cols_to_output_tensors)

    @property
    def name(self):
        """The name given."""
        return self._name

    @property
    def variables(self):
        """Its variables."""
        return self._template.variables

    @property
    def trainable_variables(self):
        """Those that optimizers change."""
        return self._template.trainable_variables

    @property
    def non_trainable_variables(self):
        """The others."""
        return self._template.non_trainable_variables

    weights, trainable_weights = variables, trainable_variables
    non_trainable_weights = non_trainable_variables
